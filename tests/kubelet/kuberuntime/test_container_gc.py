"""Which dead containers and sandboxes are removed, and which are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata, PodSandboxState, PodSandboxStatus
from lifecycle.cri.apis.services import ObjectState
from lifecycle.kubelet.kuberuntime.kuberuntime_gc import ContainerGC, GCPolicy, containers_to_remove

SECOND = 1_000_000_000


def run(
    name: str, created: float, sandbox: str = "s", state: ContainerState = ContainerState.EXITED
) -> ContainerStatus:
    metadata = ContainerMetadata(name, 0)
    return ContainerStatus(f"{name}{created:g}", sandbox, metadata, state, int(created * SECOND), "i", "r")


def ids(removed: list[ContainerStatus]) -> list[str]:
    return [each.id for each in removed]


def dead(**counts: int) -> dict[tuple[str, str], list[ContainerStatus]]:
    """By name of the container, which is its pod's, too: so many runs, newest first."""
    return {
        (name, name): [run(name, 10 * number + index) for number in range(count, 0, -1)]
        for index, (name, count) in enumerate(counts.items())
    }


@pytest.mark.parametrize(
    ("policy", "removed"),
    [
        (GCPolicy(), ["a20", "a10", "b11"]),
        (GCPolicy(max_per_pod_container=2), ["a10"]),
        (GCPolicy(max_per_pod_container=0), ["a30", "a20", "a10", "b21", "b11"]),
        (GCPolicy(max_per_pod_container=-1), []),
        (GCPolicy(max_per_pod_container=-1, max_containers=5), []),
        (GCPolicy(max_per_pod_container=-1, max_containers=4), ["a10"]),
        (GCPolicy(max_per_pod_container=-1, max_containers=3), ["a20", "a10", "b11"]),
        (GCPolicy(max_per_pod_container=-1, max_containers=2), ["a20", "a10", "b11"]),
        (GCPolicy(max_per_pod_container=-1, max_containers=1), ["a20", "a10", "b11", "b21"]),
        (GCPolicy(max_per_pod_container=-1, max_containers=0), ["a20", "a10", "b11", "b21", "a30"]),
    ],
)
def test_of_each_container_and_of_all_the_newest_are_kept(policy: GCPolicy, removed: list[str]) -> None:
    assert ids(containers_to_remove(dead(a=3, b=2), policy, lambda uid: False)) == removed


def test_of_a_pod_that_is_gone_nothing_is_kept() -> None:
    assert ids(containers_to_remove(dead(a=2, b=2), GCPolicy(), lambda uid: uid == "b")) == ["a10", "b21", "b11"]
    keep_all = GCPolicy(max_per_pod_container=-1)
    assert ids(containers_to_remove(dead(a=2, b=1), keep_all, lambda uid: uid == "a")) == ["a20", "a10"]


def test_what_is_usual() -> None:
    assert GCPolicy() == GCPolicy(min_age=0.0, max_per_pod_container=1, max_containers=-1)


class Runtime:
    """A runtime with these sandboxes and runs; `stuck`: what cannot be removed."""

    def __init__(self, sandboxes: list[PodSandboxStatus], runs: list[ContainerStatus], stuck: str = "") -> None:
        self.sandboxes, self.runs, self.stuck = sandboxes, runs, stuck
        self.removed: list[str] = []

    async def list_pod_sandbox(self) -> list[PodSandboxStatus]:
        return self.sandboxes

    async def list_containers(self, sandbox: str) -> list[ContainerStatus]:
        return [each for each in self.runs if each.pod_sandbox_id == sandbox]

    async def remove(self, name: str) -> None:
        if name == self.stuck:
            raise RuntimeServiceError("device or resource busy")
        self.removed.append(name)

    remove_container = remove_pod_sandbox = remove


def sandbox(name: str, uid: str, created: int, *, ready: bool = False) -> PodSandboxStatus:
    state = PodSandboxState.READY if ready else PodSandboxState.NOTREADY
    return PodSandboxStatus(name, PodSandboxMetadata("p", uid, "shop", 0), state, created * SECOND)


def collected(
    runtime: Runtime, gone: Callable[[str], bool] = lambda uid: False, **policy: Any
) -> tuple[list[str], list[str]]:
    collector = ContainerGC(runtime, lambda: 100.0, gone, GCPolicy(**policy))  # type: ignore[arg-type]
    return asyncio.run(collector.garbage_collect())


def test_what_runs_or_is_too_young_is_left_alone() -> None:
    runs = [
        run("a", 90),
        run("a", 10),
        run("a", 89),
        run("b", 5, state=ContainerState.RUNNING),
        run("c", 95),
        run("d", 1, state=ContainerState.CREATED),
    ]
    runtime = Runtime([sandbox("s", "u", 1, ready=True)], runs)
    assert collected(runtime, max_per_pod_container=0, min_age=10.0) == (["a90", "a89", "a10", "d1"], [])
    assert runtime.removed == ["a90", "a89", "a10", "d1"]


def test_runs_of_all_sandboxes_of_a_pod_count_together() -> None:
    sandboxes = [sandbox("old", "u", 1), sandbox("new", "u", 2, ready=True), sandbox("other", "v", 3, ready=True)]
    runs = [run("a", 10, "old"), run("a", 20, "new"), run("a", 15, "other")]
    assert collected(Runtime(sandboxes, runs)) == (["a10"], ["old"])


def test_an_empty_sandbox_goes_unless_it_is_the_pods_newest() -> None:
    sandboxes = [sandbox("new", "u", 3), sandbox("older", "u", 2), sandbox("oldest", "u", 1), sandbox("only", "v", 1)]
    assert collected(Runtime(sandboxes, [run("a", 10, "older")])) == ([], ["oldest"])


def test_of_a_pod_that_is_gone_the_newest_goes_too_but_none_that_is_used() -> None:
    sandboxes = [sandbox("used", "u", 3), sandbox("new", "u", 2), sandbox("ready", "u", 1, ready=True)]
    runs = [run("a", 10, "used", ContainerState.RUNNING)]
    assert collected(Runtime(sandboxes, runs), lambda uid: True) == ([], ["new"])


def test_what_cannot_be_removed_does_not_hold_up_the_others() -> None:
    runs = [run("a", number) for number in (30, 20, 10)]
    runtime = Runtime([sandbox("s", "u", 1, ready=True)], runs, stuck="a20")
    collected(runtime)
    assert runtime.removed == ["a10"]


class Lister(Runtime):
    """A runtime that tells the states of all at once."""

    looks = 0

    async def list_states(self) -> list[ObjectState]:
        return [
            *(ObjectState(each.id, each.metadata.uid, each.state) for each in self.sandboxes),
            *(ObjectState(each.id, "u", each.state) for each in self.runs),
        ]

    async def list_pod_sandbox(self) -> list[PodSandboxStatus]:
        self.looks += 1
        return self.sandboxes


@pytest.mark.parametrize(
    ("sandboxes", "runs", "looks", "removed"),
    [
        ([sandbox("s", "u", 1, ready=True)], [run("a", 1, state=ContainerState.RUNNING)], 0, ([], [])),
        ([sandbox("s", "u", 1, ready=True)], [run("a", 1), run("a", 2)], 1, (["a1"], [])),
        ([sandbox("s", "u", 1, ready=True)], [run("a", 1, state=ContainerState.CREATED)], 1, ([], [])),
        ([sandbox("old", "u", 1), sandbox("s", "u", 2, ready=True)], [], 1, ([], ["old"])),
    ],
)
def test_where_a_short_look_tells_that_all_live_nobody_looks_at_each(
    sandboxes: list[PodSandboxStatus], runs: list[ContainerStatus], looks: int, removed: tuple[list[str], list[str]]
) -> None:
    runtime = Lister(sandboxes, runs)
    assert collected(runtime) == removed
    assert runtime.looks == looks
