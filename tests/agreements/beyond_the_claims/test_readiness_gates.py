"""When all containers are ready, others may still have a say."""

from __future__ import annotations

import pytest

from lifecycle.kubelet.status.generate import ready


@pytest.mark.parametrize(
    ("others", "status", "message"),
    [
        ({"a": "True", "b": "True"}, "True", ""),
        (
            {"a": "False"},
            "False",
            'the status of pod readiness gate "a" is not "True", but False,'
            ' corresponding condition of pod readiness gate "b" does not exist.',
        ),
        (
            {"a": "True", "b": "Unknown"},
            "False",
            'the status of pod readiness gate "b" is not "True", but Unknown',
        ),
        (
            {"b": "True"},
            "False",
            'corresponding condition of pod readiness gate "a" does not exist.',
        ),
        ({"a": "True", "b": "True", "c": "False"}, "True", ""),
    ],
)
def test_a_pod_is_ready_when_all_its_gates_are_open(others: dict[str, str], status: str, message: str) -> None:
    spec = {"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]}
    conditions = [{"type": name, "status": each} for name, each in others.items()]
    said = ready(spec, conditions, {"type": "ContainersReady", "status": "True"})
    assert (said["status"], said.get("message", "")) == (status, message)


@pytest.mark.parametrize("others", ["True", "False", "Unknown"])
def test_as_long_as_its_containers_are_not_it_is_not_ready_for_their_reason(others: str) -> None:
    spec = {"readinessGates": [{"conditionType": "a"}]}
    why = {"status": "False", "reason": "ContainersNotReady", "message": "containers with unready status: [c]"}
    said = ready(spec, [{"type": "a", "status": others}], {"type": "ContainersReady", **why})
    assert said == {"type": "Ready", **why}
