"""The same with real containers: until the machines are up, and until three pods of a Deployment are Ready.

Each figure with our own runtime and with containerd; where this machine cannot, there is nothing to measure.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.journey import DEPLOYMENTS, deployment, until_ready
from benchmarks.measure import Result, https_transport, served_cluster, stopwatch
from lifecycle.client.rest import Client

RUNS = 3


async def measure(runtime: str) -> tuple[float, float]:
    """Seconds from the start of the process to `ready`, and from create to three Ready."""
    elapsed = stopwatch()
    with tempfile.TemporaryDirectory() as tmp:
        async with served_cluster(Path(tmp), "--runtime", runtime) as (_, kubeconfig):
            up = elapsed()
            transport = https_transport(kubeconfig)
            client = Client(transport, "benchmarks")
            try:
                elapsed = stopwatch()
                await client.create(DEPLOYMENTS, deployment("nginx", 3), "default")
                await until_ready(client, "nginx", 3)
                return up, elapsed()
            finally:
                await transport.close()


async def run() -> list[Result]:
    """Two figures for each runtime; none where real containers cannot be had."""
    from lifecycle.cluster.linux.requirements import missing

    results = []
    for runtime in ("sandbox", "containerd"):
        if why := missing(runtime):
            print(f"  {runtime}: {why[0]}", file=sys.stderr)
            continue
        samples = [await measure(runtime) for _ in range(RUNS)]
        for number, name in enumerate(("boot, 3 nodes", "create to 3 pods Ready")):
            seconds = [sample[number] for sample in samples]
            note = "real containers, iptables and VXLAN; the image is unpacked in the second figure"
            results.append(Result(f"{name} ({runtime})", "s", statistics.median(seconds), samples=seconds, note=note))
    return results
