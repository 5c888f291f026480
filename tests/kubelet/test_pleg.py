"""Looking at the runtime: how often, what a look is worth, and that a worker's own look is newer than its last run."""

from __future__ import annotations

import asyncio

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata, PodSandboxStatus
from lifecycle.cri.apis.services import ObjectState
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.pleg.generic import EVENTED_RELIST_PERIOD, RELIST_PERIOD, EventedPLEG, GenericPLEG


async def one_container() -> tuple[HollowRuntime, EventedPLEG, str]:
    runtime = HollowRuntime(clock=Clock())
    await runtime.update_runtime_config("10.0.0.0/24")
    await runtime.pull_image("nginx")
    pleg = EventedPLEG(runtime, lambda event: None)
    sandbox = await runtime.run_pod_sandbox(PodSandboxConfig(PodSandboxMetadata("p", "uid", "default")))
    return runtime, pleg, sandbox


async def start(runtime: HollowRuntime, sandbox: str) -> None:
    container = await runtime.create_container(sandbox, ContainerConfig(ContainerMetadata("c", 0), "nginx"))
    await runtime.start_container(container)


def test_looks_become_rare_only_when_events_have_told_all_of_it() -> None:
    async def main() -> None:
        runtime, pleg, sandbox = await one_container()
        assert [await pleg.look() for _ in range(2)] == [RELIST_PERIOD] * 2  # nobody has told anything yet
        runtime.get_container_events(pleg.event)
        await start(runtime, sandbox)
        assert await pleg.look() == EVENTED_RELIST_PERIOD

    run_virtual(main())


def test_what_no_event_told_brings_looks_back_to_once_a_second() -> None:
    async def main() -> None:
        runtime, pleg, sandbox = await one_container()
        await pleg.look()
        pleg.events_serve = True
        await start(runtime, sandbox)  # nobody listens
        assert await pleg.look() == RELIST_PERIOD == 1.0
        assert not pleg.events_serve

    run_virtual(main())


def test_a_look_that_fails_does_not_count() -> None:
    class Stuck(HollowRuntime):
        async def list_states(self) -> list[ObjectState]:
            raise RuntimeServiceError("it hangs")

    async def main() -> None:
        pleg = GenericPLEG(Stuck(clock=Clock()), lambda event: None)
        looking = asyncio.create_task(pleg.run())
        await asyncio.sleep(10)
        looking.cancel()
        assert pleg.healthy() == "pleg has yet to be successful"

    run_virtual(main())


def test_each_run_of_a_worker_asks_the_runtime_anew() -> None:
    """Upstream's waits for the pod cache instead; ours has none."""

    async def scene(node: OneNode) -> None:
        uid = (await node.run_pod("web"))["metadata"]["uid"]
        asked: list[str] = []
        listing = node.runtime.list_pod_sandbox

        async def noted(pod_uid: str = "") -> list[PodSandboxStatus]:
            asked.append(pod_uid)
            return await listing(pod_uid)

        node.runtime.list_pod_sandbox = noted  # type: ignore[method-assign]
        for runs in (1, 2, 3):
            node.kubelet.pod_workers.sync(uid)
            await asyncio.sleep(0.1)
            assert asked.count(uid) == runs

    on_one_node(scene)


def test_looks_are_measured_with_the_time_between_them() -> None:
    async def main() -> None:
        _, pleg, _ = await one_container()
        assert pleg.text() == ""
        await pleg.look()
        await asyncio.sleep(0.7)
        await pleg.look()
        lines = pleg.text().splitlines()
        assert [line for line in lines if line.startswith("#")] == [
            "# HELP kubelet_pleg_relist_duration_seconds [ALPHA] Duration in seconds for relisting pods in PLEG.",
            "# TYPE kubelet_pleg_relist_duration_seconds histogram",
            "# HELP kubelet_pleg_relist_interval_seconds [ALPHA] Interval in seconds between relisting in PLEG.",
            "# TYPE kubelet_pleg_relist_interval_seconds histogram",
        ]
        assert "kubelet_pleg_relist_duration_seconds_count 2" in lines
        assert "kubelet_pleg_relist_interval_seconds_count 1" in lines
        assert "kubelet_pleg_relist_interval_seconds_sum 0.7" in lines

    run_virtual(main())
