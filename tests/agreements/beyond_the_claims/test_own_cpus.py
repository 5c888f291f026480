"""Who has CPUs of its own, which ones, and how often the runtime is told of them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata, PodSandboxState, PodSandboxStatus
from lifecycle.kubelet.cm.cpumanager.cpu_assignment import take_by_topology
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager
from lifecycle.kubelet.cm.cpumanager.cpu_set import format_cpu_set, parse_cpu_set
from lifecycle.kubelet.cm.cpumanager.policy_static import StaticPolicy, guaranteed_cpus
from lifecycle.kubelet.cm.cpumanager.state import CPUState
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology


def pod(name: str, cpu: str, limit: str = "", **more: Any) -> Object:
    amounts = {"cpu": cpu, "memory": "1Gi"}
    resources = {"requests": amounts, "limits": {**amounts, "cpu": limit or cpu}}
    return {
        "metadata": {"name": name, "uid": name},
        "spec": {"containers": [{"name": "c", "resources": resources}], **more},
    }


CPUS = {
    "1": 1, "2": 2, "10": 10, "1000m": 1, "3000m": 3, "2.0": 2, "3e0": 3, "0.5": 0, "500m": 0, "999m": 0, "1001m": 0,
    "1500m": 0, "1.5": 0, "2500m": 0, "2.999": 0, "2.001": 0, "10.1": 0,
}  # fmt: skip


@pytest.mark.parametrize("cpu", CPUS)
def test_who_asks_for_whole_cpus_gets_them_and_who_asks_for_a_broken_number_gets_none(cpu: str) -> None:
    asks = pod("p", cpu)
    assert guaranteed_cpus(asks, asks["spec"]["containers"][0]) == CPUS[cpu]
    more = pod("p", cpu, limit="20")
    assert guaranteed_cpus(more, more["spec"]["containers"][0]) == 0, "one that may have more is not guaranteed"
    manager = CPUManager(
        StaticPolicy(CPUTopology.regular(1, 8), 1), CPUState("static"), cast(Any, None), lambda: [asks]
    )
    assert manager.admit(asks) == ""
    assert len(manager.state.get("p", "c") or ()) == CPUS[cpu]


FOUR_CORES, TWO_SOCKETS = CPUTopology.regular(1, 4), CPUTopology.regular(2, 3)
TAKEN = [
    (FOUR_CORES, "0-7", 2, "0,4"), (FOUR_CORES, "0-7", 4, "0-1,4-5"), (FOUR_CORES, "0-7", 8, "0-7"),
    (FOUR_CORES, "1-3,5-7", 6, "1-3,5-7"), (FOUR_CORES, "0-4,6", 4, "0,2,4,6"),
    (TWO_SOCKETS, "0-11", 6, "0,2,4,6,8,10"), (TWO_SOCKETS, "0-11", 12, "0-11"), (TWO_SOCKETS, "0-11", 8, "0-2,4,6-8,10"),
    (TWO_SOCKETS, "0-11", 7, "0-2,4,6,8,10"), (FOUR_CORES, "0-7", 3, "0-1,4"), (FOUR_CORES, "0-7", 0, ""),
]  # fmt: skip


@pytest.mark.parametrize(("topology", "available", "wanted", "taken"), TAKEN)
def test_as_many_are_taken_as_are_wanted_and_no_more(
    topology: CPUTopology, available: str, wanted: int, taken: str
) -> None:
    found = take_by_topology(topology, parse_cpu_set(available), wanted)
    assert (format_cpu_set(found), len(found)) == (taken, wanted)


class Runtime:
    """One container for each pod; what it is told of its CPUs, unless it is `deaf`."""

    def __init__(self, *names: str) -> None:
        self.states = dict.fromkeys(names, ContainerState.RUNNING)
        self.told: list[str] = []
        self.deaf = False

    async def list_pod_sandbox(self, uid: str) -> list[PodSandboxStatus]:
        sandbox = PodSandboxStatus(uid, PodSandboxMetadata(uid, uid, "n", 0), PodSandboxState.READY, 1)
        return [sandbox] if uid in self.states else []

    async def list_containers(self, sandbox: str) -> list[ContainerStatus]:
        return [ContainerStatus(f"{sandbox}-c", sandbox, ContainerMetadata("c"), self.states[sandbox], 1, "i", "i")]

    async def update_container_resources(self, container_id: str, resources: Object) -> None:
        if self.deaf:
            raise RuntimeServiceError("out to lunch")
        self.told.append(f"{container_id} {resources['cpuset_cpus']}")


def told() -> list[list[str]]:
    """What the runtime hears, round by round: at first; then, with nothing new; when somebody has taken two CPUs
    for himself; then; when it cannot be told; when it can; then; when one has ended; when it runs again; then.
    """

    async def main() -> list[list[str]]:
        runtime, pods = Runtime("a", "b"), [pod("a", "500m"), pod("b", "500m")]
        policy = StaticPolicy(CPUTopology.regular(1, 4), 1)
        manager = CPUManager(policy, CPUState("static"), cast(Any, runtime), lambda: pods)
        rounds: list[list[str]] = []

        async def reconcile() -> None:
            runtime.told.clear()
            answered = await manager.reconcile_state()
            assert len(answered) == len(runtime.told)
            rounds.append(sorted(runtime.told))

        await reconcile()
        await reconcile()
        pods.append(own := pod("own", "2"))
        assert manager.admit(own) == ""
        await reconcile()
        await reconcile()
        pods.remove(own)
        runtime.deaf = True
        await reconcile()
        runtime.deaf = False
        await reconcile()
        await reconcile()
        runtime.states["a"] = ContainerState.EXITED
        await reconcile()
        runtime.states["a"] = ContainerState.RUNNING
        await reconcile()
        await reconcile()
        return rounds

    return on_virtual_time(main())


ALL, REST = ["a-c 0-7", "b-c 0-7"], ["a-c 0,2-4,6-7", "b-c 0,2-4,6-7"]
TOLD = [ALL, [], REST, [], [], ALL, [], [], ["a-c 0-7"], []]


def test_the_runtime_is_told_when_something_is_new_and_only_then() -> None:
    assert told() == TOLD


def test_one_that_cannot_be_told_does_not_keep_the_others_from_it() -> None:
    class HalfDeaf(Runtime):
        async def update_container_resources(self, container_id: str, resources: Object) -> None:
            if self.deaf and container_id.startswith("a"):
                raise RuntimeServiceError("out to lunch")
            self.told.append(f"{container_id} {resources['cpuset_cpus']}")

    async def main() -> list[list[str]]:
        runtime, rounds = HalfDeaf("a", "b", "c"), list[list[str]]()
        pods = [pod(name, "500m") for name in ("a", "b", "c")]
        manager = CPUManager(
            StaticPolicy(CPUTopology.regular(1, 4), 1), CPUState("static"), cast(Any, runtime), lambda: pods
        )
        for runtime.deaf in (True, False, False):
            runtime.told.clear()
            await manager.reconcile_state()
            rounds.append(list(runtime.told))
        return rounds

    assert on_virtual_time(main()) == [["b-c 0-7", "c-c 0-7"], ["a-c 0-7"], []]
