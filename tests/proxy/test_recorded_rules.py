"""The rules, line by line, against the nodes of two recorded clusters."""

from __future__ import annotations

from collections import Counter

import pytest

from lifecycle.agreements.proxy.iptables_rules import (
    FIRST_COMER,
    MAP_ORDER,
    compare_saved,
    generate_rules,
    iptables_agreement,
)
from lifecycle.inspector import open_recording
from lifecycle.proxy.iptables.owners import saved_lines
from tests.conftest import RECORDINGS

CLUSTERS = ("kind-1.36.2", "kind-1.36.2-again")
DISAGREEMENTS: dict[str, list[str]] = {"kind-1.36.2": [], "kind-1.36.2-again": []}


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_line_that_kube_proxy_wrote_is_ours_too(name: str) -> None:
    table = iptables_agreement(open_recording(str(RECORDINGS / name)))
    assert len(table.rows) == 18  # three nodes at six moments
    assert [f"{row.input} {d}" for row in table.rows for d in row.comparison.differences] == DISAGREEMENTS[name]
    assert sum(row.comparison.total for row in table.rows) > 1900
    freedoms = sum((row.comparison.freedoms for row in table.rows), Counter[str]())
    assert set(freedoms) <= {MAP_ORDER, FIRST_COMER}


@pytest.mark.parametrize(("name", "given"), [("kind-1.36.2", 0), ("kind-1.36.2-again", 3)])
def test_rules_whose_services_only_the_rules_themselves_tell_are_not_counted(name: str, given: int) -> None:
    table = iptables_agreement(open_recording(str(RECORDINGS / name)))
    assert [row.input.partition(", ")[2] for row in table.given] == ["before"] * given
    assert table.total == sum(row.comparison.total for row in table.rows if not row.given)


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_recorded_line_has_an_owner(name: str) -> None:
    recording = open_recording(str(RECORDINGS / name))
    owners: Counter[str] = Counter()
    for node in map(recording.node, recording.nodes()):
        for moment in node.moments("iptables-save"):
            owners.update(line.owner for line in saved_lines(node.run("iptables-save", moment=moment)))
    assert set(owners) == {"kube-proxy", "kubelet", "kindnet", "portmap", "Docker", "kernel"}
    assert owners["kube-proxy"] > sum(count for owner, count in owners.items() if owner != "kube-proxy")


def test_the_comparison_notices() -> None:
    """Nodes differ from each other, and so does one rule less, one more, two swapped."""
    recording = open_recording(str(RECORDINGS / "kind-1.36.2"))
    saved = recording.node("worker").run("iptables-save", moment="services")
    other = recording.node("worker2").run("iptables-save", moment="services")
    assert compare_saved(saved, saved).agrees
    assert not compare_saved(saved, other).agrees
    lines = saved.splitlines()
    at = next(i for i, line in enumerate(lines) if "--probability 0.33333333349" in line)
    for changed in (
        [*lines[:at], *lines[at + 1 :]],
        [*lines[:at], lines[at], *lines[at:]],
        [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]],
        [*lines[:at], lines[at].replace("0.33333333349", "0.33332999982"), *lines[at + 1 :]],
    ):
        assert not compare_saved("\n".join(changed), saved).agrees


def test_a_node_without_services_has_the_standing_rules_only() -> None:
    node = {"metadata": {"name": "n"}, "status": {"addresses": [{"type": "InternalIP", "address": "172.19.0.9"}]}}
    assert "KUBE-SVC" not in generate_rules([], [], node)
