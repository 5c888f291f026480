"""The end of a container held against a recorded node: a pod with a `preStop` hook, and
a program that does not hear of SIGTERM, from its deletion until it is gone.

The recorded pod has three seconds, of which its hook sleeps one. It is created and
deleted again in a cluster of ours; compared is what its status says, step by step, and
how many seconds it took.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Recording

POD, NAMESPACE = "pre-stop", "kubelet"
STEPS = "what the status says, step by step"
END = "how the container ended"
SECONDS = "seconds from the deletion to the end, and to the last of it"
EVENTS = "events about the end"

Version = tuple[float, str, Object]
"""When, what happened (ADDED, MODIFIED, DELETED), the pod."""


def recorded_end(recording: Recording) -> tuple[Object, list[Version], list[str]]:
    """The pod as it was sent, its versions from the deletion on, and its events."""
    posted = next(
        exchange.body
        for exchange in recording.exchanges("kubelet")
        if exchange.method == "POST"
        and isinstance(exchange.body, dict)
        and exchange.body["metadata"].get("name") == POD
    )
    versions, events = [], []
    for line in recording.watch("kubelet"):
        event, obj = line["event"], line["event"]["object"]
        if obj.get("kind") == "Event" and obj["involvedObject"].get("name") == POD:
            events.append(obj)
        elif obj.get("kind") == "Pod" and obj["metadata"].get("name") == POD:
            versions.append((line["t"], event["type"], obj))
    return posted, _from_deletion(versions), _told(events)


def _from_deletion(versions: list[Version]) -> list[Version]:
    return [each for each in versions if each[2]["metadata"].get("deletionTimestamp")]


def _told(events: list[Object]) -> list[str]:
    return sorted(
        {f"{e['reason']}: {e['message']}" for e in events if e["reason"] == "Killing"}
    )


async def _play(posted: Object) -> tuple[list[Version], list[str]]:
    cluster = Cluster(ClusterConfig(nodes=1, seed=1, https=False))
    await cluster.start()
    versions: list[Version] = []
    try:
        client, loop = cluster.client("audience"), asyncio.get_running_loop()
        pods, nodes = resource("pods"), resource("nodes")
        space = {"apiVersion": "v1", "kind": "Namespace"}
        await client.create(
            resource("namespaces"), {**space, "metadata": {"name": NAMESPACE}}
        )
        for node in (await client.list(nodes))["items"]:
            name = node["metadata"]["name"]
            await client.patch(nodes, name, "", {"spec": {"taints": None}})
        await asyncio.sleep(2)
        frames = await client.watch(pods, NAMESPACE, bookmarks=False)

        async def follow() -> None:
            async for frame in frames:
                versions.append((loop.time(), frame.type, frame.object))

        following = asyncio.create_task(follow(), name="follow the pod")
        await client.create(pods, posted, NAMESPACE)
        await asyncio.sleep(30)
        await client.delete(pods, POD, NAMESPACE)
        await asyncio.sleep(30)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        events = (await client.list(resource("events"), NAMESPACE))["items"]
        return _from_deletion(versions), _told(events)
    finally:
        await cluster.stop()


@lru_cache(maxsize=1)
def our_end(recording: Recording) -> tuple[list[Version], list[str]]:
    """The same of ours."""
    return on_virtual_time(_play(recorded_end(recording)[0]))


def container_end_agreement(recording: Recording) -> AgreementTable:
    """Four rows about one pod."""
    _, theirs, their_events = recorded_end(recording)
    ours, our_events = our_end(recording)
    table = AgreementTable(
        "The end of a container",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            "A pod with three seconds to end, of which its hook takes one, and a"
            " program that does not listen: deleted on a real node and on ours. How it"
            f" ends, and when: {table.outcome('rows')}."
        ),
        telling=STEPS,
    )
    mine, real = _steps(ours), _steps(theirs)
    here, there = (f"{len(steps)} steps" for steps in (mine, real))
    table.add("kubelet", STEPS, here, there, compare(mine, real))
    end, real_end = _ended(ours), _ended(theirs)
    here, there = (f"exit code {e.get('exitCode')}" for e in (end, real_end))
    table.add("kubelet", END, here, there, compare(end, real_end))
    took, real_took = _seconds(ours), _seconds(theirs)
    table.add("kubelet", SECONDS, str(took), str(real_took), compare(took, real_took))
    here, there = "; ".join(our_events), "; ".join(their_events)
    table.add("kubelet", EVENTS, here, there, compare(our_events, their_events))
    return table


def _steps(versions: list[Version]) -> list[Object]:
    """What changes from one version to the next, of what a reader sees."""
    steps: list[Object] = []
    for _, kind, pod in versions:
        status = pod["status"]
        step: Object = {
            "grace": pod["metadata"]["deletionGracePeriodSeconds"],
            "phase": status["phase"],
            "container": [
                next(iter(each["state"])) for each in status["containerStatuses"]
            ],
            "conditions": {
                c["type"]: f"{c['status']} {c.get('reason', '')}".strip()
                for c in status["conditions"]
            },
            "gone": kind == "DELETED",
        }
        if not steps or steps[-1] != step:
            steps.append(step)
    return steps


def _ended(versions: list[Version]) -> Object:
    """The container's last state, without what differs from run to run."""
    [status] = versions[-1][2]["status"]["containerStatuses"]
    ended: Any = status["state"].get("terminated") or {}
    return {
        key: ended[key] for key in ("exitCode", "reason", "message") if key in ended
    }


def _seconds(versions: list[Version]) -> list[int]:
    begin = versions[0][0]
    ended = next(
        (
            at
            for at, _, pod in versions
            if "terminated" in pod["status"]["containerStatuses"][0]["state"]
        ),
        begin,
    )
    return [int(ended - begin), int(versions[-1][0] - begin)]
