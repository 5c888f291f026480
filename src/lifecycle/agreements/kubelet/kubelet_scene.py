"""A short scene on one node of our own, played once: pods whose stories claims about
the kubelet are put to.

Kept apart from the recorded pods: these are made so that a hook hangs for long, a
deadline passes, a container crashes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.rehearsal import on_virtual_time

SLEEP = ["sh", "-c", "sleep 3600"]


def _pod(name: str, container: Object | None = None, **spec: Any) -> Object:
    own = {"name": "c", "image": "busybox", "command": SLEEP, **(container or {})}
    return {
        "metadata": {"name": name},
        "spec": {"containers": [own], "terminationGracePeriodSeconds": 1} | spec,
    }


PODS = (
    _pod("plain"),
    _pod("deadline", activeDeadlineSeconds=3),
    _pod("crash", {"command": ["sh", "-c", "exit 1"]}),
    _pod(
        "slow-hook",
        {"lifecycle": {"postStart": {"sleep": {"seconds": 20}}}},
        terminationGracePeriodSeconds=30,
    ),
    _pod("bad-hook", {"lifecycle": {"postStart": {"exec": {"command": ["false"]}}}}),
    _pod(
        "init",
        initContainers=[
            {"name": "one", "image": "busybox", "command": ["sh", "-c", "sleep 3"]},
            {
                "name": "side",
                "image": "busybox",
                "command": SLEEP,
                "restartPolicy": "Always",
            },
        ],
    ),
)


@dataclass(slots=True)
class Scene:
    """Every status of each pod in order, with its second; all calls to the runtime in
    order; and the events.
    """

    statuses: dict[str, list[tuple[float, Object]]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    events: list[Object] = field(default_factory=list)
    pods: dict[str, Object] = field(default_factory=dict)


@lru_cache(maxsize=1)
def scene() -> Scene:
    """Forty seconds on one node."""
    return on_virtual_time(_play())


async def _play() -> Scene:
    cluster, played = (
        Cluster(ClusterConfig(nodes=1, seed=1, https=False, latency=0.1)),
        Scene(),
    )
    await cluster.start()
    try:
        client, loop = cluster.client("audience"), asyncio.get_running_loop()
        [runtime] = cluster.runtimes.values()
        for name in (
            "run_pod_sandbox",
            "create_container",
            "start_container",
            "exec_sync",
        ):
            _listen(runtime, name, played.calls)
        nodes = resource("nodes")
        node = (await client.list(nodes))["items"][0]["metadata"]["name"]
        await client.patch(nodes, node, "", {"spec": {"taints": None}})
        await asyncio.sleep(1)
        frames = await client.watch(resource("pods"), "default", bookmarks=False)

        async def follow() -> None:
            async for frame in frames:
                seen = played.statuses.setdefault(frame.object["metadata"]["name"], [])
                seen.append((loop.time(), frame.object["status"]))

        following = asyncio.create_task(follow())
        for pod in PODS:
            await client.create(resource("pods"), pod, "default")
        await asyncio.sleep(40)
        played.pods = {
            p["metadata"]["name"]: p
            for p in (await client.list(resource("pods"), "default"))["items"]
        }
        played.events = list(
            (await client.list(resource("events"), "default"))["items"]
        )
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    finally:
        await cluster.stop()
    return played


def _listen(runtime: Any, name: str, calls: list[tuple[str, str]]) -> None:
    """Write down every call of one method, with whom it was about."""
    real = getattr(runtime, name)

    async def listened(first: Any, *rest: Any, **more: Any) -> Any:
        config = rest[0] if name == "create_container" else first
        metadata = getattr(config, "metadata", None)
        calls.append((name, metadata.name if metadata else str(first)))
        answer = await real(first, *rest, **more)
        if name == "create_container":
            calls.append(("created", str(answer)))
        return answer

    setattr(runtime, name, listened)
