"""Kubernetes' own tested size, 5,000 nodes and 150,000 pods, in one process of Python.

It takes the better part of an hour and some 9 GB, so it is run only if asked for by name: `python -m benchmarks largest`.

Upstream: https://kubernetes.io/docs/setup/best-practices/cluster-large/.
"""

from __future__ import annotations

from benchmarks.measure import Result
from benchmarks.scale import in_process_of_its_own

NODES, PODS = 5_000, 150_000


async def run() -> list[Result]:
    """One run: there is no time for a second."""
    figures = await in_process_of_its_own(NODES, PODS)
    size = f"{PODS:,} pods on {NODES:,} nodes"
    return [
        Result(f"{size}, all Running", "s", figures["running"], 600),
        Result(f"{size}, processor time", "s", figures["running_cpu"]),
        Result(f"{size}, a second", "1/s", PODS / figures["running"], 250, "higher"),
        Result(f"{size}, memory", "MiB", figures["memory"], 10_240),
    ]
