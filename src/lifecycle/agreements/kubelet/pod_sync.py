"""Pod sync held against recorded nodes: cgroups, directories, volumes, mounts,
environments, and hosts files.

The recorded pods are played on kubelets of ours that have a disk (`played_nodes`). Then
the commands that were run on the real nodes are answered from our directories: every
cgroup of a pod or class with its values, every path below `pods/`, the mounts,
environment and limits that each running container was created with, each container's
`/etc/hosts` and resolver, the size of each tmpfs.

What only one side has is a difference: a container, a group, a path, an entry.
Freedoms, each named where it is granted: names made at random (times in directories'
names, files for last words, the suffix of the token volume), addresses and uids; how
often a container that fails again and again was restarted by then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lifecycle.agreements.kubelet.played_nodes import (
    NAMESPACE,
    PODS_GROUP,
    PlayedNode,
    played,
    settled,
    system_objects,
)
from lifecycle.agreements.kubelet.recorded_disk import (
    container_files,
    inspected,
    masked_path,
    node_pods,
    recorded_cgroups,
    recorded_tmpfs,
    recorded_tree,
)
from lifecycle.agreements.kubelet.volume_listing import compare_volume_listing
from lifecycle.compare import AgreementTable, Comparison
from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.inspector import Recording

STAGE = "pod sync"
UNLIMITED = {
    "cpu.cfs_quota_us": "-1",
    "cpu.cfs_period_us": "100000",
    "memory.limit_in_bytes": "9223372036854771712",
    "pids.max": "max",
}
"""What a group says of itself that nobody told anything: the kernel's answers."""

ADDRESS = "address of a pod"
OPTIONS = "order of resolver options, which upstream keeps in a map"
NO_CONTAINER = "no such container"
MOUNTS = "mounts of each running container"


def mounts_by_place(
    mounts: Any, names: Mapping[str, str], freedoms: Counter[str]
) -> dict[str, Any]:
    """Mounts by place in the container: host path (uids replaced, what was made up
    masked), whether it is read-only, and how it propagates.
    """
    by_place = {}
    for mount in mounts:
        host = mount["host_path"]
        host = host[host.index("/pods/") + 1 :] if "/pods/" in host else host
        parts = [names.get(part, part) for part in host.split("/")]
        by_place[mount["container_path"]] = (
            masked_path("/".join(parts), freedoms),
            bool(mount.get("readonly")),
            mount.get("propagation", ""),
        )
    return by_place


def _compare_cgroups(
    recording: Recording, nodes: Mapping[str, PlayedNode]
) -> Comparison:
    result = Comparison()
    for name, node in nodes.items():
        theirs = recorded_cgroups(recording, name)
        ours = {
            group: {**UNLIMITED, **files}
            for group, files in node.cgroups.items()
            if "kubepods" in group
        }
        for side in (ours, theirs):  # what our kubelet was told of the machine
            for group, files in side.items():
                if group.endswith(PODS_GROUP):
                    files.pop("pids.max", None)
        result.field(f"{name}/groups", sorted(ours), sorted(theirs))
        for group in sorted({*ours, *theirs}):
            result.mapping(
                f"{name}/{group}", ours.get(group, {}), theirs.get(group, {})
            )
    return result


def _compare_trees(recording: Recording, nodes: Mapping[str, PlayedNode]) -> Comparison:
    result = Comparison()
    system = {pod["metadata"]["name"] for pod in system_objects(recording, "pods")}
    for name, node in nodes.items():
        theirs = {
            masked_path(path, result.freedoms)
            for path in recorded_tree(recording, name)
        }
        # `find -maxdepth 6` begins at `pods`, and a socket's or image's own files are
        # the system pods' affair
        ours = {
            masked_path(path, Counter()) for path in node.tree if path.count("/") <= 6
        }
        for path in sorted(ours | theirs):
            if path.split("/")[1] not in system:
                result.field(f"{name}/{path}", path in ours, path in theirs)
    return result


def running_containers(node: PlayedNode) -> dict[tuple[str, str], ContainerConfig]:
    """Our containers of the scenario that run in the end, by pod and name, as they were
    created.
    """
    running = {
        (name, status["name"])
        for name, pod in node.pods.items()
        if pod["metadata"]["namespace"] == NAMESPACE
        for key in ("initContainerStatuses", "containerStatuses")
        for status in pod["status"].get(key) or ()
        if "running" in status["state"]
    }
    return {key: node.containers[key] for key in running if key in node.containers}


def _compare_containers(
    recording: Recording, nodes: Mapping[str, PlayedNode]
) -> tuple[Comparison, Comparison, Comparison]:
    """Mounts, environments, limits of every container that runs in the end on either
    side.
    """
    mounts, envs, limits = Comparison(), Comparison(), Comparison()
    addresses = {
        pod["metadata"]["name"]: pod["status"].get("podIP", "")
        for pod in settled(recording)
    }
    for name, node in nodes.items():
        their_names = node_pods(recording, name)
        our_names = {
            pod["metadata"]["uid"]: pod_name for pod_name, pod in node.pods.items()
        }
        their_containers = {
            key: document
            for key, document in inspected(recording, name).items()
            if document["status"]["labels"]["io.kubernetes.pod.namespace"] == NAMESPACE
        }
        our_containers = running_containers(node)
        for key in sorted({*our_containers, *their_containers}):
            ours, document = our_containers.get(key), their_containers.get(key)
            where = f"{name}/{'/'.join(key)}"
            if ours is None or document is None:
                here = NO_CONTAINER if ours is None else "running"
                there = NO_CONTAINER if document is None else "running"
                for result in (mounts, envs, limits):
                    result.field(where, here, there)
                continue
            theirs = document["info"]["config"]
            mounts.mapping(
                where,
                mounts_by_place(ours.mounts, our_names, Counter()),
                mounts_by_place(theirs["mounts"], their_names, mounts.freedoms),
            )
            variables = {
                entry["key"]: entry.get("value", "")
                for entry in theirs.get("envs") or ()
            }
            envs.mapping(
                where,
                _without_address(dict(ours.envs), node.addresses[key[0]], Counter()),
                _without_address(variables, addresses[key[0]], envs.freedoms),
            )
            limits.mapping(where, dict(ours.resources), theirs["linux"]["resources"])
    return mounts, envs, limits


def _without_address(
    variables: dict[str, str], address: str, freedoms: Counter[str]
) -> dict[str, str]:
    """An environment in which the pod's own address is masked."""
    freedoms[ADDRESS] += sum(bool(address) and v == address for v in variables.values())
    return {
        key: "ADDRESS" if address and value == address else value
        for key, value in variables.items()
    }


def _compare_files(recording: Recording, nodes: Mapping[str, PlayedNode]) -> Comparison:
    """`/etc/hosts` and `/etc/resolv.conf` of each container of which they were read."""
    result = Comparison()
    addresses = {
        pod["metadata"]["name"]: pod["status"].get("podIP", "")
        for pod in settled(recording)
        if not pod["spec"].get("hostNetwork")
    }
    for name, node in nodes.items():
        for pod, their_resolver, their_hosts in container_files(recording, name):
            config = node.sandboxes.get(pod)
            our_resolver = _resolver(config.dns_config) if config else ""
            our_hosts = node.hosts.get(pod, "")
            if addresses.get(pod):
                our_hosts = _without_own(our_hosts, node.addresses[pod], Counter())
                their_hosts = _without_own(their_hosts, addresses[pod], result.freedoms)
            if our_resolver != their_resolver and _sorted_options(
                our_resolver
            ) == _sorted_options(their_resolver):
                result.freedoms[OPTIONS] += 1
                our_resolver = their_resolver
            result.field(f"{name}/{pod}/resolv.conf", our_resolver, their_resolver)
            result.field(f"{name}/{pod}/hosts", our_hosts, their_hosts)
    return result


def _without_own(hosts: str, address: str, freedoms: Counter[str]) -> str:
    """A hosts file in which the pod's own address is masked."""
    masked = re.sub(rf"(?m)^{re.escape(address)}(?=\t)", "ADDRESS", hosts)
    freedoms[ADDRESS] += masked != hosts
    return masked


def _resolver(dns: Mapping[str, Any]) -> str:
    lines = [f"search {' '.join(dns['searches'])}"] if dns["searches"] else []
    lines += [*(f"nameserver {server}" for server in dns["servers"])]
    lines += [f"options {' '.join(dns['options'])}"] if dns["options"] else []
    return "".join(f"{line}\n" for line in lines)


def _sorted_options(resolver: str) -> list[str]:
    return [
        " ".join(sorted(line.split())) if line.startswith("options") else line
        for line in resolver.splitlines()
    ]


def _compare_tmpfs(recording: Recording, nodes: Mapping[str, PlayedNode]) -> Comparison:
    result = Comparison()
    for name, node in nodes.items():
        theirs = recorded_tmpfs(recording, name, result.freedoms)
        ours = {masked_path(path, Counter()): size for path, size in node.tmpfs.items()}
        result.mapping(name, ours, theirs)
    return result


def pod_sync_agreement(
    recording: Recording, nodes: Mapping[str, PlayedNode] | None = None
) -> AgreementTable:
    """All of it. `nodes`: the played nodes, if they were played already."""
    nodes = played(recording) if nodes is None else nodes
    pods = sum(
        pod["metadata"]["namespace"] == NAMESPACE
        for node in nodes.values()
        for pod in node.pods.values()
    )

    def opening(table: AgreementTable) -> str:
        containers = sum(len(running_containers(node)) for node in nodes.values())
        return (
            f"{pods} recorded pods, run again by our kubelets on {len(nodes)} nodes: of"
            f" {table.total:,} cgroup values, paths, mounts, variables and limits that"
            f" were read on the real nodes, {table.fields_equal:,} are the same;"
            f" {containers} containers ran in the end."
        )

    table = AgreementTable(
        "Pod sync",
        "the recorded pods on our kubelets, with a disk",
        str(recording.provenance),
        opening,
        telling=MOUNTS,
    )
    mounts, envs, limits = _compare_containers(recording, nodes)
    for question, result in (
        (
            "cgroups of pods and classes, and their values",
            _compare_cgroups(recording, nodes),
        ),
        ("every path below /var/lib/kubelet/pods", _compare_trees(recording, nodes)),
        (MOUNTS, mounts),
        ("environment of each running container", envs),
        ("limits of each running container", limits),
        (
            "/etc/hosts and /etc/resolv.conf in each container",
            _compare_files(recording, nodes),
        ),
        ("size of each tmpfs", _compare_tmpfs(recording, nodes)),
        (
            "one volume of each kind, listed from inside",
            compare_volume_listing(recording, nodes),
        ),
    ):
        table.add(
            STAGE, question, f"{result.equal} equal", f"{result.total} fields", result
        )
    return table
