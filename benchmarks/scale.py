"""A thousand nodes and ten thousand pods on the hollow runtime: time until all are Running, and memory.

Runs in a process of its own (`python -m benchmarks.scale NODES PODS`), so that the memory is the cluster's alone.
"""

from __future__ import annotations

import asyncio
import json
import sys

from benchmarks.journey import DEPLOYMENTS, deployment
from benchmarks.measure import Result, peak_memory_mib, stopwatch
from lifecycle.api.resources import resource
from lifecycle.cluster.background import favour_throughput, new_event_loop
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig


async def measure(nodes: int, pods: int) -> dict[str, float]:
    """Seconds to boot, seconds from the first create to all pods Running, peak MiB."""
    elapsed = stopwatch()
    cluster = Cluster(ClusterConfig(nodes=nodes, https=False, ready_timeout=300))
    await cluster.start()
    booted = elapsed()
    favour_throughput()
    client = cluster.client("bench")
    running: set[str] = set()
    done = asyncio.Event()

    async def count() -> None:
        stream = await client.watch(resource("pods"), "default", resource_version="0", bookmarks=False)
        async for frame in stream:
            if frame.object.get("status", {}).get("phase") == "Running":
                running.add(frame.object["metadata"]["uid"])
                if len(running) >= pods:
                    done.set()
                    return

    counting = asyncio.ensure_future(count())
    elapsed = stopwatch()
    deployments = max(1, pods // 1000)
    for number in range(deployments):
        await client.create(DEPLOYMENTS, deployment(f"load-{number}", pods // deployments), "default")
    await done.wait()
    took = elapsed()
    counting.cancel()
    await cluster.stop()
    return {"boot": booted, "running": took, "memory": peak_memory_mib()}


async def run() -> list[Result]:
    """In a fresh process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.scale", "1000", "10000", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    figures = json.loads(out)
    return [
        Result("boot, 1,000 nodes", "s", figures["boot"]),
        Result("10,000 pods Running on 1,000 nodes", "s", figures["running"], 60),
        Result("memory with 10,000 pods", "MiB", figures["memory"], 2048),
    ]


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        print(json.dumps(runner.run(measure(int(sys.argv[1]), int(sys.argv[2])))))
