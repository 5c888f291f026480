"""The one word for a pod, of containers of every kind; and what is told of it before all of them have ended."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.kubelet_pods.phase import get_phase
from lifecycle.kubelet.status.status_manager import merge_pod_status

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"
STATES: dict[str, Object] = {
    "waits": {"state": {"waiting": {}}},
    "again after 0": {"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 0}}},
    "again after 1": {"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}},
    "runs": {"state": {"running": {}}, "started": False},
    "started": {"state": {"running": {}}, "started": True},
    "0": {"state": {"terminated": {"exitCode": 0}}},
    "1": {"state": {"terminated": {"exitCode": 1}}},
    "unknown": {"state": {}},
}


def phase(policy: str, states: dict[str, str], *, static: bool = False, over: bool = False) -> str:
    """Containers by name: `init…`, `side…` (a sidecar), and others; of one that is `none` nothing is said."""
    spec: Object = {"restartPolicy": policy, "initContainers": [], "containers": []}
    statuses = []
    for name, state in states.items():
        early = name.startswith(("init", "side"))
        own = {"restartPolicy": "Always"} if name.startswith("side") else {}
        spec["initContainers" if early else "containers"].append({"name": name, **own})
        if state != "none":
            statuses.append({"name": name, **STATES[state]})
    return get_phase(spec, statuses, over, static=static)


ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"
INIT: list[tuple[str, dict[str, str], str]] = [
    (ALWAYS, {"init": "none", "main": "none"}, PENDING),
    (ALWAYS, {"init": "runs", "main": "waits"}, PENDING),
    (ALWAYS, {"init": "1", "main": "waits"}, PENDING),
    (NEVER, {"init": "1", "main": "waits"}, FAILED),
    (ON_FAILURE, {"init": "1", "main": "waits"}, PENDING),
    (NEVER, {"init": "again after 1", "main": "waits"}, FAILED),
    (NEVER, {"init": "0", "init2": "1", "main": "waits"}, FAILED),
    (NEVER, {"init": "0", "init2": "none", "main": "waits"}, PENDING),
    (ALWAYS, {"init": "0", "main": "waits"}, PENDING),
    (ALWAYS, {"init": "0", "main": "started"}, RUNNING),
    (ALWAYS, {"init": "runs", "main": "started"}, PENDING),
    # sidecars
    (ALWAYS, {"side": "runs", "main": "waits"}, PENDING),
    (ALWAYS, {"side": "started", "main": "waits"}, PENDING),
    (ALWAYS, {"side": "started", "main": "started"}, RUNNING),
    (ALWAYS, {"side": "runs", "main": "started"}, RUNNING),
    (NEVER, {"side": "started", "main": "0"}, RUNNING),
    (NEVER, {"side": "0", "main": "0"}, SUCCEEDED),
    (NEVER, {"side": "1", "main": "0"}, SUCCEEDED),
    (NEVER, {"side": "0", "main": "1"}, FAILED),
    (NEVER, {"side": "again after 1", "main": "started"}, RUNNING),
]
MAIN: list[tuple[str, dict[str, str], str]] = [
    (ALWAYS, {"a": "unknown", "b": "started"}, PENDING),
    (ALWAYS, {"a": "none", "b": "started"}, PENDING),
    (ALWAYS, {"a": "again after 1", "b": "again after 0"}, RUNNING),
    (ON_FAILURE, {"a": "again after 1", "b": "0"}, RUNNING),
    (ON_FAILURE, {"a": "0", "b": "0"}, SUCCEEDED),
    (ON_FAILURE, {"a": "0", "b": "1"}, RUNNING),
    (NEVER, {"a": "0", "b": "0"}, SUCCEEDED),
    (NEVER, {"a": "1", "b": "0"}, FAILED),
    (NEVER, {"a": "1", "b": "1"}, FAILED),
    (NEVER, {"a": "again after 0", "b": "0"}, FAILED),  # its success counts when it has ended, not when it ended once
    (NEVER, {"a": "1", "b": "started"}, RUNNING),
    (NEVER, {"a": "1", "b": "waits"}, PENDING),
]


@pytest.mark.parametrize(("policy", "states", "expected"), [*INIT, *MAIN])
def test_a_phase_is_told_from_all_containers(policy: str, states: dict[str, str], expected: str) -> None:
    assert phase(policy, states) == expected


@pytest.mark.parametrize(
    ("policy", "static", "expected"),
    [
        (ALWAYS, False, FAILED), (ALWAYS, True, RUNNING),
        (ON_FAILURE, False, FAILED), (ON_FAILURE, True, RUNNING),
        (NEVER, False, FAILED), (NEVER, True, FAILED),
    ],
)  # fmt: skip
def test_a_static_pod_is_not_over_before_its_containers_are_for_good(policy: str, static: bool, expected: str) -> None:
    assert phase(policy, {"a": "1", "b": "0"}, static=static, over=True) == expected


def told(kind: str, status: str = "True", **more: Any) -> Object:
    return {"type": kind, "status": status, **more}


TARGET = told("DisruptionTarget", reason="TerminationByKubelet")
THEIRS = told("DisruptionTarget", reason="EvictionByEvictionAPI")
GATE, READY, NOT_READY = told("example.com/gate"), told("Ready"), told("Ready", "False")
MERGED: list[tuple[str, list[Object], str, bool, str, list[Object]]] = [
    # phase and conditions there are; the new phase, whether something may run; what is told
    (RUNNING, [READY], FAILED, True, RUNNING, [NOT_READY]),
    (RUNNING, [READY], FAILED, False, FAILED, [TARGET, NOT_READY]),
    (RUNNING, [READY], SUCCEEDED, False, SUCCEEDED, [TARGET, NOT_READY]),
    (RUNNING, [READY], RUNNING, False, RUNNING, [NOT_READY]),
    ("", [], FAILED, True, PENDING, [NOT_READY]),
    (FAILED, [READY], FAILED, False, FAILED, [NOT_READY]),
    (FAILED, [READY, TARGET], FAILED, False, FAILED, [TARGET, NOT_READY]),
    (RUNNING, [THEIRS, READY], FAILED, True, RUNNING, [THEIRS, NOT_READY]),
    (RUNNING, [THEIRS, READY, GATE], FAILED, False, FAILED, [TARGET, GATE, NOT_READY]),
    (RUNNING, [GATE, READY], RUNNING, True, RUNNING, [GATE, NOT_READY]),
    (FAILED, [THEIRS], FAILED, True, FAILED, [THEIRS, NOT_READY]),
]


@pytest.mark.parametrize(("was", "conditions", "phase", "may_run", "expected", "said"), MERGED)
def test_that_a_pod_had_to_go_is_told_with_its_end_and_its_end_when_nothing_runs(
    was: str, conditions: list[Object], phase: str, may_run: bool, expected: str, said: list[Object]
) -> None:
    old = {"phase": was, "conditions": conditions, "reason": "Old"}
    new = {"phase": phase, "conditions": [TARGET, NOT_READY], "reason": "Evicted", "message": "too much"}
    merged = merge_pod_status(old, new, may_run)
    assert (merged["phase"], merged["conditions"]) == (expected, said)
    held_back = expected != phase
    assert (merged["reason"], merged.get("message")) == (("Old", None) if held_back else ("Evicted", "too much"))


def test_of_a_pod_of_whose_containers_nothing_is_known_it_is_waited_for() -> None:
    assert phase(ALWAYS, {}) == PENDING
    assert phase(NEVER, {"a": "none"}) == PENDING
