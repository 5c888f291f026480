"""A kubelet against the real API server, on virtual time."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from typing import Any

import pytest

from lifecycle.api.go.duration import go_duration
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.backoff import Backoff
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.cri.hollow.step_times import RECORDED
from lifecycle.kubelet.kubelet import USER_AGENT, node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration
from lifecycle.kubelet.kubelet_node_status import NodeRegistration
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from tests.conftest import RECORDINGS
from tests.kubelet.small_cluster import SmallCluster, small_cluster

ONE_NODE = ("lifecycle-worker",)


def nginx(name: str, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}], **spec},
    }


def sleeper(name: str, **spec: Any) -> Object:
    pod = nginx(name, **spec)
    pod["spec"]["containers"][0].update(image="busybox:1.36", command=["sh", "-c", "sleep 3600"])
    return pod


async def until_gone(cluster: SmallCluster, name: str) -> float:
    start = cluster.clock.now()
    while True:
        if name not in await cluster.pods("default"):
            return cluster.clock.now() - start
        await asyncio.sleep(0.25)


def test_a_pod_is_running_with_the_shape_of_the_recorded_one() -> None:
    async def main() -> Object:
        async with small_cluster() as cluster:
            await cluster.create_pod(nginx("plain"))
            await asyncio.sleep(1)
            return await cluster.pod("plain")

    status = run_virtual(main())["status"]
    with (RECORDINGS / "kind-1.36.2" / "audit" / "journey.jsonl").open() as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["stage"] == "ResponseComplete" and (entry.get("objectRef") or {}).get("subresource") == "status":
                pod = entry.get("responseObject") or {}
                if pod.get("kind") == "Pod" and pod["status"].get("phase") == "Running":
                    break
    assert list(status) == list(pod["status"])
    assert list(status["containerStatuses"][0]) == list(pod["status"]["containerStatuses"][0])
    assert [c["type"] for c in status["conditions"]] == [c["type"] for c in pod["status"]["conditions"]]
    assert all(set(a) == set(b) for a, b in zip(status["conditions"], pod["status"]["conditions"], strict=True))


def test_the_states_in_between_are_seen_if_starting_takes_time() -> None:
    async def main() -> list[tuple[str, list[str]]]:
        async with small_cluster(latency=0.3) as cluster:
            seen = []
            frames = await cluster.admin.watch(resource("pods"), "default", bookmarks=False)

            async def follow() -> None:
                async for frame in frames:
                    status = frame.object["status"]
                    states = [next(iter(c["state"])) for c in status.get("containerStatuses", [])]
                    seen.append((status["phase"], states))

            task = asyncio.create_task(follow())
            await cluster.create_pod(nginx("plain"))
            await asyncio.sleep(3)
            task.cancel()
            return seen

    seen = run_virtual(main())
    assert seen == [
        ("Pending", []),  # created
        ("Pending", []),  # bound
        ("Pending", ["waiting"]),
        ("Pending", ["waiting"]),  # the sandbox is there
        ("Running", ["running"]),
    ]


@pytest.mark.parametrize(
    ("pod", "grace", "phase", "at_least", "at_most"),
    [
        (nginx("p"), None, "Succeeded", 0, 1),  # ends when told to
        (sleeper("p", terminationGracePeriodSeconds=7), None, "Failed", 7, 8),  # has to be killed
        (sleeper("p", terminationGracePeriodSeconds=30), 2, "Failed", 2, 3),  # less patience than the spec
    ],
)
def test_a_deleted_pod_is_stopped_reported_and_removed(
    pod: Object, grace: int | None, phase: str, at_least: float, at_most: float
) -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(json.loads(json.dumps(pod)))
            await asyncio.sleep(1)
            final: list[Object] = []
            frames = await cluster.admin.watch(resource("pods"), "default", bookmarks=False)

            async def follow() -> None:
                async for frame in frames:
                    final.append(frame.object["status"])

            task = asyncio.create_task(follow())
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=grace)
            took = await until_gone(cluster, "p")
            task.cancel()
            assert at_least <= took <= at_most
            assert final[-1]["phase"] == phase
            state = final[-1]["containerStatuses"][0]["state"]["terminated"]
            assert state["exitCode"] == (0 if phase == "Succeeded" else 137)
            runtime = cluster.runtimes["lifecycle-worker"]
            assert await runtime.list_pod_sandbox() == []
            assert await runtime.list_containers() == []

    run_virtual(main())


def test_a_pre_stop_hook_comes_out_of_the_grace_period() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = sleeper("p", terminationGracePeriodSeconds=5)
            pod["spec"]["containers"][0]["lifecycle"] = {"preStop": {"sleep": {"seconds": 2}}}
            await cluster.create_pod(pod)
            await asyncio.sleep(1)
            await cluster.admin.delete(resource("pods"), "p", "default")
            assert 5 <= await until_gone(cluster, "p") <= 6

    run_virtual(main())


def test_a_pod_removed_by_force_is_stopped_all_the_same() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(nginx("p"))
            await asyncio.sleep(1)
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=0)
            await asyncio.sleep(1)
            assert await cluster.runtimes["lifecycle-worker"].list_pod_sandbox() == []

    run_virtual(main())


def test_a_namesake_gets_its_own_containers() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            first = await cluster.create_pod(nginx("p"))
            await asyncio.sleep(1)
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=0)
            second = await cluster.create_pod(nginx("p"))
            await asyncio.sleep(2)
            sandboxes = await cluster.runtimes["lifecycle-worker"].list_pod_sandbox()
            assert [s.metadata.uid for s in sandboxes] == [second["metadata"]["uid"]]
            assert first["metadata"]["uid"] != second["metadata"]["uid"]
            assert (await cluster.pod("p"))["status"]["phase"] == "Running"

    run_virtual(main())


def test_a_kubelet_that_restarts_finds_its_pods_again() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(nginx("p"))
            await asyncio.sleep(1)
            before = await cluster.pod("p")
            task = cluster.tasks.pop()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            cluster.kubelets.clear()
            old = cluster.runtimes["lifecycle-worker"]
            user, groups = node_user("lifecycle-worker")
            again = new_main_kubelet(
                KubeletConfiguration("lifecycle-worker", "172.19.0.2", "10.244.0.0/24"),
                Dependencies(cluster.client(USER_AGENT, user, groups), old, cluster.clock),
            )
            cluster.run(again)
            await asyncio.sleep(2)
            after = await cluster.pod("p")
            assert after["status"]["containerStatuses"] == before["status"]["containerStatuses"]
            assert len(await old.list_containers()) == 1

    run_virtual(main())


@pytest.mark.parametrize("grace", [0, 30])
def test_a_pod_that_its_source_has_forgotten_holds_no_room_though_it_is_still_being_stopped(grace: int) -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE, latency=RECORDED) as cluster:
            for name in ("first", "second"):
                pod = nginx(name, nodeName="lifecycle-worker")
                pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1500m"}}
                if name == "second":
                    await cluster.admin.delete(resource("pods"), "first", "default", grace_period=grace)
                await cluster.create_pod(pod)
                await asyncio.sleep(0.1 if name == "second" else 10)
            assert len(await cluster.runtimes["lifecycle-worker"].list_containers()) == 1  # the first one's
            phase = (await cluster.pod("second"))["status"]["phase"]
            assert phase == ("Pending" if grace == 0 else "Failed")

    run_virtual(main())


def test_what_does_not_fit_is_refused() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = nginx("p", nodeName="lifecycle-worker")
            pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3"}}
            await cluster.create_pod(pod)
            await asyncio.sleep(1)
            status = (await cluster.pod("p"))["status"]
            assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
            assert status["message"] == (
                "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000"
            )

    run_virtual(main())


NO_EXECUTE = [{"key": "example.com/out", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("before", "now", "fields", "refusal"),
    [
        ({"spec": {"taints": NO_EXECUTE}}, {"spec": {"taints": []}}, {}, None),
        ({"spec": {"taints": NO_EXECUTE}}, {}, {}, "TaintToleration"),
        (
            {"metadata": {"labels": {"disk": "hdd"}}},
            {"metadata": {"labels": {"disk": "ssd"}}},
            {"nodeSelector": {"disk": "ssd"}},
            None,
        ),
        ({"metadata": {"labels": {"disk": "hdd"}}}, {}, {"nodeSelector": {"disk": "ssd"}}, "NodeAffinity"),
    ],
)
def test_a_pod_is_refused_for_what_its_node_says_now_and_not_for_what_it_said(
    before: Object, now: Object, fields: Object, refusal: str | None
) -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.admin.patch(resource("nodes"), "lifecycle-worker", "", before)
            await asyncio.sleep(60)  # the kubelet has seen it
            await cluster.admin.patch(resource("nodes"), "lifecycle-worker", "", now)
            await cluster.create_pod(nginx("p", nodeName="lifecycle-worker", **fields))
            await asyncio.sleep(1)
            status = (await cluster.pod("p"))["status"]
            assert (status["phase"], status.get("reason")) == ("Failed" if refusal else "Running", refusal)

    run_virtual(main())


@pytest.mark.parametrize("grace", [0, 30])
def test_a_pod_that_is_deleted_while_its_node_is_read_anew_never_runs(
    grace: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, gate = NodeRegistration.refresh, asyncio.Event()

    async def slowly(registration: NodeRegistration) -> None:
        await gate.wait()
        await read(registration)

    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            nodes, runtime = resource("nodes"), cluster.runtimes["lifecycle-worker"]
            monkeypatch.setattr(NodeRegistration, "refresh", slowly)
            for name in ("p", "q"):
                await cluster.create_pod(nginx(name, nodeName="lifecycle-worker", nodeSelector={"disk": "ssd"}))
            await asyncio.sleep(1)
            await cluster.admin.patch(nodes, "lifecycle-worker", "", {"metadata": {"labels": {"disk": "ssd"}}})
            await cluster.admin.patch(resource("pods"), "q", "default", {"metadata": {"labels": {"changed": "yes"}}})
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=grace)
            await asyncio.sleep(1)
            assert await runtime.list_pod_sandbox() == []
            gate.set()
            await asyncio.sleep(5)
            assert [box.metadata.name for box in await runtime.list_pod_sandbox()] == ["q"]
            assert list(await cluster.pods("default")) == ["q"]
            assert (await cluster.pod("q"))["status"]["phase"] == "Running"

    run_virtual(main())


def test_a_kubelet_hears_of_its_node_by_a_watch() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            nodes, name = resource("nodes"), "lifecycle-worker"
            registration = cluster.kubelets[name].registration
            await cluster.admin.patch(nodes, name, "", {"metadata": {"labels": {"disk": "ssd"}}})
            await asyncio.sleep(0.01)
            assert registration.node["metadata"]["labels"]["disk"] == "ssd"
            # somebody writes that it was not heard of: with the next lease it says otherwise
            unknown = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
            await cluster.admin.patch(nodes, name, "", unknown, patch_type=STRATEGIC_MERGE_PATCH, subresource="status")
            await asyncio.sleep(11)
            conditions = (await cluster.admin.get(nodes, name))["status"]["conditions"]
            assert [c["status"] for c in conditions if c["type"] == "Ready"] == ["True"]

    run_virtual(main())


def test_a_node_that_is_gone_is_what_it_was_going_to_be() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            nodes, name = resource("nodes"), "lifecycle-worker"
            registration = cluster.kubelets[name].registration
            assert "status" in registration.node_as_known()
            await cluster.admin.delete(nodes, name)
            await asyncio.sleep(30)
            assert "status" not in registration.node_as_known()
            assert (await cluster.admin.list(nodes))["items"] == []

    run_virtual(main())


def test_a_readiness_gate_is_waited_for() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(nginx("p", readinessGates=[{"conditionType": "example.com/gate"}]))
            await asyncio.sleep(1)

            async def is_ready() -> str:
                conditions = (await cluster.pod("p"))["status"]["conditions"]
                return str(next(c["status"] for c in conditions if c["type"] == "Ready"))

            assert await is_ready() == "False"
            patch = {"status": {"conditions": [{"type": "example.com/gate", "status": "True"}]}}
            await cluster.admin.patch(
                resource("pods"), "p", "default", patch, patch_type=STRATEGIC_MERGE_PATCH, subresource="status"
            )
            await asyncio.sleep(1)
            assert await is_ready() == "True"

    run_virtual(main())


def test_the_node_says_what_the_recorded_ones_say() -> None:
    async def main() -> Object:
        async with small_cluster() as cluster:
            return await cluster.admin.get(resource("nodes"), "lifecycle-worker")

    node = run_virtual(main())
    with (RECORDINGS / "kind-1.36.2" / "http" / "objects.jsonl").open() as lines:
        exchange = next(e for e in map(json.loads, lines) if e["path"] == "/api/v1/nodes" and e["status"] == 200)
    recorded = next(n for n in exchange["response"]["items"] if n["metadata"]["name"] == "lifecycle-worker")
    assert list(node["status"]) == list(recorded["status"])
    volatile = {"lastHeartbeatTime", "lastTransitionTime"}
    for ours, theirs in zip(node["status"]["conditions"], recorded["status"]["conditions"], strict=True):
        assert {k: v for k, v in ours.items() if k not in volatile} == {
            k: v for k, v in theirs.items() if k not in volatile
        }
    for field in (
        "capacity",
        "allocatable",
        "daemonEndpoints",
        "images",
        "runtimeHandlers",
        "features",
        "declaredFeatures",
    ):
        assert node["status"][field] == recorded["status"][field], field
    machine = {"machineID", "systemUUID", "bootID", "kernelVersion"}
    assert {k: v for k, v in node["status"]["nodeInfo"].items() if k not in machine} == {
        k: v for k, v in recorded["status"]["nodeInfo"].items() if k not in machine
    }
    assert node["metadata"]["labels"] == recorded["metadata"]["labels"]
    assert node["spec"]["providerID"] == recorded["spec"]["providerID"]


def test_the_lease_is_renewed_every_ten_seconds_and_the_status_every_five_minutes() -> None:
    async def main() -> None:
        counts = Counter[str]()

        async def count(request: Request) -> None:
            counts[f"{request.method} {request.path}"] += 1

        async with small_cluster(nodes=ONE_NODE, first=count):
            counts.clear()
            await asyncio.sleep(600)
            lease = counts["PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/lifecycle-worker"]
            assert 59 <= lease <= 61
            assert counts["PATCH /api/v1/nodes/lifecycle-worker/status"] in (1, 2)

    run_virtual(main())


def test_a_container_that_gets_another_image_begins_anew_with_its_back_off() -> None:
    """After four failures it would wait 80 seconds; after a change it waits as after its first failure."""

    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = sleeper("crash")
            pod["spec"]["containers"][0]["command"] = ["sh", "-c", "sleep 1; exit 1"]
            await cluster.create_pod(pod)

            async def restarts() -> int:
                status = (await cluster.pod("crash"))["status"]["containerStatuses"][0]
                return int(status["restartCount"])

            await asyncio.sleep(100)
            assert await restarts() == 4
            image = {"spec": {"containers": [{"name": "c", "image": "busybox:1.37"}]}}
            await cluster.admin.patch(resource("pods"), "crash", "default", image, patch_type=STRATEGIC_MERGE_PATCH)
            await asyncio.sleep(5)
            assert await restarts() == 5
            await asyncio.sleep(12)
            assert await restarts() == 6

    run_virtual(main())


def test_a_long_back_off_is_kept_to_half_a_minute() -> None:
    async def main() -> list[int]:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = sleeper("crash")
            pod["spec"]["containers"][0]["command"] = ["sh", "-c", "exit 1"]
            await cluster.create_pod(pod)
            restarted: list[int] = []
            for second in range(1500):
                await asyncio.sleep(1)
                for status in (await cluster.pod("crash"))["status"].get("containerStatuses", ()):
                    restarted += [second] * (status["restartCount"] - len(restarted))
            return [later - earlier for earlier, later in itertools.pairwise(restarted)]

    waited = run_virtual(main())
    for took, least in zip(waited, (10, 20, 40, 80, 160, 300), strict=False):
        assert least <= took <= least + 32
    assert len(waited) >= 6


def test_back_off_doubles_up_to_five_minutes() -> None:
    backoff, now, periods = Backoff(), 0.0, []
    for _ in range(7):
        backoff.next("c", now)
        periods.append(backoff.get("c"))
        now += periods[-1]
    assert periods == [10, 20, 40, 80, 160, 300, 300]
    assert not backoff.is_in_backoff_since("c", now, now + 601)
    assert [go_duration(p) for p in (10, 80, 160, 300, 3661)] == ["10s", "1m20s", "2m40s", "5m0s", "1h1m1s"]


def test_an_image_that_cannot_be_had_is_said_so() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = nginx("p")
            pod["spec"]["containers"][0]["image"] = "image-that-does-not-exist"
            await cluster.create_pod(pod)
            await asyncio.sleep(1)
            waiting = (await cluster.pod("p"))["status"]["containerStatuses"][0]["state"]["waiting"]
            assert waiting["reason"] in ("ErrImagePull", "ImagePullBackOff")
            assert "docker.io/library/image-that-does-not-exist:latest" in waiting["message"]
            reasons = {event["reason"] for event in await cluster.events("default")}
            assert {"Pulling", "Failed"} <= reasons

    run_virtual(main())


def test_a_node_streams_the_lists_that_it_follows() -> None:
    """As client-go does since 1.35: one request about its own pods and one about itself, each both list and watch."""
    asked: list[tuple[str, str, str]] = []

    async def note(request: Request) -> None:
        selector = request.param("fieldSelector")
        if request.method == "GET" and selector in ("spec.nodeName=lifecycle-worker", "metadata.name=lifecycle-worker"):
            asked.append((request.path, request.param("watch"), request.param("sendInitialEvents")))

    async def main() -> str:
        async with small_cluster(nodes=ONE_NODE, first=note) as cluster:
            await cluster.create_pod(nginx("plain"))
            await asyncio.sleep(1)
            return str((await cluster.pod("plain"))["status"]["phase"])

    assert run_virtual(main()) == "Running"
    assert sorted(asked) == [("/api/v1/nodes", "true", "true"), ("/api/v1/pods", "true", "true")]
