"""Whether a container that ended, or was condemned, is started again: by its pod's policy, its own, or a rule."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.restart_policy import container_should_restart
from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata, PodSandboxState, PodSandboxStatus
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kuberuntime.container_config import hash_container
from lifecycle.kubelet.kuberuntime.pod_actions import PodActions, compute_pod_actions
from lifecycle.kubelet.kuberuntime.resize_actions import Resize

CREATED, RUNNING, EXITED, UNKNOWN = (
    ContainerState.CREATED, ContainerState.RUNNING, ContainerState.EXITED, ContainerState.UNKNOWN,
)  # fmt: skip
HASH = "io.kubernetes.container.hash"


def run(container: Object, state: ContainerState, code: int = 0) -> ContainerStatus:
    name = container["name"]
    return ContainerStatus(
        name, "s", ContainerMetadata(name), state, 1, "i", "i",
        exit_code=code, annotations={HASH: hash_container(container)},
    )  # fmt: skip


def decided(spec: Object, *runs: ContainerStatus, unhealthy: dict[str, str] | None = None) -> PodActions:
    sandbox = PodSandboxStatus("s", PodSandboxMetadata("p", "u", "n", 0), PodSandboxState.READY, 1)
    return compute_pod_actions({"metadata": {}, "spec": spec}, PodStatus([sandbox], list(runs)), unhealthy or {})


def short(actions: PodActions) -> tuple[str, dict[str, str], bool]:
    """Who is started, who is killed and why, and whether the whole pod is."""
    started = [*actions.init_containers_to_start, *actions.containers_to_start]
    return " ".join(c["name"] for c in started), actions.containers_to_kill, actions.kill_pod


def pod_of(policy: str | None, *containers: Object, **more: Any) -> Object:
    return {**({"restartPolicy": policy} if policy else {}), "containers": list(containers), **more}


def named(name: str, own: str | None = None, *rules: Object) -> Object:
    said = {**({"restartPolicy": own} if own else {}), **({"restartPolicyRules": list(rules)} if rules else {})}
    return {"name": name, "image": "i", **said}


POLICIES = [
    # the pod's policy, the container's own, started again after 0, after 1, when condemned
    (None, None, True, True, True),
    ("Always", None, True, True, True),
    ("OnFailure", None, False, True, True),
    ("Never", None, False, False, False),
    ("Always", "Never", False, False, False),
    ("Always", "OnFailure", False, True, True),
    ("OnFailure", "Always", True, True, True),
    ("OnFailure", "Never", False, False, False),
    ("Never", "Always", True, True, True),
    ("Never", "OnFailure", False, True, True),
]


@pytest.mark.parametrize(("policy", "own", "well", "ill", "condemned"), POLICIES)
def test_a_containers_own_policy_goes_before_its_pods(
    policy: str | None, own: str | None, well: bool, ill: bool, condemned: bool
) -> None:
    tested, other = named("tested", own), named("other")
    spec = pod_of(policy, other, tested)
    for code, again in ((0, well), (1, ill), (137, ill)):
        found = short(decided(spec, run(other, RUNNING), run(tested, EXITED, code)))
        assert found == ("tested" if again else "", {}, False), code
    for probe in ("liveness", "startup"):
        found = short(decided(spec, run(other, RUNNING), run(tested, RUNNING), unhealthy={"tested": probe}))
        killed = f"Container tested failed {probe} probe" + (", will be restarted" if condemned else "")
        assert found == ("tested" if condemned else "", {"tested": killed}, False)


@pytest.mark.parametrize(
    ("policy", "states", "over"),
    [
        ("Never", {"a": 0, "b": 1}, True),
        ("Never", {"a": 0, "b": RUNNING}, False),
        ("OnFailure", {"a": 0, "b": 0}, True),
        ("OnFailure", {"a": 0, "b": 1}, False),
        ("Always", {"a": 0, "b": 0}, False),
    ],
)
def test_a_pod_is_over_when_nothing_runs_and_nothing_is_started(
    policy: str, states: dict[str, Any], over: bool
) -> None:
    runs = [run(named(n), EXITED, s) if isinstance(s, int) else run(named(n), s) for n, s in states.items()]
    assert decided(pod_of(policy, named("a"), named("b")), *runs).kill_pod is over


def test_a_pod_whose_last_container_is_condemned_and_not_to_be_restarted_is_over() -> None:
    spec = pod_of("Never", named("a"), named("b"))
    found = short(decided(spec, run(named("a"), EXITED), run(named("b"), RUNNING), unhealthy={"b": "liveness"}))
    assert found == ("", {"b": "Container b failed liveness probe"}, True)


def test_a_container_of_another_image_is_replaced_whatever_the_policy() -> None:
    old, new = {**named("a"), "image": "old"}, named("a")
    killed = {"a": "Container a definition changed, will be restarted"}
    assert short(decided(pod_of("Never", new), run(old, RUNNING))) == ("a", killed, False)


def on(operator: str, *values: int, action: str = "Restart") -> Object:
    return {"action": action, "exitCodes": {"operator": operator, "values": list(values)}}


RULES: list[tuple[str, str | None, list[Object], dict[int, bool]]] = [
    ("Never", None, [on("In", 42)], {42: True, 1: False, 0: False}),
    ("Never", "Never", [on("NotIn", 42)], {42: False, 1: True, 0: True}),
    ("Always", "Never", [on("In", 0, 7)], {0: True, 7: True, 1: False}),
    ("Never", "OnFailure", [on("In", 0)], {0: True, 1: True}),
    ("Never", "Never", [on("In", 1), on("In", 2)], {1: True, 2: True, 3: False}),
    ("Never", "Never", [on("In", 5, action="RestartAllContainers")], {5: True, 6: False}),
    ("Never", "Always", [on("In", 5)], {5: True, 6: True}),
]


@pytest.mark.parametrize(("policy", "own", "rules", "codes"), RULES)
def test_a_rule_that_speaks_of_the_exit_code_goes_before_both(
    policy: str, own: str | None, rules: list[Object], codes: dict[int, bool]
) -> None:
    tested, other = named("tested", own, *rules), named("other")
    spec = pod_of(policy, tested, other)
    for code, again in codes.items():
        assert container_should_restart(spec, tested, code) is again
        found = decided(spec, run(tested, EXITED, code), run(other, RUNNING))
        assert [c["name"] for c in found.containers_to_start] == (["tested"] if again else []), code


@pytest.mark.parametrize("policy", ["Always", "OnFailure", "Never"])
def test_one_that_was_made_and_never_ran_is_started_and_one_of_which_nobody_knows_is_killed_first(policy: str) -> None:
    spec = pod_of(policy, named("made"), named("lost"), named("new"))
    found = short(decided(spec, run(named("made"), CREATED), run(named("lost"), UNKNOWN)))
    message = 'Container is in "unknown" state, try killing it before restart'
    assert found == ("made lost new", {"lost": message}, False)


INIT_UNKNOWN = {"init": 'Init container is in "unknown" state, try killing it before restart'}


@pytest.mark.parametrize(
    ("policy", "own", "expected"),
    [
        ("Always", None, ("init", INIT_UNKNOWN, False)),
        ("OnFailure", None, ("init", INIT_UNKNOWN, False)),
        ("Never", None, ("", {}, True)),
        ("Never", "Always", ("init", INIT_UNKNOWN, False)),
    ],
)
def test_so_is_an_init_container_if_it_may_be_started_again(policy: str, own: str | None, expected: Any) -> None:
    init = named("init", own)
    assert short(decided(pod_of(policy, named("main"), initContainers=[init]), run(init, UNKNOWN))) == expected


def test_a_sidecar_that_ended_is_started_in_a_pod_that_is_not_restarted_and_does_not_keep_it_alive() -> None:
    """Where all have ended it is started once more: who is to know that the machine has not been restarted?"""
    sidecar, main = named("sidecar", "Always"), named("main")
    spec = pod_of("Never", main, initContainers=[sidecar])
    assert short(decided(spec, run(main, RUNNING), run(sidecar, EXITED, 0))) == ("sidecar", {}, False)
    assert short(decided(spec, run(main, EXITED, 0), run(sidecar, EXITED, 0))) == ("sidecar", {}, False)
    assert short(decided(spec, run(main, EXITED, 0), run(sidecar, RUNNING))) == ("", {}, True)


@pytest.mark.parametrize("sidecar", [False, True])
@pytest.mark.parametrize(
    ("do", "started", "killed", "updated"),
    [
        (Resize.NOTHING, "", {}, set()),
        (Resize.UPDATE, "", {}, {"tested"}),
        (Resize.RESTART, "tested", {"tested": "Container tested resize requires restart"}, set()),
    ],
)
def test_one_that_gets_another_amount_is_told_or_started_again(
    do: Resize, started: str, killed: dict[str, str], updated: set[str], sidecar: bool
) -> None:
    """Whatever the policy; what has ended, or is condemned, gets its amount when it is made. Upstream: `computePodActions`,
    `computePodResizeAction`.
    """
    tested, other = named("tested", "Always" if sidecar else None), named("other")
    spec = pod_of(
        "Never", *([other] if sidecar else [other, tested]), **({"initContainers": [tested]} if sidecar else {})
    )
    sandbox = PodSandboxStatus("s", PodSandboxMetadata("p", "u", "n", 0), PodSandboxState.READY, 1)

    def actions(state: ContainerState, unhealthy: dict[str, str]) -> PodActions:
        runs = [run(other, RUNNING), run(tested, state)]

        def resize(container: Object, _: ContainerStatus) -> Resize:
            return do if container["name"] == "tested" else Resize.NOTHING

        pod = {"metadata": {}, "spec": spec}
        started = {"tested": True, "other": True}
        return compute_pod_actions(pod, PodStatus([sandbox], runs), unhealthy, started, resize=resize)

    found = actions(RUNNING, {})
    assert short(found) == (started, killed, False)
    assert (set(found.containers_to_update), found.update_pod_resources) == (updated, do is not Resize.NOTHING)
    for ended in (actions(EXITED, {}), actions(RUNNING, {"tested": "liveness"})):
        assert (ended.containers_to_update, ended.update_pod_resources) == ({}, False)
