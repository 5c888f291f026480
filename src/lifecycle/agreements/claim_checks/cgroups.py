"""Claims about cgroups: put to recorded trees, and to those that ours writes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.agreements.kubelet.played_nodes import settled
from lifecycle.agreements.kubelet.pod_sync import recorded_cgroups
from lifecycle.api.http.wire import Object
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubelet.cm.cgroup_manager import CgroupError, CgroupManager
from lifecycle.kubelet.cm.pod_container_manager import PodContainerManager

LIMITED: Object = {
    "limits": {"cpu": "100m", "memory": "64Mi"},
    "requests": {"cpu": "100m", "memory": "64Mi"},
}
ASKING: Object = {"requests": {"cpu": "50m", "memory": "32Mi"}}


def pod(name: str, resources: Object | None = None) -> Object:
    """A pod that asks for that much."""
    container = {"name": "c", "image": "x", "resources": resources or {}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"containers": [container]},
    }


def written(pods: list[Object], **settings: Any) -> dict[str, dict[str, str]]:
    """Files by group after these pods' groups were made, in a tree of ordinary
    directories.
    """
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for controller in ("cpu", "memory"):
            (root / controller).mkdir()
        groups = PodContainerManager(
            CgroupManager(root, version=1, driver="cgroupfs"), **settings
        )
        for each in pods:
            groups.ensure_exists(each)
        files: dict[str, dict[str, str]] = {}
        for path in root.rglob("*"):
            if path.is_dir() and path.parent != root:
                group = str(path.relative_to(root)).partition("/")[2]
                files.setdefault(group, {}).update(
                    {f.name: f.read_text() for f in path.iterdir() if f.is_file()}
                )
        return files


def group_of(recording: Recording, name: str) -> tuple[str, dict[str, str]] | None:
    """A recorded pod's group and its values."""
    for recorded in settled(recording):
        if recorded["metadata"]["name"] == name:
            groups = recorded_cgroups(recording, recorded["spec"]["nodeName"])
            return next(
                (
                    (g, values)
                    for g, values in groups.items()
                    if g.endswith(f"-pod{name}.slice")
                ),
                None,
            )
    return None


@check("cgroups-pod-cgroups-when-flag-given")
def when_flag_given(recording: Recording) -> Partly | None:
    """The groups are there, and nobody gave a flag for it."""
    if not recording.nodes():
        return None
    settings = recording.node(recording.nodes()[-1]).run("kubelet-config")
    processes = recording.node(recording.nodes()[-1]).run("ps")
    return Partly(
        group_of(recording, "plain") is not None,
        "cgroupsPerQOS" not in settings and "cgroups-per-qos" not in processes,
    )


@rebuilt("cgroups-pod-cgroups-when-flag-given")
def ours_when_flag_given() -> Partly:
    """With the setting groups are made, without none; and if nothing is said, they are
    made.
    """
    with_it = written([pod("a")], cgroups_per_qos=True)
    without = written([pod("a")], cgroups_per_qos=False)
    return Partly(bool(with_it) and not without, written([pod("a")]) == with_it)


@check("cgroups-resource-parameters-applied")
def parameters_applied(recording: Recording) -> bool | None:
    """What the pods *guaranteed* and *burstable* asked for, in the kernel's units."""
    if not recording.nodes():
        return None
    guaranteed, burstable = (
        group_of(recording, "guaranteed"),
        group_of(recording, "burstable"),
    )
    if guaranteed is None or burstable is None:
        return False
    limits = ("cpu.shares", "cpu.cfs_quota_us", "memory.limit_in_bytes")
    return [guaranteed[1][name] for name in limits] == [
        "102",
        "10000",
        "67108864",
    ] and burstable[1]["cpu.shares"] == "51"


@rebuilt("cgroups-resource-parameters-applied")
def ours_applied() -> bool:
    """The same of ours, and of a pod that asked for nothing."""
    groups = written([pod("g", LIMITED), pod("b", ASKING), pod("e")])
    return (
        groups.get("kubepods/podg")
        == {
            "cpu.shares": "102",
            "cpu.cfs_period_us": "100000",
            "cpu.cfs_quota_us": "10000",
            "memory.limit_in_bytes": "67108864",
        }
        and groups.get("kubepods/burstable/podb") == {"cpu.shares": "51"}
        and groups.get("kubepods/besteffort/pode") == {"cpu.shares": "2"}
    )


@check("cgroups-serve-qos-handling")
def serve_qos(recording: Recording) -> bool | None:
    """Each pod's group is where its class belongs."""
    if not recording.nodes():
        return None
    places = {
        "Guaranteed": "kubelet-kubepods.slice/",
        "Burstable": "burstable.slice/",
        "BestEffort": "besteffort.slice/",
    }
    placed = [
        (
            recorded["status"]["qosClass"],
            group_of(recording, recorded["metadata"]["name"]),
        )
        for recorded in settled(recording)
    ]
    seen = [
        (qos, group[0].rpartition("/")[0] + "/")
        for qos, group in placed
        if group is not None
    ]
    return {qos for qos, _ in seen} == set(places) and all(
        parent.endswith(places[qos]) for qos, parent in seen
    )


@rebuilt("cgroups-serve-qos-handling")
def ours_serve_qos() -> bool:
    """The same of ours."""
    groups = written([pod("g", LIMITED), pod("b", ASKING), pod("e")])
    return {
        "kubepods/podg",
        "kubepods/burstable/podb",
        "kubepods/besteffort/pode",
    } <= set(groups)


@check("cgroups-govern-resource-allocation")
def govern(recording: Recording) -> bool | None:
    """The pod that took more memory than its limit was killed for it."""
    if not recording.nodes():
        return None
    (oom,) = (
        recorded
        for recorded in settled(recording)
        if recorded["metadata"]["name"] == "oom"
    )
    return all(
        status["state"]["terminated"]["reason"] == "OOMKilled"
        for status in oom["status"]["containerStatuses"]
    )


@rebuilt("cgroups-govern-resource-allocation")
def ours_govern() -> bool:
    """A limit written can be read back where the kernel would: it is a setting of the
    group, not of a process.
    """
    with TemporaryDirectory() as directory:
        (Path(directory) / "memory").mkdir()
        tree = CgroupManager(Path(directory), version=1)
        groups = PodContainerManager(tree)
        groups.ensure_exists(pod("g", LIMITED))
        name = groups.pod_container_name(pod("g", LIMITED))
        try:
            return (
                tree.read(name, "memory.limit_in_bytes") == "67108864"
                and tree.pids(name) == []
            )
        except CgroupError:
            return False
