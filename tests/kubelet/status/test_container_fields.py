"""What a probe has found is put into a pod's status."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.status.container_fields import with_container_field

POD = {
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "a"}, {"name": "b"}], "readinessGates": [{"conditionType": "mine"}]},
    "status": {"conditions": [{"type": "mine", "status": "True"}, {"type": "Ready", "status": "old"}]},
}


def entry(name: str, ready: bool, **more: Any) -> dict[str, Any]:
    return {"name": name, "containerID": f"containerd://{name}1", "ready": ready, "state": {"running": {}}, **more}


def status(*ready: bool) -> dict[str, Any]:
    return {
        "phase": "Running",
        "conditions": [
            {"type": "mine", "status": "True"},
            {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
            {"type": "ContainersReady", "status": "False", "reason": "ContainersNotReady"},
        ],
        "containerStatuses": [entry(name, is_ready) for name, is_ready in zip("ab", ready, strict=True)],
    }


def conditions(seen: dict[str, Any]) -> dict[str, str]:
    return {each["type"]: each["status"] for each in seen["conditions"]}


def test_the_last_that_becomes_ready_makes_the_pod_ready() -> None:
    seen = with_container_field(POD, status(True, False), "b1", "ready", True)
    assert [each["ready"] for each in seen["containerStatuses"]] == [True, True]
    assert conditions(seen) == {"mine": "True", "Ready": "True", "ContainersReady": "True"}
    assert seen["phase"] == "Running"


def test_as_long_as_one_is_not_ready_the_pod_is_not() -> None:
    seen = with_container_field(POD, status(False, False), "a1", "ready", True)
    assert [each["ready"] for each in seen["containerStatuses"]] == [True, False]
    assert conditions(seen) == {"mine": "True", "Ready": "False", "ContainersReady": "False"}


def test_a_gate_of_somebody_elses_holds_the_pod_back() -> None:
    pod = {**POD, "status": {"conditions": [{"type": "mine", "status": "False"}]}}
    seen = with_container_field(pod, status(True, False), "b1", "ready", True)
    assert (conditions(seen)["Ready"], conditions(seen)["ContainersReady"]) == ("False", "True")


@pytest.mark.parametrize("container_id", ["a1", "none", "1", ""])
def test_what_is_nothing_new_changes_nothing(container_id: str) -> None:
    before = status(True, False)
    assert with_container_field(POD, before, container_id, "ready", True) is before


def test_that_a_container_has_started_does_not_touch_conditions() -> None:
    before = status(True, False)
    seen = with_container_field(POD, before, "b1", "started", True)
    assert [each.get("started") for each in seen["containerStatuses"]] == [None, True]
    assert seen["conditions"] is before["conditions"]
    assert "started" not in before["containerStatuses"][1]


def test_init_containers_are_probed_too() -> None:
    before = {**status(True, True), "initContainerStatuses": [entry("side", False), {"name": "not created"}]}
    seen = with_container_field(POD, before, "side1", "started", True)
    assert [each.get("started") for each in seen["initContainerStatuses"]] == [True, None]
    assert seen["containerStatuses"] == before["containerStatuses"]
