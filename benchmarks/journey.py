"""How long until a cluster is up, and until a Deployment's three pods are Ready."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from benchmarks.measure import Result, https_transport, repeated, served_cluster, stopwatch
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

DEPLOYMENTS = resource("deployments.apps")


def deployment(name: str, replicas: int) -> Object:
    """What `kubectl create deployment` sends."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
            },
        },
    }


async def until_ready(client: Client, name: str, replicas: int) -> None:
    """Watch the Deployment until all its replicas are Ready."""
    stream = await client.watch(DEPLOYMENTS, "default", field_selector=f"metadata.name={name}", resource_version="0")
    async for frame in stream:
        if frame.object.get("status", {}).get("readyReplicas", 0) >= replicas:
            return


async def boot() -> Result:
    """A process from its start to `ready`."""

    async def once() -> float:
        elapsed = stopwatch()
        with tempfile.TemporaryDirectory() as tmp:
            async with served_cluster(Path(tmp)):
                return elapsed()

    return await repeated("boot, 3 nodes", "s", once, 5, 1.5, "interpreter start included")


async def _to_three_ready(client: Client, name: str) -> Result:
    """Create a Deployment and wait for its three pods, fifteen times."""
    counter = iter(range(1000))

    async def once() -> float:
        deployed = f"nginx-{next(counter)}"
        elapsed = stopwatch()
        await client.create(DEPLOYMENTS, deployment(deployed, 3), "default")
        await until_ready(client, deployed, 3)
        return elapsed() * 1000

    return await repeated(name, "ms", once, 15, 150)


async def in_process() -> Result:
    """Create to 3 Ready through the in-process transport."""
    cluster = Cluster(ClusterConfig(https=False))
    await cluster.start()
    try:
        return await _to_three_ready(cluster.client("bench"), "deployment to 3 Ready, in process")
    finally:
        await cluster.stop()


async def over_https() -> Result:
    """The same from another process over HTTPS."""
    with tempfile.TemporaryDirectory() as tmp:
        async with served_cluster(Path(tmp)) as (_, kubeconfig):
            transport = https_transport(kubeconfig)
            try:
                return await _to_three_ready(Client(transport, "bench"), "deployment to 3 Ready, over HTTPS")
            finally:
                await transport.close()


async def run() -> list[Result]:
    """All three."""
    return [await boot(), await in_process(), await over_https()]


if __name__ == "__main__":
    for result in asyncio.run(run()):
        print(f"{result.name}: {result.value:.3g} {result.unit}")
