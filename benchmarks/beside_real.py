"""Requests per second of the real kube-apiserver and of ours, in one run, from the same load generator on the same cores.

The real one stands over an etcd. Ours stands over its own memory, over sqlite, and over an etcd of the same kind. The sides take turns,
so that whatever else the machine does meets all of them. Needs `KUBE_BIN`, where Kubernetes' own programs are, and Debian's etcd.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from tests.etcd.real_etcd import RealEtcd
from tests.live.real_programs import RealControlPlane

from benchmarks.load import from_kubeconfig, measure
from benchmarks.measure import Result, served_cluster

ROUNDS = 3
BARE = ("--without", "scheduler,controllers,kubelet,dns,proxy")
IN_PROCESS_GOALS = {"create_configmap": 3, "create_pod": 3, "get": 3, "list_500_pods": 15}
GOALS: dict[str, dict[str, float]] = {
    "memory": IN_PROCESS_GOALS,
    "sqlite": IN_PROCESS_GOALS,
    "etcd": {"create_configmap": 1.3, "create_pod": 1.3, "get": 1.2},
}

Side = Callable[[Path], contextlib.AbstractAsyncContextManager[Path]]
"""A server that has a folder for itself; yields its administrator's kubeconfig."""


@contextlib.asynccontextmanager
async def real(folder: Path) -> AsyncIterator[Path]:
    """Kubernetes' own, over an etcd that does not wait for the disk."""
    with RealControlPlane(folder, "bare", controllers=False) as plane:
        yield plane.kubeconfig


@contextlib.asynccontextmanager
async def memory(folder: Path) -> AsyncIterator[Path]:
    """Ours, as `lifecycle up` starts it."""
    async with served_cluster(folder, *BARE) as (_, kubeconfig):
        yield kubeconfig


@contextlib.asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Path]:
    """Ours, and what it was told is still there tomorrow."""
    async with served_cluster(folder, f"--store=sqlite:{folder / 'objects.db'}", *BARE) as (_, kubeconfig):
        yield kubeconfig


@contextlib.asynccontextmanager
async def etcd(folder: Path) -> AsyncIterator[Path]:
    """Ours over the same etcd with the same options."""
    store = RealEtcd(folder, "--unsafe-no-fsync")
    store.start()
    try:
        async with served_cluster(folder, f"--store=etcd:{store.url}", *BARE) as (_, kubeconfig):
            yield kubeconfig
    finally:
        store.kill()


async def asked(side: Side) -> dict[str, float]:
    """Its figures, after a second of everything as a warm-up."""
    with tempfile.TemporaryDirectory() as folder:
        async with side(Path(folder)) as kubeconfig:
            generator = from_kubeconfig(kubeconfig)
            await measure(generator, seconds=1.0)
            return await measure(generator)


async def run() -> list[Result]:
    """The real server's figures, and how many times as many requests ours answers: the medians of `ROUNDS` rounds."""
    if not os.environ.get("KUBE_BIN"):
        print("  left out: KUBE_BIN does not say where Kubernetes' own programs are")
        return []
    sides: dict[str, Side] = {"real": real, "memory": memory, "sqlite": sqlite, "etcd": etcd}
    rounds = [{name: await asked(side) for name, side in sides.items()} for _ in range(ROUNDS)]
    results = []
    for what in IN_PROCESS_GOALS:
        samples = {name: [one[name][what] for one in rounds] for name in sides}
        figures = {name: statistics.median(values) for name, values in samples.items()}
        words = what.replace("_", " ")
        results.append(Result(f"the real API server: {words}", "1/s", figures["real"], None, "higher", samples["real"]))
        for name, goals in GOALS.items():
            times = figures[name] / figures["real"]
            note = f"{figures[name]:,.0f} a second"
            of_rounds = [own / theirs for own, theirs in zip(samples[name], samples["real"], strict=True)]
            results.append(
                Result(f"ours over {name}: {words}", "times", times, goals.get(what), "higher", of_rounds, note)
            )
    return results
