"""A pod's time to go: counted from the first deletion, and only ever shortened."""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

PODS = resource("pods")


def test_a_deletion_can_be_hurried_but_not_put_off() -> None:
    async def main(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        await client.create(resource("serviceaccounts"), {"metadata": {"name": "default"}}, "default")
        spec = {"nodeName": "n", "containers": [{"name": "c", "image": "nginx"}]}
        await client.create(PODS, {"metadata": {"name": "p"}, "spec": spec}, "default")
        found: list[Any] = []

        async def delete(grace: int | None) -> None:
            await asyncio.sleep(1)
            meta: Object = (await client.delete(PODS, "p", "default", grace_period=grace))["metadata"]
            begun.append(parse_time(meta["deletionTimestamp"]) - meta["deletionGracePeriodSeconds"])
            found.append((meta["deletionGracePeriodSeconds"], meta["generation"]))

        begun: list[float] = []
        for grace in (20, 60, None, 20, 7, 15):
            await delete(grace)
        assert found == [(20, 2), (20, 2), (20, 2), (20, 2), (7, 2), (7, 2)]
        assert set(begun) == {begun[0]}

    rehearse(main, without=("controllers", "kubelet", "scheduler"))
