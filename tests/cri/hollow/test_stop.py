"""A hollow node is switched off with its cluster."""

from __future__ import annotations

import asyncio

from lifecycle.api.resources import resource
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.rehearsal import rehearse


def test_no_program_is_played_on_when_the_cluster_has_stopped() -> None:
    async def scene(cluster: Cluster) -> None:
        container = {"name": "sleeper", "image": "busybox", "command": ["sleep", "1000"]}
        pod = {"metadata": {"name": "sleeper"}, "spec": {"containers": [container]}}
        await cluster.client("kubectl").create(resource("pods"), pod, "default")
        await asyncio.sleep(10)
        before = played()
        await cluster.stop()
        assert (before, played()) == (1, 0)

    def played() -> int:
        return sum("_play" in repr(task.get_coro()) for task in asyncio.all_tasks())

    rehearse(scene, nodes=1)
