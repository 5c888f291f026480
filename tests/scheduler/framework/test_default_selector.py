"""What the owners of a pod select: all its Services and its controller together."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.default_selector import default_selector
from lifecycle.scheduler.framework.normalize_score import default_normalize_score


def service(**selector: str) -> Object:
    return {"spec": {"selector": selector}}


def of(kind: str, selector: Any) -> dict[tuple[str, str, str], Object]:
    return {(kind, "ns", "owner"): {"spec": {"selector": selector}}}


MATCH = {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize(
    ("services", "owners", "kind", "selected"),
    [
        ([], {}, "", None),
        ([service(app="web")], {}, "", "app=web"),
        ([service(app="db")], {}, "", None),
        ([service(app="web", tier="x")], {}, "", None),  # not all of it
        ([service(), {"spec": {}}, {"spec": {"selector": None}}], {}, "", None),  # selects nobody
        ([service(app="web"), service(zone="a"), service(app="web")], {}, "", "app=web,zone=a"),
        ([], of("ReplicaSet", MATCH), "ReplicaSet", "app=web"),
        ([], of("StatefulSet", MATCH), "StatefulSet", "app=web"),
        ([], of("ReplicationController", {"app": "web"}), "ReplicationController", "app=web"),
        ([], of("ReplicationController", None), "ReplicationController", None),
        ([], of("Job", MATCH), "Job", None),  # nobody spreads these
        ([], of("DaemonSet", MATCH), "DaemonSet", None),
        ([], {}, "ReplicaSet", None),  # gone
        ([service(zone="a")], of("ReplicaSet", MATCH), "ReplicaSet", "zone=a,app=web"),
        ([service(app="web")], of("ReplicaSet", MATCH), "ReplicaSet", "app=web"),
        (
            [], of("ReplicaSet", {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]}), "ReplicaSet",
            "app in (api,web)",
        ),
    ],
)  # fmt: skip
def test_services_and_the_controller_select_together(
    services: list[Object], owners: dict[tuple[str, str, str], Object], kind: str, selected: str | None
) -> None:
    references = (
        [{"kind": "ReplicaSet", "name": "other"}, {"kind": kind, "name": "owner", "controller": True}] if kind else []
    )
    pod = {"metadata": {"namespace": "ns", "labels": {"app": "web", "zone": "a"}, "ownerReferences": references}}
    found = default_selector(pod, lambda namespace: services if namespace == "ns" else [], lambda *key: owners.get(key))
    if selected is None:
        assert found is None
        return
    assert found is not None
    assert ",".join(sorted(str(found).split(","))) == ",".join(sorted(selected.split(",")))


def test_a_pod_without_labels_is_in_no_service_and_owned_by_nobody_it_does_not_name() -> None:
    asked: list[str] = []

    def services(namespace: str) -> list[Object]:
        asked.append(namespace)
        return [service(app="web")]

    for metadata in ({"namespace": "ns"}, {"namespace": "ns", "labels": None, "ownerReferences": None}):
        assert default_selector({"metadata": metadata}, services, lambda *key: None) is None
    assert asked == []


@pytest.mark.parametrize(
    ("scores", "forward", "reverse"),
    [
        ([], [], []), ([0, 0], [0, 0], [100, 100]), ([1, 2, 4], [25, 50, 100], [75, 50, 0]), ([3, 1], [100, 33], [0, 67]),
        ([7], [100], [0]), ([200, 100], [100, 50], [0, 50]),
    ],
)  # fmt: skip
def test_the_highest_score_becomes_a_hundred_and_less_may_be_better(
    scores: list[int], forward: list[int], reverse: list[int]
) -> None:
    assert default_normalize_score(list(scores)) == forward
    assert default_normalize_score(list(scores), reverse=True) == reverse
