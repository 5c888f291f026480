"""The recorded manifests: code, message, causes, warnings and every defaulted field."""

from __future__ import annotations

import pytest

from tests.apiserver.registry.recorded_creates import compare_fields, exchanges, replay

DISAGREEMENTS = {
    "deployment-extensions-v1beta1.yaml": "404: the group is not served; the router says so before anything is decoded",
    "pod-priorityclass-missing.yaml": "403: Priority admission",
    "pod-serviceaccount-missing.yaml": "403: ServiceAccount admission",
    "rolebinding-roleref-without-kind.yaml": "500: the RBAC registry resolves the role to check for escalation before it validates",
}
"""Manifests whose recorded code is not decided by decoding, defaulting and validation."""

CLUSTERS = ("kind-1.36.2", "kind-1.36.2-again")


def corpus(cluster: str) -> list[dict]:
    return list(exchanges(f"{cluster}/http/corpus.jsonl"))


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_status_codes_agree_except_where_another_stage_decides(cluster: str) -> None:
    different = {row["note"] for row in corpus(cluster) if replay(row)[0] != row["status"]}
    assert different == set(DISAGREEMENTS)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_refusals_agree_word_for_word(cluster: str) -> None:
    rows = [row for row in corpus(cluster) if row["status"] in (400, 422)]
    assert len(rows) == 40
    for row in rows:
        assert replay(row)[1] == row["response"], row["note"]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_field_that_is_ours_agrees(cluster: str) -> None:
    total = 0
    different: dict[str, list[str]] = {}
    for row in corpus(cluster):
        if row["status"] == 201:
            count, paths = compare_fields(replay(row)[1], row["response"])
            total += count
            if paths:
                different[row["note"]] = paths
    assert different == {}
    assert total > 850


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_warnings_agree_in_text_and_order(cluster: str) -> None:
    for row in corpus(cluster):
        if row["status"] == 201:
            assert replay(row)[2] == (row["headers"].get("warning") or []), row["note"]
