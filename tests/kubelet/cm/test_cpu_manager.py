"""The CPU manager: upstream's cases of what is given away, and what a restart finds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.cm.cpumanager.cpu_assignment import NotEnoughCPUsError, take_by_topology
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager
from lifecycle.kubelet.cm.cpumanager.cpu_set import format_cpu_set, parse_cpu_set
from lifecycle.kubelet.cm.cpumanager.policy_static import NonePolicy, StaticPolicy
from lifecycle.kubelet.cm.cpumanager.state import CheckpointError, CPUState, checksum
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

ONE_SOCKET = CPUTopology.regular(1, 4)  # 8 CPUs: cores 0-3, threads +4
TWO_SOCKETS = CPUTopology.regular(2, 3)  # 12 CPUs: even ones on socket 0


def pod(name: str, cpu: str, *, init: str = "", limit: str = "") -> Object:
    def container(name: str, cpu: str) -> Object:
        wanted = {"cpu": cpu, "memory": "1Gi"}
        return {"name": name, "resources": {"requests": wanted, "limits": {**wanted, "cpu": limit or cpu}}}

    spec: Object = {"containers": [container("c", cpu)]}
    if init:
        spec["initContainers"] = [container("i", init)]
    return {"metadata": {"name": name, "uid": name}, "spec": spec}


@pytest.mark.parametrize(
    ("topology", "available", "wanted", "taken"),
    [
        (ONE_SOCKET, "0-7", 0, ""),
        (ONE_SOCKET, "0-7", 1, "0"),
        (ONE_SOCKET, "1,3,5-7", 1, "6"),  # 6's sibling is gone: no whole core is broken
        (ONE_SOCKET, "0-7", 2, "0,4"),
        (ONE_SOCKET, "0-7", 8, "0-7"),
        (ONE_SOCKET, "0-3,6", 2, "2,6"),
        (TWO_SOCKETS, "1-5,7-11", 1, "2"),  # the socket that has less left
        (TWO_SOCKETS, "0-11", 6, "0,2,4,6,8,10"),
        (TWO_SOCKETS, "0-11", 7, "0-2,4,6,8,10"),
    ],
)
def test_whole_units_first_then_the_fullest_neighbourhood(
    topology: CPUTopology, available: str, wanted: int, taken: str
) -> None:
    assert format_cpu_set(take_by_topology(topology, parse_cpu_set(available), wanted)) == taken


def test_more_than_there_is_is_refused() -> None:
    with pytest.raises(
        NotEnoughCPUsError, match=r"not enough cpus available to satisfy request: requested=5, available=4$"
    ):
        take_by_topology(ONE_SOCKET, parse_cpu_set("0,2,4,6"), 5)


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 2), st.data())
def test_exactly_as_many_as_asked_for_and_only_free_ones(
    sockets: int, cores: int, threads: int, data: st.DataObject
) -> None:
    topology = CPUTopology.regular(sockets, cores, threads)
    available = data.draw(st.frozensets(st.sampled_from(sorted(topology.cpus))))
    wanted = data.draw(st.integers(0, len(available)))
    taken = take_by_topology(topology, available, wanted)
    assert len(taken) == wanted
    assert taken <= available


@given(st.frozensets(st.integers(0, 300)))
def test_sets_read_back_as_written(cpus: frozenset[int]) -> None:
    assert parse_cpu_set(format_cpu_set(cpus)) == cpus


def manager(
    policy: StaticPolicy | NonePolicy, path: Path | None = None, pods: list[Object] | None = None
) -> CPUManager:
    return CPUManager(policy, CPUState(policy.name, path), HollowRuntime(), lambda: pods if pods is not None else [])


def test_only_guaranteed_pods_with_whole_cpus_get_their_own() -> None:
    pods = [pod("whole", "2"), pod("fraction", "1500m"), pod("burstable", "1", limit="2")]
    cpus = manager(StaticPolicy(ONE_SOCKET, 1), pods=pods)
    assert [cpus.admit(each) for each in pods] == ["", "", ""]
    assert cpus.state.assignments == {"whole": {"c": parse_cpu_set("1,5")}}
    assert format_cpu_set(cpus.state.default) == "0,2-4,6-7"
    assert cpus.pre_create_container(pods[0], pods[0]["spec"]["containers"][0], {})["cpuset_cpus"] == "1,5"
    assert cpus.pre_create_container(pods[1], pods[1]["spec"]["containers"][0], {})["cpuset_cpus"] == "0,2-4,6-7"


def test_a_pod_that_has_its_cpus_as_a_whole_gets_none_for_a_container() -> None:
    it = pod("p", "2")
    whole = {"cpu": "4", "memory": "2Gi"}
    it["spec"]["resources"] = {"requests": whole, "limits": whole}
    cpus = manager(StaticPolicy(ONE_SOCKET, 1), pods=[it])
    assert (cpus.admit(it), cpus.state.assignments, cpus.state.default) == ("", {}, ONE_SOCKET.cpus)


def test_the_reserved_cpus_are_shared_and_never_given_away() -> None:
    pods = [pod("big", "7"), pod("too-big", "1")]
    cpus = manager(StaticPolicy(ONE_SOCKET, 1), pods=pods)
    assert cpus.admit(pods[0]) == ""
    assert format_cpu_set(cpus.state.default) == "0"
    why = cpus.admit(pods[1])
    assert why == (
        "Allocate failed due to not enough cpus available to satisfy request: requested=1, available=0, which is unexpected"
    )


def test_what_an_init_container_had_is_used_again() -> None:
    it = pod("p", "2", init="4")
    cpus = manager(StaticPolicy(ONE_SOCKET, 1), pods=[it])
    assert cpus.admit(it) == ""
    assert cpus.state.assignments["p"]["c"] < cpus.state.assignments["p"]["i"]
    cpus.remove_pod("p")
    assert cpus.state.default == ONE_SOCKET.cpus


def test_whole_cores_only_if_told_so() -> None:
    it = pod("p", "3")
    cpus = manager(StaticPolicy(ONE_SOCKET, 2, full_pcpus_only=True), pods=[it])
    assert "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2" in cpus.admit(it)


def test_the_state_file_is_gos_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "cpu_manager_state"
    CPUManager(NonePolicy(), CPUState("none", path), HollowRuntime(), list)
    assert path.read_bytes() == b'{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'


@pytest.mark.parametrize(
    ("policy", "default", "entries", "expected"),
    [
        # of files that real kubelets have written
        ("none", "4-6", {}, 354655845),
        ("none", "1-3", {"pod": {"container2": "1-3", "container1": "4-6"}}, 3610638499),
        ("static", "0,2-12,14-23", {"235148fe-393f-47a8-a17d-bd55bc1a836b": {"cgroup1-0": "1,13"}}, 1552716370),
    ],
)
def test_a_file_adds_up_as_it_does_for_a_real_kubelet(
    policy: str, default: str, entries: dict[str, dict[str, str]], expected: int
) -> None:
    assert checksum(policy, default, entries) == expected


def test_a_restart_finds_everybody_where_they_were(tmp_path: Path) -> None:
    path, it = tmp_path / "cpu_manager_state", pod("p", "2")
    before = manager(StaticPolicy(ONE_SOCKET, 1), path, [it])
    before.admit(it)
    after = manager(StaticPolicy(ONE_SOCKET, 1), path, [it])
    assert after.state.assignments == before.state.assignments
    assert after.state.default == before.state.default


def test_the_static_policy_needs_a_cpu_that_is_nobodys() -> None:
    needed = r"^the static policy requires systemreserved\.cpu \+ kubereserved\.cpu to be greater than zero$"
    for nothing in (0, frozenset()):
        with pytest.raises(ValueError, match=needed):
            StaticPolicy(ONE_SOCKET, nothing)


CORRUPTED = "could not restore state from checkpoint: checkpoint is corrupted"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", CORRUPTED),
        (b'{"policyName":"static","defaultCpuSet":"0-6","checksum":1}', CORRUPTED),
        (
            b'{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
            'configured policy "static" differs from state checkpoint policy "none"',
        ),
        (
            b'{"policyName":"static","defaultCpuSet":"0-6","checksum":%d}' % checksum("static", "0-6", {}),
            'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-6"',
        ),
    ],
)
def test_a_file_that_does_not_fit_stops_the_kubelet(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "cpu_manager_state"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=f"^{why}$"):
        manager(StaticPolicy(ONE_SOCKET, 1), path)


@pytest.mark.parametrize(
    ("strict", "default", "own", "why"),
    [
        (False, "0-3,5-7", "4", ""),
        (False, "", "4", "default cpuset cannot be empty"),
        (False, "1-7", "", 'not all reserved cpus: "0" are present in defaultCpuSet: "1-7"'),
        (False, "0-7", "4", 'pod: p, container: c cpuset: "4" overlaps with default cpuset "0-7"'),
        (False, "0-2,5-7", "4", 'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-2,4-7"'),
        (False, "0-8", "", 'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-8"'),
        (True, "1-3,5-7", "4", ""),
        (True, "0-3,5-7", "4", 'some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-3,5-7"'),
        (True, "1-3,5-7", "", 'current set of available CPUs "1-7" doesn\'t match with CPUs in state "1-3,5-7"'),
    ],
)
def test_a_state_that_contradicts_the_machine_is_refused(strict: bool, default: str, own: str, why: str) -> None:
    """Upstream: `pkg/kubelet/cm/cpumanager/policy_static.go` (`validateState`)."""
    state = CPUState("static")
    state.default = parse_cpu_set(default)
    state.assignments = {"p": {"c": parse_cpu_set(own)}} if own else {}
    policy = StaticPolicy(ONE_SOCKET, parse_cpu_set("0"), strict_cpu_reservation=strict)
    if not why:
        return policy.start(state)
    with pytest.raises(CheckpointError) as caught:
        policy.start(state)
    assert str(caught.value) == why


@pytest.mark.parametrize(("strict", "default"), [(False, "0-7"), (True, "1-7")])
def test_a_fresh_state_is_the_machine_without_what_is_strictly_reserved(strict: bool, default: str) -> None:
    state = CPUState("static")
    StaticPolicy(ONE_SOCKET, parse_cpu_set("0"), strict_cpu_reservation=strict).start(state)
    assert state.default == parse_cpu_set(default)


def test_running_containers_hear_of_a_smaller_pool_by_the_reconcile_loop_only() -> None:
    async def main() -> None:
        runtime, pods = HollowRuntime(), [pod("shared", "500m"), pod("own", "2")]
        await runtime.update_runtime_config("10.0.0.0/24")
        cpus = CPUManager(StaticPolicy(ONE_SOCKET, 1), CPUState("static"), runtime, lambda: pods)
        cpus.admit(pods[0])
        sandbox = await runtime.run_pod_sandbox(PodSandboxConfig(PodSandboxMetadata("shared", "shared", "default")))
        await runtime.pull_image("busybox")
        config = ContainerConfig(ContainerMetadata("c"), "busybox", ("sleep", "1000"))
        container = await runtime.create_container(sandbox, config)
        await runtime.start_container(container)
        assert await cpus.reconcile_state() == [("c", "0-7")]
        assert await cpus.reconcile_state() == []
        cpus.admit(pods[1])
        running = asyncio.create_task(cpus.run())
        await asyncio.sleep(11)
        assert (await runtime.container_status(container)).resources["cpuset_cpus"] == "0,2-4,6-7"
        running.cancel()

    run_virtual(main())
