"""Ten thousand pods on a thousand and on five thousand nodes of the hollow runtime: time until all are Running, memory.

Runs in a process of its own (`python -m benchmarks.scale NODES PODS`), so that the memory is the cluster's alone.
"""

from __future__ import annotations

import asyncio
import json
import sys

from benchmarks.journey import DEPLOYMENTS, deployment
from benchmarks.measure import Result, peak_memory_mib, processor_stopwatch, stopwatch
from lifecycle.api.resources import resource
from lifecycle.cluster.background import favour_throughput, new_event_loop
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

PODS = 10_000
TOLD = 5_000
"""After so many pods a line says how far it is."""


def tell(what: str, seconds: float) -> None:
    """How far it is, for who waits: on standard error, as the figures are on standard output."""
    print(f"  {seconds:7.1f} s  {what} ({peak_memory_mib():,.0f} MiB)", file=sys.stderr, flush=True)


async def measure(nodes: int, pods: int) -> dict[str, float]:
    """Seconds to boot, seconds from the first create to all pods Running (both also in seconds of the processor, which
    say something on a busy machine, too), peak MiB.
    """
    favour_throughput()
    elapsed, computed = stopwatch(), processor_stopwatch()
    cluster = Cluster(ClusterConfig(nodes=nodes, https=False, ready_timeout=1200))
    await cluster.start()
    booted, boot_computed = elapsed(), computed()
    tell(f"{nodes:,} nodes are there", booted)
    favour_throughput()
    client = cluster.client("bench")
    running: set[str] = set()
    done = asyncio.Event()

    async def count() -> None:
        stream = await client.watch(resource("pods"), "default", resource_version="0", bookmarks=False)
        async for frame in stream:
            if frame.object.get("status", {}).get("phase") == "Running":
                before = len(running)
                running.add(frame.object["metadata"]["uid"])
                if len(running) > before and not len(running) % TOLD:
                    tell(f"{len(running):,} of {pods:,} pods are Running", elapsed())
                if len(running) >= pods:
                    done.set()
                    return

    counting = asyncio.ensure_future(count())
    elapsed, computed = stopwatch(), processor_stopwatch()
    deployments = max(1, pods // 1000)
    for number in range(deployments):
        await client.create(DEPLOYMENTS, deployment(f"load-{number}", pods // deployments), "default")
    await done.wait()
    took, pods_computed = elapsed(), computed()
    counting.cancel()
    await cluster.stop()
    return {
        "boot": booted,
        "boot_cpu": boot_computed,
        "running": took,
        "running_cpu": pods_computed,
        "memory": peak_memory_mib(),
    }


async def in_process_of_its_own(nodes: int, pods: int) -> dict[str, float]:
    """What `measure` returns."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.scale", str(nodes), str(pods), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    figures: dict[str, float] = json.loads(out)
    return figures


async def run() -> list[Result]:
    """Each size in a fresh process."""
    small = await in_process_of_its_own(1_000, PODS)
    large = await in_process_of_its_own(5_000, PODS)
    return [
        Result("boot, 1,000 nodes", "s", small["boot"]),
        Result("boot, 1,000 nodes, processor time", "s", small["boot_cpu"]),
        Result("10,000 pods Running on 1,000 nodes", "s", small["running"], 60),
        Result("10,000 pods Running on 1,000 nodes, processor time", "s", small["running_cpu"]),
        Result("pods Running on 1,000 nodes", "1/s", PODS / small["running"], 250, "higher"),
        Result("memory with 10,000 pods", "MiB", small["memory"], 2048),
        Result("boot, 5,000 nodes", "s", large["boot"], 15),
        Result("boot, 5,000 nodes, processor time", "s", large["boot_cpu"]),
        Result("pods Running on 5,000 nodes", "1/s", PODS / large["running"], 250, "higher"),
        Result("10,000 pods Running on 5,000 nodes, processor time", "s", large["running_cpu"]),
        Result("memory with 10,000 pods on 5,000 nodes", "MiB", large["memory"]),
    ]


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        print(json.dumps(runner.run(measure(int(sys.argv[1]), int(sys.argv[2])))))
