"""Pod sync held against recorded nodes: cgroups, directories, volumes, mounts,
environments, hosts files, and what was pulled.

The recorded pods are played on kubelets of ours that have a disk (`played_nodes`). Then
the commands that were run on the real nodes are answered from our directories: every
cgroup of a pod or class with its values, every path below `pods/`, the mounts,
environment and limits that each running container was created with, each container's
`/etc/hosts` and resolver, the size of each tmpfs, each way an image was got.

Freedoms, each named where it is granted: names made at random (times in directories'
names, files for last words, the suffix of the token volume), addresses and uids; how
often a container that fails again and again was restarted by then.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lifecycle.agreements.played_nodes import (
    NAMESPACE,
    PlayedNode,
    played,
    settled,
    system_objects,
)
from lifecycle.compare import AgreementTable, Comparison, Difference
from lifecycle.inspector import Recording

STAGE = "pod sync"
UNLIMITED = {
    "cpu.cfs_quota_us": "-1",
    "cpu.cfs_period_us": "100000",
    "memory.limit_in_bytes": "9223372036854771712",
    "pids.max": "max",
}
"""What a group says of itself that nobody told anything: the kernel's answers."""

TIMED = "directory named after the time it was made"
RANDOM = "file for last words, named at random"
ADDRESS = "address of a pod"
OPTIONS = "order of resolver options, which upstream keeps in a map"
TOKEN = "suffix of the token volume, made up at creation"


class Rows:
    """Fields compared one by one, with the freedoms that were needed."""

    def __init__(self) -> None:
        self.result = Comparison()

    def field(self, where: str, ours: object, theirs: object) -> None:
        """One field."""
        self.result.total += 1
        if ours == theirs:
            self.result.equal += 1
        else:
            self.result.differences.append(Difference(f"/{where}", ours, theirs))

    def mapping(
        self, where: str, ours: Mapping[str, object], theirs: Mapping[str, object]
    ) -> None:
        """Field by field; one that only one side has is a difference too."""
        for key in sorted({*ours, *theirs}):
            self.field(f"{where}/{key}", ours.get(key), theirs.get(key))


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
    found: dict[str, dict[str, str]] = {}
    for line in recording.node(node).run("cgroup-values").splitlines():
        path, _, value = line.partition(" ")
        group, _, file = (
            path.removeprefix("/sys/fs/cgroup/").partition("/")[2].rpartition("/")
        )
        if "cri-containerd" in group:
            continue
        for uid, name in names.items():
            group = group.replace(uid, name)
        found.setdefault(group, {})[file] = value
    return found


def masked_path(path: str, freedoms: Counter[str]) -> str:
    """A path below `pods/` without what was made up."""
    masked = re.sub(r"\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+", "..TIME", path)
    freedoms[TIMED] += masked != path
    named = re.sub(r"(/containers/[^/]+)/[0-9a-f]{8}$", r"\1/LAST-WORDS", masked)
    freedoms[RANDOM] += named != masked
    suffix = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access-*", named)
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
    found = {}
    while at < len(text):
        obj, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        found[
            obj["status"]["labels"]["io.kubernetes.pod.name"],
            obj["status"]["metadata"]["name"],
        ] = obj
    return found


def without_made_up(
    mounts: Any, names: Mapping[str, str], freedoms: Counter[str]
) -> dict[str, Any]:
    """Mounts by place in the container: host path (uids replaced, what was made up
    masked) and whether it is read-only.
    """
    found = {}
    for mount in mounts:
        host = mount["host_path"]
        host = host[host.index("/pods/") + 1 :] if "/pods/" in host else host
        parts = [names.get(part, part) for part in host.split("/")]
        key = mount["container_path"]
        found[key] = (
            masked_path("/".join(parts), freedoms),
            bool(mount.get("readonly")),
            mount.get("propagation", ""),
        )
    return found


def container_files(recording: Recording, node: str) -> Iterator[tuple[str, str, str]]:
    """Resolver configuration, hosts file and host name of each container that has a
    shell's `cat`.
    """
    for part in recording.node(node).run("pod-files").split("== ")[1:]:
        text = part.partition("\n")[2]
        if "# Kubernetes-managed hosts file" not in text:
            continue
        resolver, _, rest = text.partition("# Kubernetes-managed")
        hosts, _, name = f"# Kubernetes-managed{rest}".rstrip("\n").rpartition("\n")
        yield resolver, hosts + "\n", name


def _compare_cgroups(
    recording: Recording, nodes: Mapping[str, PlayedNode]
) -> Comparison:
    rows = Rows()
    for name, node in nodes.items():
        theirs = recorded_cgroups(recording, name)
        ours = {
            group: {**UNLIMITED, **files}
            for group, files in node.cgroups.items()
            if "kubepods" in group
        }
        rows.field(f"{name}/groups", sorted(ours), sorted(theirs))
        for group in sorted({*ours} & {*theirs}):
            rows.mapping(f"{name}/{group}", ours[group], theirs[group])
    return rows.result


def _compare_trees(recording: Recording, nodes: Mapping[str, PlayedNode]) -> Comparison:
    rows = Rows()
    freedoms = rows.result.freedoms
    system = {pod["metadata"]["name"] for pod in system_objects(recording, "pods")}
    for name, node in nodes.items():
        theirs = {
            masked_path(path, freedoms) for path in recorded_tree(recording, name)
        }
        # `find -maxdepth 6` begins at `pods`, and a socket's or image's own files are
        # the system pods' affair
        ours = {
            masked_path(path, Counter()) for path in node.tree if path.count("/") <= 6
        }
        for path in sorted(ours | theirs):
            if path.split("/")[1] not in system:
                rows.field(f"{name}/{path}", path in ours, path in theirs)
    return rows.result


def _compare_containers(
    recording: Recording, nodes: Mapping[str, PlayedNode]
) -> tuple[Comparison, Comparison, Comparison]:
    """Mounts, environments, limits of every container that ran at the end."""
    mounts, envs, limits = Rows(), Rows(), Rows()
    for name, node in nodes.items():
        theirs_by_uid = node_pods(recording, name)
        ours_by_uid = {
            pod["metadata"]["uid"]: pod_name for pod_name, pod in node.pods.items()
        }
        for key, obj in inspected(recording, name).items():
            if (
                key not in node.containers
                or node.pods[key[0]]["metadata"]["namespace"] != NAMESPACE
            ):
                continue
            ours, theirs, where = (
                node.containers[key],
                obj["info"]["config"],
                f"{name}/{'/'.join(key)}",
            )
            mounts.mapping(
                where,
                without_made_up(ours.mounts, ours_by_uid, Counter()),
                without_made_up(
                    theirs["mounts"], theirs_by_uid, mounts.result.freedoms
                ),
            )
            variables = {
                entry["key"]: entry.get("value", "")
                for entry in theirs.get("envs") or ()
            }
            address = obj["status"]["labels"]["io.kubernetes.pod.name"]
            if node.addresses.get(address) and "IP" in variables:
                envs.result.freedoms[ADDRESS] += 1
                variables["IP"] = node.addresses[address]
            envs.mapping(where, dict(ours.envs), variables)
            limits.mapping(where, dict(ours.resources), theirs["linux"]["resources"])
    return mounts.result, envs.result, limits.result


def _compare_files(recording: Recording, nodes: Mapping[str, PlayedNode]) -> Comparison:
    """`/etc/hosts`, `/etc/resolv.conf`, the host's name: each container's, by the pod
    that calls itself so.
    """
    rows = Rows()
    for name, node in nodes.items():
        ours: dict[str, tuple[str, str]] = {}
        for pod_name, config in node.sandboxes.items():
            pod = node.pods.get(pod_name)
            if pod is None or pod_name not in node.hosts:
                continue
            dns = config.dns_config
            lines = [f"search {' '.join(dns['searches'])}"] if dns["searches"] else []
            lines += [*(f"nameserver {server}" for server in dns["servers"])]
            lines += [f"options {' '.join(dns['options'])}"] if dns["options"] else []
            hosts = (
                node.hosts[pod_name].replace(node.addresses[pod_name], "ADDRESS")
                if config.hostname
                else node.hosts[pod_name]
            )
            ours[config.hostname or f"{name}/{pod_name}"] = (
                "".join(f"{line}\n" for line in lines),
                hosts,
            )
        for resolver, hosts, hostname in container_files(recording, name):
            if hostname == name:  # on the node's own network: they all look the same
                hostname = f"{name}/host-network"
                if hostname not in ours:
                    continue
            else:
                hosts = re.sub(
                    r"(?m)^\d+\.\d+\.\d+\.\d+(?=\t\S*" + re.escape(hostname) + r")",
                    "ADDRESS",
                    hosts,
                )
                rows.result.freedoms[ADDRESS] += 1
            mine = ours.get(hostname, ("", ""))[0]
            if mine != resolver and _sorted_options(mine) == _sorted_options(resolver):
                rows.result.freedoms[OPTIONS] += 1
                mine = resolver
            rows.field(f"{hostname}/resolv.conf", mine, resolver)
            rows.field(f"{hostname}/hosts", ours.get(hostname, ("", ""))[1], hosts)
    return rows.result


def _sorted_options(resolver: str) -> list[str]:
    return [
        " ".join(sorted(line.split())) if line.startswith("options") else line
        for line in resolver.splitlines()
    ]


def _compare_tmpfs(recording: Recording, nodes: Mapping[str, PlayedNode]) -> Comparison:
    rows = Rows()
    for name, node in nodes.items():
        names = node_pods(recording, name)
        theirs = {}
        for line in recording.node(name).run("mounts").splitlines():
            device, path, _, options, *_ = line.split()
            size = re.search(r"size=(\d+)k", options)
            if device == "tmpfs" and "/pods/" in path and size:
                parts = [
                    names.get(part, part)
                    for part in path.removeprefix("/var/lib/kubelet/").split("/")
                ]
                theirs[masked_path("/".join(parts), rows.result.freedoms)] = (
                    int(size[1]) * 1024
                )
        ours = {masked_path(path, Counter()): size for path, size in node.tmpfs.items()}
        rows.mapping(name, ours, theirs)
    return rows.result


def _compare_volume_listing(
    recording: Recording, nodes: Mapping[str, PlayedNode]
) -> Comparison:
    """What `ls -laR /v` showed inside the pod with one volume of each kind: kind, mode,
    size or target of every entry.
    """
    rows = Rows()
    log = next(
        e.response
        for e in recording.exchanges("kubelet")
        if e.path.startswith(f"/api/v1/namespaces/{NAMESPACE}/pods/volumes/log")
    )
    node = next((n for n in nodes.values() if "volumes" in n.pods), None)
    if node is None:
        return rows.result
    base = {
        "cm": "configmap/cm",
        "sec": "secret/sec",
        "empty": "empty-dir/empty",
        "down": "downward-api/down",
        "proj": "projected/proj",
    }
    directory = ""
    for line in str(log).splitlines():
        words = line.split()
        if line.startswith("/v"):
            directory = line.rstrip(":").removeprefix("/v/")
        elif (
            len(words) > 8
            and words[8] not in (".", "..")
            and directory
            and "/" not in directory
        ):
            here = f"pods/volumes/volumes/kubernetes.io~{base[directory]}"
            name = masked_path(words[8], rows.result.freedoms)
            for path, (kind, mode, text) in node.contents.items():
                if (
                    path.rpartition("/")[0] == here
                    and masked_path(path.rpartition("/")[2], Counter()) == name
                ):
                    rows.field(
                        f"{directory}/{name}/kind",
                        {"l": "link", "d": "directory", "-": "file"}[words[0][0]],
                        kind,
                    )
                    if kind == "link":
                        rows.field(
                            f"{directory}/{name}/target",
                            masked_path(text, Counter()),
                            masked_path(words[10], Counter()),
                        )
                    else:
                        rows.field(
                            f"{directory}/{name}/mode", _bits(mode), words[0][1:]
                        )
                    break
            else:
                rows.field(f"{directory}/{name}", None, words[0])
        elif len(words) > 8 and words[0].startswith("-"):
            top = directory.partition("/")[0]
            stem = f"pods/volumes/volumes/kubernetes.io~{base[top]}/"
            match = next(
                (
                    v
                    for p, v in node.contents.items()
                    if p.startswith(f"{stem}..2") and p.endswith(f"/{words[8]}")
                ),
                None,
            )
            rows.field(
                f"{top}/{words[8]}/file",
                (_bits(match[1]), len(match[2])) if match else None,
                (words[0][1:], int(words[4])),
            )
    return rows.result


def _bits(mode: int) -> str:
    letters = "".join(
        letter if mode >> (8 - i) & 1 else "-" for i, letter in enumerate("rwxrwxrwx")
    )
    return (
        letters[:-1] + ("t" if letters[-1] == "x" else "T")
        if mode & 0o1000
        else letters
    )


def pod_sync_agreement(
    recording: Recording, nodes: Mapping[str, PlayedNode] | None = None
) -> AgreementTable:
    """All of it. `nodes`: the played nodes, if they were played already."""
    nodes = played(recording) if nodes is None else nodes
    table = AgreementTable(
        "Pod sync",
        "the recorded pods on our kubelets, with a disk",
        str(recording.provenance),
    )
    mounts, envs, limits = _compare_containers(recording, nodes)
    for question, result in (
        (
            "cgroups of pods and classes, and their values",
            _compare_cgroups(recording, nodes),
        ),
        ("every path below /var/lib/kubelet/pods", _compare_trees(recording, nodes)),
        ("mounts of each running container", mounts),
        ("environment of each running container", envs),
        ("limits of each running container", limits),
        (
            "/etc/hosts and /etc/resolv.conf in each container",
            _compare_files(recording, nodes),
        ),
        ("size of each tmpfs", _compare_tmpfs(recording, nodes)),
        (
            "one volume of each kind, listed from inside",
            _compare_volume_listing(recording, nodes),
        ),
    ):
        table.add(
            STAGE, question, f"{result.equal} equal", f"{result.total} fields", result
        )
    return table
