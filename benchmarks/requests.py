"""Requests per second over HTTPS, eight connections, load generator and server on the same cores.

The goals are twice what a real kube-apiserver 1.36.2 with etcd does on a 2-core machine; for lists, ten times.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.load import from_kubeconfig, measure
from benchmarks.measure import Result, served_cluster

GOALS = {"create_configmap": 1400, "create_pod": 1200, "get": 3100, "list_500_pods": 400}


async def run() -> list[Result]:
    """The four figures, from a cluster without control loops."""
    with tempfile.TemporaryDirectory() as folder:
        async with served_cluster(Path(folder), "--without", "scheduler,controllers,kubelet") as (_, kubeconfig):
            generator = from_kubeconfig(kubeconfig)
            await measure(generator, seconds=1.0)
            figures = await measure(generator)
    return [
        Result(name.replace("_", " "), "1/s", value, GOALS[name], better="higher", samples=[value])
        for name, value in figures.items()
    ]
