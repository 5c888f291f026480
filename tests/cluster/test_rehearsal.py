"""Scenes on virtual time: the same each time, whoever plays them, and slowed down as asked."""

from __future__ import annotations

import asyncio
import time

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, on_virtual_time, rehearse

MAPS = resource("configmaps")


def replica_set(replicas: int) -> Object:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": spec}


async def three_pods(cluster: RehearsedCluster) -> list[str]:
    await cluster.client("kubectl").create(resource("replicasets.apps"), replica_set(3), "default")
    await asyncio.sleep(600)
    return [pod["metadata"]["name"] for pod in await cluster.items("pods")]


def test_a_scene_takes_no_time_and_has_the_same_names_twice() -> None:
    begin = time.monotonic()
    assert rehearse(three_pods) == rehearse(three_pods)
    assert time.monotonic() - begin < 60


def test_a_scene_can_be_played_where_a_loop_runs_already() -> None:
    async def notebook() -> list[str]:
        return rehearse(three_pods)

    assert len(asyncio.run(notebook())) == 3


def test_errors_of_a_scene_reach_the_caller() -> None:
    async def fails(cluster: RehearsedCluster) -> None:
        raise KeyError("in the scene")

    with pytest.raises(KeyError, match="in the scene"):
        rehearse(fails, nodes=1)


def test_writes_take_their_time_and_everything_is_written_down() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        begin = asyncio.get_running_loop().time()
        await cluster.client("kubectl").create(MAPS, {"metadata": {"name": "m"}}, "default")
        assert asyncio.get_running_loop().time() - begin == pytest.approx(0.25)
        [asked] = cluster.requests("kubectl", "POST")
        assert (asked.path, asked.status, asked.at) == ("/api/v1/namespaces/default/configmaps", 201, begin)
        assert {"kubelet", "kube-scheduler"} <= {asked.component for asked in cluster.asked}

    rehearse(scene, nodes=1, latency=0.25)


def test_late_watches_keep_order_and_distance() -> None:
    async def scene(cluster: RehearsedCluster) -> list[tuple[float, str]]:
        loop = asyncio.get_running_loop()
        user, watcher = cluster.client("kubectl"), cluster.client("kube-controller-manager")
        seen = []

        async def follow() -> None:
            async for frame in await watcher.watch(MAPS, ""):
                if frame.type == "ADDED" and frame.object["metadata"]["name"] in "abc":
                    seen.append((round(loop.time() - begin, 3), frame.object["metadata"]["name"]))

        begin = loop.time()
        following = asyncio.create_task(follow())
        for name in "abc":
            await user.create(MAPS, {"metadata": {"name": name}}, "default")
            await asyncio.sleep(0.1)
        await asyncio.sleep(10)
        following.cancel()
        return seen

    assert rehearse(scene, nodes=1, late_watches={"configmaps": 2.0}) == [(2.0, "a"), (2.1, "b"), (2.2, "c")]


def test_virtual_time_for_any_coroutine() -> None:
    async def later() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert on_virtual_time(later()) == 3600
