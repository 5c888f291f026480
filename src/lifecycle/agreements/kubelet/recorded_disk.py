"""What was seen on the recorded nodes, as pod sync is compared with it: cgroups, the
paths below `pods/`, `crictl inspect`, each container's own files, tmpfs.

Uids are replaced by pods' names, and what is made up anew each time is masked; the
freedom that it takes is counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from lifecycle.agreements.kubelet.played_nodes import NAMESPACE, settled, system_objects
from lifecycle.api.names import ALPHANUMS
from lifecycle.inspector import Recording

TIMED = "directory named after the time it was made"
RANDOM = "file for last words, named at random"
TOKEN = "suffix of the token volume, made up at creation"


def node_pods(recording: Recording, node: str) -> dict[str, str]:
    """Names by uid of the pods on a node, those of the fresh cluster too."""
    pods = [*settled(recording), *system_objects(recording, "pods")]
    return {
        p["metadata"]["uid"]: p["metadata"]["name"]
        for p in pods
        if p["spec"].get("nodeName") == node
    }


def recorded_cgroups(recording: Recording, node: str) -> dict[str, dict[str, str]]:
    """Files by group: pods' and classes', not containers', uids replaced by names."""
    names = {
        uid.replace("-", "_"): name for uid, name in node_pods(recording, node).items()
    }
    groups: dict[str, dict[str, str]] = {}
    for line in recording.node(node).run("cgroup-values").splitlines():
        path, _, value = line.partition(" ")
        group, _, file = (
            path.removeprefix("/sys/fs/cgroup/").partition("/")[2].rpartition("/")
        )
        if "cri-containerd" in group:
            continue
        for uid, name in names.items():
            group = group.replace(uid, name)
        groups.setdefault(group, {})[file] = value
    return groups


def _moment(match: re.Match[str]) -> str:
    try:
        datetime.strptime(match[1], "%Y_%m_%d_%H_%M_%S")
    except ValueError:
        return match[0]
    return "..TIME"


def masked_path(path: str, freedoms: Counter[str]) -> str:
    """A path below `pods/` without what was made up."""
    masked = re.sub(r"\.\.(\d{4}(?:_\d\d){5})\.\d+", _moment, path)
    freedoms[TIMED] += masked != path
    named = re.sub(r"(/containers/[^/]+)/[0-9a-f]{8}$", r"\1/LAST-WORDS", masked)
    freedoms[RANDOM] += named != masked
    drawn = rf"kube-api-access-[{ALPHANUMS}]{{5}}(?![a-z0-9])"
    suffix = re.sub(drawn, "kube-api-access-*", named)
    freedoms[TOKEN] += suffix != named
    return suffix


def recorded_tree(recording: Recording, node: str) -> set[str]:
    """Paths below the kubelet's root, six deep, uids replaced by names."""
    names = node_pods(recording, node)
    paths = set()
    for line in recording.node(node).run("kubelet-pods-tree").splitlines():
        parts = line.removeprefix("/var/lib/kubelet/").split("/")
        if len(parts) > 1 and parts[1] in names:
            paths.add("/".join(["pods", names[parts[1]], *parts[2:]]))
    return paths


def inspected(recording: Recording, node: str) -> dict[tuple[str, str], Any]:
    """What `crictl inspect` said of every running container, by pod and name."""
    text, decoder, at = (
        recording.node(node).run("nodes-inspect-containers").strip(),
        json.JSONDecoder(),
        0,
    )
    documents = {}
    while at < len(text):
        obj, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        documents[
            obj["status"]["labels"]["io.kubernetes.pod.name"],
            obj["status"]["metadata"]["name"],
        ] = obj
    return documents


class ContainerFiles(NamedTuple):
    """What a shell's `cat` and `hostname` printed in a container."""

    pod: str
    resolver: str
    hosts: str


def container_files(recording: Recording, node: str) -> Iterator[ContainerFiles]:
    """Resolver configuration and hosts file of each container that has a shell's
    `cat`, of the scenario's pods.
    """
    pods = {
        document["status"]["id"]: document["status"]["labels"]
        for document in inspected(recording, node).values()
    }
    for part in recording.node(node).run("pod-files").split("== ")[1:]:
        container, _, text = part.partition("\n")
        labels = pods.get(container.strip(), {})
        if (
            "# Kubernetes-managed hosts file" not in text
            or labels.get("io.kubernetes.pod.namespace") != NAMESPACE
        ):
            continue
        resolver, _, rest = text.partition("# Kubernetes-managed")
        hosts = f"# Kubernetes-managed{rest}".rstrip("\n").rpartition("\n")[0]
        yield ContainerFiles(labels["io.kubernetes.pod.name"], resolver, f"{hosts}\n")


def recorded_tmpfs(
    recording: Recording, node: str, freedoms: Counter[str]
) -> dict[str, int]:
    """Bytes by path of each tmpfs that is a volume."""
    names, sizes = node_pods(recording, node), {}
    for line in recording.node(node).run("mounts").splitlines():
        device, path, _, options, *_ = line.split()
        size = re.search(r"size=(\d+)k", options)
        if device == "tmpfs" and "/pods/" in path and size:
            parts = [
                names.get(part, part)
                for part in path.removeprefix("/var/lib/kubelet/").split("/")
            ]
            sizes[masked_path("/".join(parts), freedoms)] = int(size[1]) * 1024
    return sizes
