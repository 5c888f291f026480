"""Claims about how a kubelet gets to know of pods, and of their changes: put to
recorded kubelets, and to ours.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from lifecycle.agreements.claim_checks.recorded_kubelets import requests, with_kubelets
from lifecycle.agreements.kubelet.played_nodes import settled
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.config.file import FILE_CHECK_FREQUENCY, SourceFile
from lifecycle.kubelet.types.pod_update import API, PodOperation, PodUpdate


@check("kubelet-sync-polls-api-every-20-seconds")
def polls_every_20_seconds(recording: Recording) -> bool | None:
    """Whether kubelets listed pods again and again, or took so long to see one."""
    if not with_kubelets(recording):
        return None
    listed = sum(int(fields[0]) for fields in requests(recording, "list"))
    watched = requests(recording, "watch")
    delays = [
        parse_time(pod["status"]["startTime"])
        - parse_time(pod["metadata"]["creationTimestamp"])
        for pod in settled(recording)
        if pod["status"].get("startTime")
    ]
    return not watched or listed > 20 or max(delays) >= 10


@rebuilt("kubelet-sync-polls-api-every-20-seconds")
def ours_polls() -> bool:
    """In five minutes ours lists pods once; and a new pod starts at once."""

    async def scene(node: OneNode) -> bool:
        pod = await node.run_pod("a", seconds=2)
        await asyncio.sleep(300)
        lists = [
            url
            for method, url in node.asked
            if method == "GET"
            and url.startswith("/api/v1/pods?")
            and "watch" not in url
        ]
        return len(lists) > 5 or pod["status"]["phase"] != "Running"

    return on_one_node(scene)


@check("kubelet-sync-poll-interval-configurable")
def poll_interval(recording: Recording) -> Partly | None:
    """Two intervals can be set, for files and for a URL; none for the API server."""
    if not with_kubelets(recording):
        return None
    settings = recording.node(recording.nodes()[-1]).run("kubelet-config")
    static = "fileCheckFrequency:" in settings and "httpCheckFrequency:" in settings
    return Partly(
        static,
        not any(
            word in settings for word in ("apiCheckFrequency", "podCheckFrequency")
        ),
    )


@rebuilt("kubelet-sync-poll-interval-configurable")
def our_poll_interval() -> Partly:
    """A file source waits as long as it is told; with the longest wait, a pod from the
    API still starts at once.
    """

    async def scene(node: OneNode) -> Partly:
        looks: list[float] = []
        missing = Path("/no/such/directory")
        source = SourceFile(
            missing,
            "n",
            lambda pods: looks.append(node.clock.now()),
            Clock(),
            period=300,
        )
        task = asyncio.create_task(source.run())
        pod = await node.run_pod("a", seconds=2)
        await asyncio.sleep(899)
        task.cancel()
        return Partly(
            len(looks) == 4 and FILE_CHECK_FREQUENCY == 20,
            pod["status"]["phase"] == "Running",
        )

    return on_one_node(scene)


@check("kubelet-sync-selects-pods-by-node-name")
def by_node_name(recording: Recording) -> bool | None:
    """Every watch for pods came with a field selector."""
    if not with_kubelets(recording):
        return None
    watched = requests(recording, "watch")
    return bool(watched) and all(
        "fieldSelector" in "\t".join(fields) for fields in watched
    )


@rebuilt("kubelet-sync-selects-pods-by-node-name")
def ours_by_node_name() -> bool:
    """Ours asks so; another node's pod stays unknown to it."""

    async def scene(node: OneNode) -> bool:
        await node.run_pod("a")
        await node.run_pod("b", node="another")
        watched = [
            url
            for method, url in node.asked
            if method == "GET" and url.startswith("/api/v1/pods?")
        ]
        asked = bool(watched) and all(
            "spec.nodeName=lifecycle-worker" in url for url in watched
        )
        return asked and [
            p["metadata"]["name"] for p in node.kubelet.pods.all_pods()
        ] == ["a"]

    return on_one_node(scene)


@check("kubelet-sync-handles-unscheduled-pods")
def unscheduled(recording: Recording) -> bool | None:
    """Whether any kubelet gave a pod without a node a start time or an address of a
    host.
    """
    if not with_kubelets(recording) or "scheduling" not in recording.scenarios():
        return None
    pods = [
        exchange.response
        for exchange in recording.exchanges("scheduling")
        if isinstance(exchange.response, dict)
        and exchange.response.get("kind") == "Pod"
    ]
    waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
    return (
        any(
            pod["status"].get("startTime") or pod["status"].get("hostIP")
            for pod in waiting
        )
        if waiting
        else None
    )


@rebuilt("kubelet-sync-handles-unscheduled-pods")
def ours_unscheduled() -> bool:
    """A pod that nobody placed, before the eyes of our kubelet."""

    async def scene(node: OneNode) -> bool:
        pod = await node.run_pod("a", node="", seconds=60)
        seen = bool(node.kubelet.pods.all_pods()) or "startTime" in pod["status"]
        assert (await node.run_pod("b"))["status"]["phase"] == "Running", (
            "one that was placed is seen"
        )
        return seen

    return on_one_node(scene)


@rebuilt("kubelet-sync-detects-changes-against-cache")
def against_cache() -> bool:
    """A list told twice changes nothing the second time; then each pod is what became
    of it.
    """

    def pod(uid: str, **labels: str) -> Object:
        return {"metadata": {"uid": uid, "name": uid, "labels": labels}, "spec": {}}

    config = PodConfig()
    first = config.merge(API, [pod("a"), pod("b")])
    again = config.merge(API, [pod("a"), pod("b")])
    then = config.merge(API, [pod("b", new="1"), pod("c")])

    def names(op: PodOperation) -> list[str]:
        return [p["metadata"]["uid"] for p in then[op]]

    return (
        len(first[PodOperation.ADD]) == 2
        and not any(again.values())
        and [
            names(op)
            for op in (PodOperation.ADD, PodOperation.UPDATE, PodOperation.REMOVE)
        ]
        == [["c"], ["b"], ["a"]]
    )


@rebuilt("kubelet-sync-typed-updates-on-a-channel")
def typed_updates() -> bool:
    """One pod's life, as it goes through the channel."""
    seen: list[str] = []

    async def scene(node: OneNode) -> bool:
        deliver = node.kubelet.sync_loop_iteration

        def watch(update: PodUpdate) -> None:
            seen.append(update.op.value)
            deliver(update)

        node.kubelet.pod_config.updates.receive(watch)
        await node.run_pod("a")
        await node.delete_pod("a")
        return list(dict.fromkeys(seen)) == ["ADD", "RECONCILE", "DELETE", "REMOVE"]

    return on_one_node(scene)
