"""One change, a hundred watchers: how long until the last one has it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from benchmarks.measure import Result, https_transport, repeated, served_cluster, stopwatch
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client

CONFIGMAPS = resource("configmaps")
WATCHERS = 100
CHANGES = 100


async def run() -> list[Result]:
    """A hundred watches over HTTPS, a hundred changes: events delivered per second, and the delay of a single change."""
    with tempfile.TemporaryDirectory() as tmp:
        async with served_cluster(Path(tmp), "--without", "scheduler,controllers,kubelet") as (_, kubeconfig):
            transport = https_transport(kubeconfig)
            watching = https_transport(kubeconfig)  # watches keep their connections; the writer needs one of its own
            client, watcher = Client(transport, "bench"), Client(watching, "bench-watch")
            seen = [0] * WATCHERS
            changed = asyncio.Condition()
            streams = [await watcher.watch(CONFIGMAPS, "default", bookmarks=False) for _ in range(WATCHERS)]

            async def follow(number: int) -> None:
                async for frame in streams[number]:
                    if frame.object["metadata"]["name"].startswith("fanout-"):
                        seen[number] += 1
                        async with changed:
                            changed.notify_all()

            tasks = [asyncio.ensure_future(follow(number)) for number in range(WATCHERS)]
            counter = iter(range(100_000))
            made = 0

            async def change(count: int) -> float:
                nonlocal made
                elapsed = stopwatch()
                for _ in range(count):
                    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"fanout-{next(counter)}"}}
                    await client.create(CONFIGMAPS, obj, "default")
                made += count
                async with changed:
                    await changed.wait_for(lambda: min(seen) >= made)
                return elapsed()

            async def one() -> float:
                return await change(1) * 1000

            async def many() -> float:
                return CHANGES * WATCHERS / await change(CHANGES)

            try:
                first = await repeated("one change to 100 watchers, over HTTPS", "ms", one, 15, None)
                rate = await repeated("events delivered to 100 watchers, over HTTPS", "1/s", many, 3, None)
                rate.better = "higher"
                return [first, rate]
            finally:
                for task in tasks:
                    task.cancel()
                await transport.close()
                await watching.close()
