"""What is started, restarted, replaced and cleared away."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.pods.restart_policy import container_should_restart
from lifecycle.api.resources import resource
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
)
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.kuberuntime.kuberuntime_gc import ContainerGC, GCPolicy
from lifecycle.kubelet.pleg.generic import DIED, REMOVED, STARTED, GenericPLEG, generate_events
from tests.kubelet.small_cluster import small_cluster
from tests.kubelet.test_kubelet import ONE_NODE, nginx


@pytest.mark.parametrize(
    ("pod_policy", "own", "rules", "code", "restart"),
    [
        ("Always", None, [], 0, True),
        ("OnFailure", None, [], 0, False),
        ("OnFailure", None, [], 2, True),
        ("Never", None, [], 2, False),
        ("Never", "Always", [], 0, True),
        ("Always", "Never", [], 1, False),
        ("Never", "Never", [("In", [42])], 42, True),
        ("Never", "Never", [("In", [42])], 43, False),
        ("Never", "Never", [("NotIn", [0])], 43, True),
        ("Never", "OnFailure", [("In", [42])], 1, True),  # no rule fits: the container's own policy decides
    ],
)
def test_rules_come_before_the_containers_policy_and_that_before_the_pods(
    pod_policy: str, own: str | None, rules: list[tuple[str, list[int]]], code: int, restart: bool
) -> None:
    container: Object = {"name": "c"}
    if own:
        container["restartPolicy"] = own
    container["restartPolicyRules"] = [
        {"action": "Restart", "exitCodes": {"operator": operator, "values": values}} for operator, values in rules
    ]
    assert container_should_restart({"restartPolicy": pod_policy}, container, code) is restart


def test_a_new_image_replaces_the_container_in_place() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(nginx("p"))
            await asyncio.sleep(1)
            before = (await cluster.pod("p"))["status"]
            patch = {"spec": {"containers": [{"name": "c", "image": "nginx:1.26"}]}}
            await cluster.admin.patch(resource("pods"), "p", "default", patch, patch_type=STRATEGIC_MERGE_PATCH)
            await asyncio.sleep(2)
            after = (await cluster.pod("p"))["status"]
            [container] = after["containerStatuses"]
            assert container["restartCount"] == 1
            assert container["containerID"] != before["containerStatuses"][0]["containerID"]
            assert after["podIP"] == before["podIP"]  # the sandbox is the same
            messages = [event["message"] for event in await cluster.events("default")]
            assert "Container c definition changed, will be restarted" in messages

    run_virtual(main())


def test_a_probe_may_bring_a_grace_period_of_its_own() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = nginx("p", terminationGracePeriodSeconds=100)
            probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
            pod["spec"]["containers"][0] |= {
                "image": "busybox:1.36",
                "command": ["sh", "-c", "sleep 3600"],  # does not hear SIGTERM
                "livenessProbe": {**probe, "terminationGracePeriodSeconds": 3},
            }
            await cluster.create_pod(pod)
            await asyncio.sleep(20)
            assert (await cluster.pod("p"))["status"]["containerStatuses"][0]["restartCount"] >= 1

    run_virtual(main())


def test_an_ephemeral_container_joins_a_running_pod() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(nginx("p"))
            await asyncio.sleep(1)
            pod = json.loads(json.dumps(await cluster.pod("p")))
            pod["spec"]["ephemeralContainers"] = [
                {"name": "debug", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 2"]}
            ]
            await cluster.admin.update(resource("pods"), pod, subresource="ephemeralcontainers")
            await asyncio.sleep(1)
            status = (await cluster.pod("p"))["status"]
            assert "running" in status["ephemeralContainerStatuses"][0]["state"]
            await asyncio.sleep(5)
            status = (await cluster.pod("p"))["status"]
            assert status["ephemeralContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
            assert status["phase"] == "Running"  # and it is not started again

    run_virtual(main())


@pytest.mark.parametrize(
    ("old", "new", "types"),
    [
        ("non-existent", "running", [STARTED]),
        ("running", "running", []),
        ("running", "exited", [DIED]),
        ("non-existent", "exited", [DIED]),  # started and ended between two looks
        ("running", "non-existent", [DIED, REMOVED]),
        ("exited", "non-existent", [REMOVED]),
    ],
)
def test_two_looks_tell_what_happened(old: str, new: str, types: list[str]) -> None:
    assert [event.type for event in generate_events("uid", "id", old, new)] == types


async def runs_of_one_container(runtime: HollowRuntime, count: int) -> tuple[str, list[str]]:
    await runtime.update_runtime_config("10.0.0.0/24")
    await runtime.pull_image("busybox")
    sandbox = await runtime.run_pod_sandbox(PodSandboxConfig(PodSandboxMetadata("p", "uid", "default")))
    ids = []
    for attempt in range(count):
        config = ContainerConfig(ContainerMetadata("c", attempt), "busybox", ("sleep", "1"))
        ids.append(await runtime.create_container(sandbox, config))
        await runtime.start_container(ids[-1])
        await asyncio.sleep(2)
    return sandbox, ids


def test_the_pleg_sees_what_a_runtime_without_events_does() -> None:
    async def main() -> None:
        runtime, heard = HollowRuntime(), []
        pleg = GenericPLEG(runtime, heard.append)
        assert pleg.healthy() == "pleg has yet to be successful"
        sandbox, [container] = await runs_of_one_container(runtime, 1)
        await pleg.relist()
        assert [(e.type, e.container_id) for e in heard] == [(STARTED, sandbox), (DIED, container)]
        assert pleg.healthy() == ""
        await asyncio.sleep(200)
        assert pleg.healthy() == "pleg was last seen active 200s ago; threshold is 3m0s"

    run_virtual(main())


def test_of_dead_runs_only_the_newest_stays_and_nothing_of_a_pod_that_is_gone() -> None:
    async def main() -> None:
        runtime, gone = HollowRuntime(clock=Clock()), set[str]()
        sandbox, ids = await runs_of_one_container(runtime, 3)
        collector = ContainerGC(runtime, Clock().now, gone.__contains__)
        assert await collector.garbage_collect() == ([ids[1], ids[0]], [])
        await runtime.stop_pod_sandbox(sandbox)
        assert await collector.garbage_collect() == ([], [])
        gone.add("uid")
        assert await collector.garbage_collect() == ([ids[2]], [sandbox])
        assert await runtime.list_pod_sandbox() == []

    run_virtual(main())


def test_young_dead_runs_are_left_alone() -> None:
    async def main() -> None:
        clock = Clock()
        runtime = HollowRuntime(clock=clock)
        _, ids = await runs_of_one_container(runtime, 3)
        collector = ContainerGC(runtime, clock.now, lambda uid: False, GCPolicy(min_age=3.0))
        assert (await collector.garbage_collect())[0] == [ids[0]]
        states = [status.state for status in await runtime.list_containers()]
        assert states == [ContainerState.EXITED] * 2

    run_virtual(main())


def test_an_image_that_cannot_be_had_is_looked_for_every_ten_seconds_however_long_the_back_off() -> None:
    """Not each look is a pull. Both recorded kubelets looked twice and thrice between their third pull and their fourth."""

    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = nginx("p")
            pod["spec"]["containers"][0]["image"] = "nope.invalid/none:1"
            await cluster.create_pod(pod)
            looks: list[tuple[float, tuple[int, int]]] = []
            begin = asyncio.get_running_loop().time()
            for _ in range(200):
                await asyncio.sleep(1)
                counts = {event["reason"]: event.get("count", 1) for event in await cluster.events("default")}
                look = counts.get("Pulling", 0), counts.get("BackOff", 0)
                if not looks or look != looks[-1][1]:
                    looks.append((asyncio.get_running_loop().time() - begin, look))
            pauses = [later - earlier for (earlier, _), (later, _) in pairwise(looks[1:])]
            assert len(pauses) >= 10
            assert all(9 <= pause <= 17 for pause in pauses), pauses
            pulls = [pulled for _, (pulled, _) in looks]
            assert pulls[-1] == 5  # after 0, 10, 20, 40 and 80 seconds at the earliest

    run_virtual(main())
