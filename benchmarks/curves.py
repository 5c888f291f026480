"""How what something costs grows with its size: pods, nodes, Services, watchers, bytes of an object.

Pods and nodes in seconds of the processor, as a cluster of ours is one process. What a real API server can be asked as well is asked of
it in the same run, where `KUBE_BIN` says where it is: how long the last of many watchers waits, and what a large object costs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from benchmarks.beside_real import Side, memory, real
from benchmarks.load import from_kubeconfig
from benchmarks.measure import Result, https_transport, stopwatch
from benchmarks.scale import in_process_of_its_own
from benchmarks.services import ENDPOINTS, Rules
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client

CONFIGMAPS = resource("configmaps")
TIMES = 5
NODES_FOR_PODS = 1_000
PODS = (100, 1_000, 10_000)
NODES = (10, 100, 1_000, 5_000)
SERVICES = (50, 500, 5_000)
WATCHERS = (10, 100, 1_000)
KILOBYTES = (1, 10, 100, 1_000)


def point(curve: str, at: int, value: float, unit: str, note: str = "") -> Result:
    """One point of a curve."""
    return Result(f"curve: {curve}, {at:,}", unit, value, note=note, curve=curve, at=at)


async def median(run: Callable[[], Awaitable[float]]) -> float:
    """Of `TIMES` runs after one that does not count."""
    await run()
    return statistics.median([await run() for _ in range(TIMES)])


async def pods_and_nodes() -> list[Result]:
    """Clusters in processes of their own."""
    points = []
    for pods in PODS:
        figures = await in_process_of_its_own(NODES_FOR_PODS, pods)
        points.append(point("pods to Running", pods, figures["running_cpu"], "s", "processor time, 1,000 nodes"))
    for nodes in NODES:
        figures = await in_process_of_its_own(nodes, 1)
        points.append(point("nodes to Ready", nodes, figures["boot_cpu"], "s", "processor time"))
    return points


async def services() -> list[Result]:
    """All rules of kube-proxy, and one change."""
    points = []
    for count in SERVICES:
        rules = Rules(count)
        note = f"Services of {ENDPOINTS} endpoints"
        points.append(point("Services, all rules", count, await median(rules.full_sync), "s", note))
        points.append(point("Services, one change", count, await median(rules.one_change) / 1000, "s", note))
    return points


@contextlib.asynccontextmanager
async def _watched(kubeconfig: Path, count: int) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """`count` watches; what is yielded writes once, and returns the seconds until the last of them has heard of it."""
    writing, watching = https_transport(kubeconfig), https_transport(kubeconfig)
    client, watcher = Client(writing, "bench"), Client(watching, "bench-watch")
    start = (await client.list(CONFIGMAPS, "default"))["metadata"]["resourceVersion"]
    streams = [
        await watcher.watch(CONFIGMAPS, "default", bookmarks=False, resource_version=start) for _ in range(count)
    ]
    heard, made, everybody = 0, 0, asyncio.Event()

    async def follow(number: int) -> None:
        nonlocal heard
        async for frame in streams[number]:
            if frame.object["metadata"]["name"].startswith("told-"):
                heard += 1
                if heard == made * count:
                    everybody.set()

    async def write() -> float:
        nonlocal made
        made += 1
        everybody.clear()
        elapsed = stopwatch()
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"told-{count}-{made}"}}
        await client.create(CONFIGMAPS, config_map, "default")
        async with asyncio.timeout(60):
            await everybody.wait()
        return elapsed()

    tasks = [asyncio.ensure_future(follow(number)) for number in range(count)]
    try:
        yield write
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await writing.close()
        await watching.close()


async def _object_of(kubeconfig: Path, kilobytes: int) -> float:
    """Seconds for an object of this size to be made and read once, one request after the other."""
    generator = from_kubeconfig(kubeconfig, connections=1)
    path, number = "/api/v1/namespaces/default/configmaps", 0

    def body() -> bytes:
        nonlocal number
        number += 1
        metadata = {"name": f"large-{kilobytes}-{number}"}
        data = {"text": "x" * (1000 * kilobytes)}
        return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}).encode()

    async def once() -> float:
        made = await generator.run(lambda: generator.request("POST", path, body()), 201, requests=1)
        read = generator.request("GET", f"{path}/large-{kilobytes}-{number}")
        return 1 / made + 1 / await generator.run(lambda: read, 200, requests=1)

    return await median(once)


async def api_server(side: Side, whose: str) -> list[Result]:
    """Watchers and objects of one server."""
    points = []
    with tempfile.TemporaryDirectory() as folder:
        async with side(Path(folder)) as kubeconfig:
            for count in WATCHERS:
                async with _watched(kubeconfig, count) as write:
                    points.append(point(f"watchers, the last one{whose}", count, await median(write), "s"))
            for kilobytes in KILOBYTES:
                took = await _object_of(kubeconfig, kilobytes)
                points.append(point(f"kilobytes, written and read{whose}", kilobytes, took, "s"))
    return points


async def run() -> list[Result]:
    """All curves."""
    points = [*await services(), *await api_server(memory, "")]
    if os.environ.get("KUBE_BIN"):
        points += await api_server(real, " (real)")
    else:
        print("  without the real API server: KUBE_BIN does not say where Kubernetes' own programs are")
    return points + await pods_and_nodes()
