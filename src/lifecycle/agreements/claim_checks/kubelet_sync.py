"""Claims about pod sync: put to recorded kubelets, and to ours on a node with a
disk.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

from lifecycle.agreements.claim_checks.recorded_kubelets import with_kubelets
from lifecycle.agreements.kubelet.played_nodes import settled, system_objects
from lifecycle.agreements.kubelet.pod_sync import inspected
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubelet.pod.startup_latency_tracker import (
    POD_START,
    POD_START_SLI,
    POD_WORKER_START,
)


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
    """Ours registers its node, and a pod there lives and dies by it."""

    async def scene(node: OneNode) -> bool:
        alive = (await node.run_pod("a"))["status"]["phase"] == "Running"
        await node.delete_pod("a")
        nodes = (await node.admin.list(resource("nodes")))["items"]
        return (
            alive
            and len(nodes) == 1
            and not (await node.admin.list(resource("pods")))["items"]
        )

    return on_one_node(scene)


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
    """Ours mounts, says where the log goes, and leaves nothing behind."""

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
    whose container was taken away gets a new one.
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

    return on_one_node(scene)


STEPS = [
    "metrics",
    "status",
    "cgroups",
    "directories",
    "volumes",
    "pull secrets",
    "runtime",
]


@rebuilt("kubelet-sync-order-of-steps")
def order_of_steps() -> Partly:
    """The order holds, but for admission: a pod that is refused never gets as far as
    the first step.
    """

    async def scene(node: OneNode) -> Partly:
        await node.run_pod("a")
        in_order = [step for step, name in node.steps if name == "a"][:7] == STEPS
        await node.run_pod("b", container={"resources": {"requests": {"cpu": "999"}}})
        return Partly(
            in_order,
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
