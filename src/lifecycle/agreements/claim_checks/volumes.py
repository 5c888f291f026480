"""Claims about pods' directories and volumes: put to recorded nodes, and to our own
kubelet's disk.
"""

from __future__ import annotations

import asyncio
from functools import cache

from lifecycle.agreements.kubelet.played_nodes import settled
from lifecycle.agreements.kubelet.pod_sync import recorded_tree
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubelet.config.directories import DEFAULT_ROOT_DIR, PodDirectories
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.volumemanager.attachable import (
    NotAttached,
    verify_controller_attached_volume,
)


@check("volumes-pod-directory-path")
def pod_directory_path(recording: Recording) -> bool | None:
    """Whether pods are where the claim says. The listing's own command names the
    place.
    """
    if not recording.nodes():
        return None
    first = (
        recording.node(recording.nodes()[-1]).run("kubelet-pods-tree").splitlines()[0]
    )
    return first == "/var/run/kubelet/pods"


@rebuilt("volumes-pod-directory-path")
def our_pod_directory_path() -> bool:
    """Whether ours are."""
    path = str(PodDirectories(DEFAULT_ROOT_DIR).pod("u"))
    assert path.endswith("/kubelet/pods/u")
    return path == "/var/run/kubelet/pods/u"


def _every_pod_has(recording: Recording, name: str) -> bool | None:
    if not recording.nodes():
        return None
    present = []
    for node in recording.nodes():
        tree = recorded_tree(recording, node)
        pods = {path.split("/")[1] for path in tree if path.count("/") == 1}
        present += [f"pods/{pod}/{name}" in tree for pod in pods]
    return bool(present) and all(present)


@cache
def _ours_has() -> set[str]:
    """What lies in the directory of a pod of ours."""

    async def scene(node: OneNode) -> set[str]:
        directory = node.pod_directory(await node.run_pod("a"))
        return (
            {path.name for path in directory.iterdir() if path.is_dir()}
            if directory.is_dir()
            else set()
        )

    return on_one_node(scene)


@check("volumes-volumes-subdirectory")
def volumes_subdirectory(recording: Recording) -> bool | None:
    """Every pod's directory has it."""
    return _every_pod_has(recording, "volumes")


@rebuilt("volumes-volumes-subdirectory")
def our_volumes_subdirectory() -> bool:
    """So has ours."""
    return "volumes" in _ours_has()


@check("volumes-plugins-subdirectory")
def plugins_subdirectory(recording: Recording) -> bool | None:
    """Every pod's directory has it."""
    return _every_pod_has(recording, "plugins")


@rebuilt("volumes-plugins-subdirectory")
def our_plugins_subdirectory() -> bool:
    """So has ours."""
    return "plugins" in _ours_has()


@check("volumes-manager-attaches-volumes")
def manager_attaches(recording: Recording) -> Partly | None:
    """The kubelet mounts; about attaching it only verifies that the controller did it.
    It says so in its log for every volume.
    """
    if not recording.nodes():
        return None
    worker = recording.node(recording.nodes()[-1])
    log = worker.run("kubelet-log")
    return Partly(
        "/volumes/kubernetes.io~" in worker.run("mounts"),
        "VerifyControllerAttachedVolume started" in log,
    )


def _attached(csi: Object | None, *names: str) -> bool:
    """Whether a volume is attached where the node's status lists these."""
    volume = {"spec": {"csi": csi} if csi else {"hostPath": {"path": "/"}}}
    try:
        verify_controller_attached_volume(volume, [{"name": name} for name in names])
    except NotAttached:
        return False
    return True


@rebuilt("volumes-manager-attaches-volumes")
def our_manager_attaches() -> Partly:
    """A ConfigMap is mounted. A disk is not, until somebody else has attached it: no
    complaint, no container.
    """
    csi: Object = {"driver": "disk.example.com", "volumeHandle": "h"}
    name = "kubernetes.io/csi/disk.example.com^h"
    assert [_attached(csi, *there) for there in ((), ("other",), ("other", name))] == [
        False,
        False,
        True,
    ]
    assert _attached(None), "what needs no attaching"

    async def scene(node: OneNode) -> Partly:
        await node.create(
            "configmaps", {"kind": "ConfigMap", "metadata": {"name": "x"}}
        )
        local = await node.run_pod(
            "a", volumes=[{"name": "v", "configMap": {"name": "x"}}]
        )
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        bound = {
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {**claim, "volumeName": "pv"},
        }
        created = await node.create("persistentvolumeclaims", bound)
        owner = {"namespace": "default", "name": "data"}
        disk = {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "claimRef": {**owner, "uid": created["metadata"]["uid"]},
            "csi": csi,
        }
        await node.create(
            "persistentvolumes",
            {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": disk},
            "",
        )
        await node.admin.update(
            resource("persistentvolumeclaims"),
            {**created, "status": {"phase": "Bound"}},
            subresource="status",
        )
        disk_pod = await node.run_pod(
            "b", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
        )
        waits = disk_pod["status"]["phase"] == "Pending" and not await node.events(
            "FailedMount"
        )
        return Partly(local["status"]["phase"] == "Running", waits)

    return on_one_node(scene)


@check("volumes-start-waits-for-volumes")
def start_waits(recording: Recording) -> bool | None:
    """The pod whose Secret is missing has an event, and neither sandbox nor
    container.
    """
    if not recording.nodes():
        return None
    (waiting,) = (
        pod for pod in settled(recording) if pod["metadata"]["name"] == "missing-volume"
    )
    sandboxes = recording.node(waiting["spec"]["nodeName"]).run("crictl-pods")
    states = [
        status["state"]["waiting"]["reason"]
        for status in waiting["status"]["containerStatuses"]
    ]
    return states == ["ContainerCreating"] and "missing-volume" not in sandboxes


@rebuilt("volumes-start-waits-for-volumes")
def ours_waits() -> bool:
    """Ours waits with the same words, and starts once the Secret is there."""

    async def scene(node: OneNode) -> bool:
        pod = await node.run_pod(
            "a", volumes=[{"name": "v", "secret": {"secretName": "absent"}}], seconds=20
        )
        reported = await node.events("FailedMount") == [
            'MountVolume.SetUp failed for volume "v" : secret "absent" not found'
        ]
        nothing = not await node.runtime.list_pod_sandbox()
        await node.create("secrets", {"kind": "Secret", "metadata": {"name": "absent"}})
        await asyncio.sleep(60)
        return (
            reported
            and nothing
            and pod["status"]["phase"] == "Pending"
            and (await node.pod("a"))["status"]["phase"] == "Running"
        )

    return on_one_node(scene)


@rebuilt("volumes-slow-volume-types")
def slow_types() -> bool:
    """A volume that takes long keeps its pod waiting that much longer."""

    async def scene(node: OneNode) -> bool:
        started: dict[str, float] = {}
        for seconds, name in ((0.0, "quick"), (25.0, "slow")):
            await _after_mounting_for(node, seconds)
            began = node.clock.now()
            await node.run_pod(name, seconds=0)
            for _ in range(120):
                await asyncio.sleep(0.5)
                if (await node.pod(name))["status"]["phase"] == "Running":
                    break
            started[name] = node.clock.now() - began
        return started["quick"] < 5 and started["slow"] >= 25

    return on_one_node(scene)


async def _after_mounting_for(node: OneNode, seconds: float) -> None:
    local = node.kubelet.host
    assert isinstance(local, LocalPodHost)
    mount = type(local).mount

    async def slowly(pod: Object) -> object:
        if not local.volumes.volumes_for_pod(pod["metadata"]["uid"]):
            await asyncio.sleep(seconds)
        return await mount(local, pod)

    local.mount = slowly  # type: ignore[method-assign, assignment]
