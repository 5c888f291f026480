"""Claims about pod sync: put to recorded kubelets, and to ours on a node with a
disk.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

from lifecycle.agreements.claim_checks import held_up_pods
from lifecycle.agreements.claim_checks.blindness import sees_what_happens
from lifecycle.agreements.claim_checks.dead_containers import (
    as_many_are_kept,
    dies_in,
    periods,
)
from lifecycle.agreements.claim_checks.pictures import a_picture_and_no_more
from lifecycle.agreements.played_nodes import settled, system_objects
from lifecycle.agreements.pod_sync import inspected
from lifecycle.api.clock import Clock, parse_time
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.config.file import FILE_CHECK_FREQUENCY, SourceFile
from lifecycle.kubelet.pod.startup_latency_tracker import (
    POD_START,
    POD_START_SLI,
    POD_WORKER_START,
)
from lifecycle.kubelet.types.pod_update import API, PodOperation, PodUpdate


def with_kubelets(recording: Recording) -> bool:
    """Whether real kubelets ran in that cluster."""
    return bool(recording.nodes())


def requests(recording: Recording, verb: str) -> list[list[str]]:
    """What kubelets asked about pods, by verb: fields of the audit's summary."""
    lines = (
        line.split("\t")
        for line in recording.text("audit/requests-by-component.tsv").splitlines()
    )
    return [
        f
        for f in lines
        if len(f) > 7
        and f[1].startswith("kubelet/")
        and f[3] == verb
        and f[6] == "pods"
        and not f[7]
    ]


@check("kubelet-sync-agent-on-every-node")
def agent_on_every_node(recording: Recording) -> bool | None:
    """A kubelet process on each, and each node is known by the name that its kubelet
    gave it.
    """
    if not with_kubelets(recording):
        return None
    known = {node["metadata"]["name"] for node in system_objects(recording, "nodes")}
    running = {
        name
        for name in recording.nodes()
        if "/usr/bin/kubelet" in recording.node(name).run("ps")
    }
    return running == set(recording.nodes()) == known


@rebuilt("kubelet-sync-agent-on-every-node")
def our_agent() -> bool:
    """Ours registers its node, and a pod there lives and dies by it: sooner, if
    somebody comes who has less patience.
    """

    async def scene(node: OneNode) -> bool:
        alive = (await node.run_pod("a"))["status"]["phase"] == "Running"
        await node.delete_pod("a")
        nodes = (await node.admin.list(resource("nodes")))["items"]
        return (
            alive
            and len(nodes) == 1
            and not (await node.admin.list(resource("pods")))["items"]
            and await dies_in(node) == [570, 30, 10]
        )

    return on_one_node(scene) and periods() == [7, 3, 4, 30, 9]


@check("kubelet-sync-turns-pods-into-containers")
def turns_pods_into_containers(recording: Recording) -> Partly | None:
    """The kubelet's part is the configuration of each container; the process, its
    parents say, is the runtime's.
    """
    if not with_kubelets(recording):
        return None
    name = recording.nodes()[-1]
    asked = [obj["info"] for obj in inspected(recording, name).values()]
    configured = all(
        info["config"]["mounts"] and info["config"]["metadata"]["name"]
        for info in asked
    )
    return Partly(
        bool(asked) and configured,
        all(info["runtimeType"] == "io.containerd.runc.v2" for info in asked),
    )


@rebuilt("kubelet-sync-turns-pods-into-containers")
def our_translation() -> Partly:
    """Ours hands over a sandbox and a container, filled in; only the runtime then has
    something that runs.
    """

    async def scene(node: OneNode) -> Partly:
        await node.run_pod("a", container={"env": [{"name": "A", "value": "1"}]})
        config = node.runtime.container_configs.get(("a", "c"))
        assert config is not None, "a container was asked for"
        filled = (
            ("A", "1") in config.envs
            and bool(config.mounts)
            and bool(node.runtime.sandbox_configs["a"].linux)
        )
        return Partly(filled, len(await node.runtime.list_containers()) == 1)

    return on_one_node(scene)


@check("kubelet-sync-also-volumes-logs-and-gc")
def volumes_logs_and_gc(recording: Recording) -> bool | None:
    """On each worker: volumes mounted, logs kept, containers and orphaned directories
    removed.
    """
    if not with_kubelets(recording):
        return None
    workers = [recording.node(name) for name in recording.nodes() if "worker" in name]
    log = "".join(node.run("kubelet-log") for node in workers)
    mounted = all("/volumes/kubernetes.io~" in node.run("mounts") for node in workers)
    logged = all(".log" in node.run("pod-logs-tree") for node in workers)
    return (
        mounted
        and logged
        and "RemoveContainer" in log
        and "Cleaned up orphaned pod volumes dir" in log
    )


@rebuilt("kubelet-sync-also-volumes-logs-and-gc")
def our_volumes_and_gc() -> bool:
    """Ours mounts, says where the log goes, and leaves nothing behind. Of a container
    that was started again the log before is there, too; and of the dead as many are
    kept as are allowed.
    """

    async def scene(node: OneNode) -> bool:
        pod = await node.run_pod("a")
        mounted = any(node.pod_directory(pod).glob("volumes/*/*"))
        config = node.runtime.container_configs.get(("a", "c"))
        logged = config is not None and config.log_path == "c/0.log"
        await node.delete_pod("a")
        return (
            mounted
            and logged
            and not node.pod_directory(pod).exists()
            and not await node.runtime.list_containers()
        )

    return on_one_node(scene) and as_many_are_kept()


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
    API still starts at once. (Of a file's pod the API gets to see a picture.)
    """
    assert a_picture_and_no_more()

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


@check("kubelet-sync-syncpod-converges-real-to-desired")
def converges(recording: Recording) -> bool | None:
    """Containers that ended although they should run were made again, without anybody
    asking.
    """
    if not with_kubelets(recording):
        return None
    asked = {
        e.method
        for e in recording.exchanges("kubelet")
        if e.t < 90 and "/pods/" in e.path and "/log" not in e.path
    }
    restarted = [
        pod
        for pod in settled(recording)
        for c in pod["status"].get("containerStatuses") or ()
        if c["restartCount"]
    ]
    return not asked and bool(restarted)


@rebuilt("kubelet-sync-syncpod-converges-real-to-desired")
def ours_converges() -> bool:
    """Another sync of a pod that is as it should be asks the runtime for nothing; one
    whose container was taken away gets a new one. If it cannot look, it says so.
    """

    async def scene(node: OneNode) -> bool:
        uid = (await node.run_pod("a"))["metadata"]["uid"]
        (before,) = await node.runtime.list_containers()
        node.kubelet.pod_workers.sync(uid)
        await asyncio.sleep(1)
        (same,) = await node.runtime.list_containers()
        await node.runtime.stop_container(before.id, 0)
        await node.runtime.remove_container(before.id)
        node.kubelet.pod_workers.sync(uid)
        await asyncio.sleep(30)
        after = await node.runtime.list_containers()
        again = [
            one for one in after if one.id != before.id and one.state.name == "RUNNING"
        ]
        return same.id == before.id and len(again) == 1

    return on_one_node(scene) and sees_what_happens()


@rebuilt("kubelet-sync-order-of-steps")
def order_of_steps() -> Partly:
    """The order holds, but for admission: a pod that is refused never gets as far as
    the first step. And each step holds up those behind it, until it succeeds.
    """

    async def scene(node: OneNode) -> Partly:
        in_order = await held_up_pods.steps_of_a_pod(node) == held_up_pods.STEPS
        await node.run_pod("b", container={"resources": {"requests": {"cpu": "999"}}})
        return Partly(
            in_order and await held_up_pods.each_is_waited_for(node),
            not [step for step, name in node.steps if name == "b"],
        )

    return on_one_node(scene)


@check("kubelet-sync-startup-metrics-on-create")
def startup_metrics(recording: Recording) -> bool | None:
    """Kubelets log what they count: one line for each pod that started."""
    if not with_kubelets(recording):
        return None
    logs = [
        recording.node(name).run("kubelet-log")
        for name in recording.nodes()
        if "worker" in name
    ]
    return all(
        "Observed pod startup duration" in log and "podStartSLOduration=" in log
        for log in logs
    )


@rebuilt("kubelet-sync-startup-metrics-on-create")
def our_startup_metrics() -> bool:
    """One more pod, one more in each histogram, in that without pulls, too, which is
    the one that real kubelets log; later syncs count nothing.
    """

    async def scene(node: OneNode) -> bool:
        await node.run_pod("a")
        before = dict(node.kubelet.metrics.counts())
        await node.run_pod("b", seconds=100)
        after = node.kubelet.metrics.counts()
        return all(
            (before.get(name), after.get(name)) == (1, 2)
            for name in (POD_START, POD_START_SLI, POD_WORKER_START)
        )

    return on_one_node(scene)


@rebuilt("kubelet-sync-callback-repeats-periodically")
def repeats() -> Partly:
    """An idle pod: every 60 to 90 seconds, never the same. Sooner if something
    happens.
    """

    async def scene(node: OneNode) -> Partly:
        uid = (await node.run_pod("a"))["metadata"]["uid"]
        times: list[float] = []
        node.watchers.append(
            lambda step, pod: (
                times.append(node.clock.now()) if step == "status" else None
            )
        )
        await asyncio.sleep(600)
        gaps = [b - a for a, b in pairwise(times)]
        began, count = node.clock.now(), len(times)
        node.kubelet.pod_workers.sync(uid)
        await asyncio.sleep(0.5)
        sooner = len(times) > count and times[-1] - began < 1
        return Partly(
            len(gaps) > 4 and all(60 <= gap <= 90 for gap in gaps),
            sooner and max(gaps, default=0.0) - min(gaps, default=0.0) > 1,
        )

    return on_one_node(scene, sync_frequency=60.0)
