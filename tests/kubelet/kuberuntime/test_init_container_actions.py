"""How far a pod has come with its init containers, and what is to be done next: upstream's cases, in short."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import (
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kuberuntime.init_container_actions import InitContainerActions, compute_init_container_actions
from lifecycle.kubelet.kuberuntime.pod_actions import compute_pod_actions

RUNNING, EXITED, CREATED, UNKNOWN = (
    ContainerState.RUNNING,
    ContainerState.EXITED,
    ContainerState.CREATED,
    ContainerState.UNKNOWN,
)
SANDBOX = PodSandboxStatus("s", PodSandboxMetadata("p", "u", "n", 0), PodSandboxState.READY, 1)


def plain(name: str) -> Object:
    return {"name": name, "image": "i"}


def sidecar(name: str, **more: Any) -> Object:
    return {"name": name, "image": "i", "restartPolicy": "Always", **more}


def spec(*init: Object, policy: str = "Always") -> Object:
    return {"restartPolicy": policy, "initContainers": list(init), "containers": [plain("main")]}


def runtime(**states: Any) -> PodStatus:
    """A container's state, or its exit code."""
    found = []
    for name, state in states.items():
        code = state if isinstance(state, int) else 0
        ended = EXITED if isinstance(state, int) else state
        status = ContainerStatus(name, "s", ContainerMetadata(name, 0), ended, 1, "i", "i", exit_code=code)
        found.append(status)
    return PodStatus([SANDBOX], found)


def asked(
    spec: Object, runtime: PodStatus, unhealthy: dict[str, str] | None = None, probed: dict[str, bool] | None = None
) -> tuple[list[str], dict[str, str], bool, bool]:
    made: InitContainerActions = compute_init_container_actions(spec, runtime, unhealthy or {}, probed or {})
    return [c["name"] for c in made.to_start], made.to_kill, made.initialized, made.pod_failed


@pytest.mark.parametrize(
    ("case", "states", "start", "initialized", "failed"),
    [
        (spec(), {}, [], True, False),
        (spec(plain("a"), plain("b")), {}, ["a"], False, False),
        (spec(plain("a"), plain("b")), {"a": RUNNING}, [], False, False),
        (spec(plain("a"), plain("b")), {"a": 0}, ["b"], False, False),
        (spec(plain("a"), plain("b")), {"b": 0}, [], True, False),  # what is left of a was cleaned up
        (spec(plain("a"), plain("b")), {"a": CREATED}, ["a"], False, False),
        (spec(plain("a")), {"a": 1}, ["a"], False, False),
        (spec(plain("a"), policy="OnFailure"), {"a": 1}, ["a"], False, False),
        (spec(plain("a"), policy="Never"), {"a": 1}, [], False, True),
        (spec(plain("a")), {"main": RUNNING}, [], True, False),
        (spec(sidecar("a"), plain("b")), {"a": RUNNING}, ["b"], False, False),
        (spec(sidecar("a"), plain("b")), {"a": 1, "b": RUNNING}, ["a"], False, False),
        (spec(sidecar("a"), sidecar("b")), {"a": 1, "b": RUNNING}, ["a"], True, False),
        (spec(sidecar("a"), sidecar("b")), {"a": RUNNING, "main": RUNNING}, ["b"], True, False),
        (spec(sidecar("a"), policy="Never"), {"a": 1, "main": RUNNING}, ["a"], True, False),
    ],
)
def test_what_is_to_be_started(
    case: Object, states: dict[str, Any], start: list[str], initialized: bool, failed: bool
) -> None:
    assert asked(case, runtime(**states)) == (start, {}, initialized, failed)


def test_a_startup_probe_decides_whether_a_sidecar_has_started() -> None:
    case, running = spec(sidecar("a", startupProbe={"periodSeconds": 1}), plain("b")), runtime(a=RUNNING)
    assert asked(case, running) == ([], {}, False, False)
    assert asked(case, running, probed={"a": False}) == ([], {}, False, False)
    assert asked(case, running, probed={"a": True}) == (["b"], {}, False, False)
    condemned = asked(case, running, {"a": "startup"}, {"a": False})
    assert condemned == (["a"], {"a": "Init container a failed startup probe"}, False, False)


def test_liveness_does_not_hold_up_the_next() -> None:
    case = spec(sidecar("a"), plain("b"))
    condemned = asked(case, runtime(a=RUNNING), {"a": "liveness"})
    assert condemned == (["a", "b"], {"a": "Init container a failed liveness probe"}, False, False)


def test_sidecars_do_not_keep_a_pod_alive() -> None:
    pod = {"metadata": {"uid": "u"}, "spec": spec(sidecar("a"), policy="Never")}
    actions = compute_pod_actions(pod, runtime(a=RUNNING, main=0), {})
    assert actions.kill_pod
    assert actions.init_containers_to_start == []


@pytest.mark.parametrize("policy", ["Always", "OnFailure", "Never"])
def test_what_was_made_but_never_started_is_started_whatever_the_policy(policy: str) -> None:
    pod = {"metadata": {"uid": "u"}, "spec": {"restartPolicy": policy, "containers": [plain("main")]}}
    actions = compute_pod_actions(pod, runtime(main=CREATED), {})
    assert [c["name"] for c in actions.containers_to_start] == ["main"]
    assert not actions.kill_pod


@pytest.mark.parametrize(
    ("policy", "own", "init", "ended", "begins"),
    [
        ("Always", "", False, 0, ["main"]),
        ("OnFailure", "", False, 1, ["main"]),
        ("OnFailure", "", False, 0, []),  # it has done its work: no second sandbox
        ("OnFailure", "", True, 0, []),
        ("OnFailure", "", True, 1, ["a"]),  # from the beginning
        ("OnFailure", "Always", False, 0, ["main"]),
        ("Always", "OnFailure", False, 0, []),
        ("Never", "", False, 0, []),
        ("Never", "", True, None, ["a"]),  # nothing of it has ever run
    ],
)
def test_what_begins_in_a_new_sandbox(policy: str, own: str, init: bool, ended: int | None, begins: list[str]) -> None:
    main = {**plain("main"), **({"restartPolicy": own} if own else {})}
    pod = {"metadata": {"uid": "u"}, "spec": {"restartPolicy": policy, "containers": [main]}}
    if init:
        pod["spec"]["initContainers"] = [plain("a")]
    found = runtime(**({} if ended is None else {"main": ended}))
    found.sandboxes = [PodSandboxStatus("s", PodSandboxMetadata("p", "u", "n", 0), PodSandboxState.NOTREADY, 1)]
    actions = compute_pod_actions(pod, found, {})
    assert [c["name"] for c in [*actions.init_containers_to_start, *actions.containers_to_start]] == begins
    assert (actions.create_sandbox, actions.kill_pod) == (bool(begins), not begins)
    assert not begins or actions.attempt == 1


LOST = 'ontainer is in "unknown" state, try killing it before restart'


@pytest.mark.parametrize(
    ("case", "start", "kill", "failed"),
    [
        (spec(plain("a"), plain("b")), ["a"], {"a": f"Init c{LOST}"}, False),
        (spec(plain("a"), policy="OnFailure"), ["a"], {"a": f"Init c{LOST}"}, False),
        (spec(plain("a"), policy="Never"), [], {}, True),
        (spec(sidecar("a"), plain("b")), ["a"], {"a": f"Init c{LOST}"}, False),
        (spec(sidecar("a"), policy="Never"), ["a"], {"a": f"Init c{LOST}"}, False),
    ],
)
def test_an_init_container_of_which_nobody_knows_is_killed_before_it_begins_again(
    case: Object, start: list[str], kill: dict[str, str], failed: bool
) -> None:
    assert asked(case, runtime(a=UNKNOWN)) == (start, kill, False, failed)


@pytest.mark.parametrize("policy", ["Always", "OnFailure", "Never"])
def test_so_is_a_container(policy: str) -> None:
    pod = {"metadata": {"uid": "u"}, "spec": {"restartPolicy": policy, "containers": [plain("main")]}}
    actions = compute_pod_actions(pod, runtime(main=UNKNOWN), {})
    assert [c["name"] for c in actions.containers_to_start] == ["main"]
    assert actions.containers_to_kill == {"main": f"C{LOST}"}
    assert not actions.kill_pod
