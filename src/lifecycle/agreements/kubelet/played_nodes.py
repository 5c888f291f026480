"""The recorded *kubelet* scenario, played on nodes with a disk: what pod sync is
compared on.

Our API server and a kubelet of ours for each recorded worker are given the recorded
requests, at the recorded pace, on virtual time. Each pod goes to the node it went to
then. The kubelets' directories and cgroup trees are ordinary directories; the runtime
is the hollow one, and what it was asked for is kept. `played` shows what is there when
the recorded commands were run on the nodes.
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.pods.dns import parse_resolv_conf
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cluster.one_node import NotingRuntime
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.etcd.memory import MemoryStore
from lifecycle.inspector import Recording
from lifecycle.kubelet.cm.cgroup_manager import CgroupManager
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, parse_thresholds
from lifecycle.kubelet.kubelet import Kubelet, node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration, LocalNode
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.volume.empty_dir import NotedMounter

NAMESPACE = "kubelet"
ROOT = "/var/lib/kubelet"
NODE_HOSTS = (
    "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost"
    " ip6-loopback\nfe00::0\tip6-localnet\n"
    "ff00::0\tip6-mcastprefix\nff02::1\tip6-allnodes\nff02::2\tip6-allrouters\n{ipv4}\t{name}\n{ipv6}\t{name}\n"
)
"""A kind node's own `/etc/hosts`: Docker writes it."""


PODS_GROUP = "kubelet-kubepods.slice"
"""The group that holds all pods. Its `pids.max` is a fact of the machine."""


@dataclass(slots=True)
class PlayedNode:
    """One node at the end. Paths in `tree` and `files` begin at the kubelet's root,
    uids replaced by pods' names.
    """

    name: str
    tree: set[str] = field(default_factory=set)
    contents: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    """Kind (`file`, `directory`, `link`), mode and text or target, by path."""
    cgroups: dict[str, dict[str, str]] = field(default_factory=dict)
    """Files by group, as the tree spells it."""
    tmpfs: dict[str, int] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    sandboxes: dict[str, PodSandboxConfig] = field(default_factory=dict)
    containers: dict[tuple[str, str], ContainerConfig] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)


def settled(recording: Recording) -> list[Object]:
    """The pods as they were in the end."""
    for exchange in recording.exchanges("kubelet"):
        if exchange.moment == "settled" and exchange.path.endswith("/pods"):
            return list(exchange.response["items"])
    raise LookupError("the recording has no settled pods")


def system_objects(recording: Recording, plural: str) -> list[Object]:
    """Objects of the fresh cluster."""
    for exchange in recording.exchanges("objects"):
        if exchange.method == "GET" and exchange.path == f"/api/v1/{plural}":
            return list(exchange.response["items"])
    return []


def stripped(obj: Object) -> Object:
    """An object as somebody could create it anew."""
    new = {key: copy.deepcopy(value) for key, value in obj.items() if key != "status"}
    for key in (
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "managedFields",
        "ownerReferences",
        "generation",
        "generateName",
    ):
        new["metadata"].pop(key, None)
    return new


def played(
    recording: Recording, directory: Path | None = None
) -> dict[str, PlayedNode]:
    """The nodes by name, after the last recorded request. `directory`: where to work; a
    temporary one if None.
    """
    if directory is None:
        with TemporaryDirectory() as temporary:
            return on_virtual_time(_play(recording, Path(temporary)))
    return on_virtual_time(_play(recording, directory))


async def _play(recording: Recording, directory: Path) -> dict[str, PlayedNode]:
    clock, names = Clock(), NameSource(1)
    server = create_server_chain(MemoryStore(), clock=clock, names=names)
    await server.start()
    admin = Client(
        server.in_process_transport(
            UserInfo("admin", ("system:masters", "system:authenticated"))
        ),
        "play/v1",
    )
    nodes = {
        node["metadata"]["name"]: copy.deepcopy(node)
        for node in system_objects(recording, "nodes")
    }
    on_node = {
        pod["metadata"]["name"]: pod["spec"]["nodeName"]
        for pod in settled(recording)
        if pod["spec"].get("nodeName")
    }
    workers = sorted({*on_node.values()})
    for pod in settled(recording):  # an earlier scenario had put the nodes into zones
        for label in ("topology.kubernetes.io/zone", "topology.kubernetes.io/region"):
            if pod["spec"].get("nodeName") and label in pod["metadata"]["labels"]:
                nodes[pod["spec"]["nodeName"]]["metadata"]["labels"][label] = pod[
                    "metadata"
                ]["labels"][label]
    kubelets: dict[str, tuple[Kubelet, NotingRuntime, Path]] = {}
    tasks: list[asyncio.Task[None]] = []
    try:
        for name in workers:
            kubelets[name] = _kubelet(
                server,
                nodes[name],
                directory / name,
                clock,
                names,
                machine_of(recording, name),
            )
        await _furnish(admin, recording)
        tasks += [
            asyncio.create_task(kubelet.run()) for kubelet, _, _ in kubelets.values()
        ]
        await asyncio.sleep(2)
        for pod in system_objects(recording, "pods"):
            if pod["spec"].get("nodeName") in workers:
                await admin.create(
                    resource("pods"), stripped(pod), pod["metadata"]["namespace"]
                )
        start = clock.now()
        for exchange in recording.exchanges("kubelet"):
            if exchange.method != "POST":
                break
            await asyncio.sleep(max(0.0, exchange.t - (clock.now() - start)))
            body, plural = copy.deepcopy(exchange.body), exchange.path.rsplit("/", 1)[1]
            await admin.create(resource(plural), body, NAMESPACE)
            name = body["metadata"]["name"]
            if plural == "pods" and name in on_node:
                target = {"apiVersion": "v1", "kind": "Node", "name": on_node[name]}
                binding = {
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {"name": name},
                    "target": target,
                }
                await admin.create(
                    resource("pods"),
                    binding,
                    NAMESPACE,
                    name=name,
                    subresource="binding",
                )
        await asyncio.sleep(max(0.0, 90.0 - (clock.now() - start)))
        return {name: await _look(name, *kubelets[name], admin) for name in workers}
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.stop()


@dataclass(slots=True, frozen=True)
class Machine:
    """What the recorded machine was: nothing that a kubelet decides."""

    pids: int
    ipv6: str
    gateway: str
    cluster_dns: tuple[str, ...]


def machine_of(recording: Recording, name: str) -> Machine:
    """Read off the recorded node. How many processes it could have,
    `kernel.threads-max`, stands in the group that holds all pods; Docker's resolver is
    the gateway of its network.
    """
    node = recording.node(name)
    pids = [
        int(line.rpartition(" ")[2])
        for line in node.run("cgroup-values").splitlines()
        if line.partition(" ")[0].endswith(f"{PODS_GROUP}/pids.max")
    ]
    ipv6 = re.findall(r"inet6 ([0-9a-f:]+)/\d+ scope global", node.run("ip-addr"))
    gateway = re.findall(r"^default via (\S+)", node.run("ip-route"), re.MULTILINE)
    config = yaml.safe_load(node.run("kubelet-config"))
    return Machine(
        next(iter(pids), 0),
        next(iter(ipv6), "::"),
        next(iter(gateway), ""),
        tuple(config["clusterDNS"]),
    )


def _kubelet(
    server: GenericAPIServer,
    node: Object,
    directory: Path,
    clock: Clock,
    names: NameSource,
    machine: Machine,
) -> tuple[Kubelet, NotingRuntime, Path]:
    name = node["metadata"]["name"]
    for controller in ("cpu", "memory", "pids"):
        (directory / "cgroup" / controller).mkdir(parents=True)
    address = next(
        a["address"]
        for a in node["status"]["addresses"]
        if a["type"] == "InternalIP" and ":" not in a["address"]
    )
    runtime = NotingRuntime(clock=clock, names=names, latency=0.15)
    user, groups = node_user(name)
    local = LocalNode(
        directory / "kubelet",
        directory / "cgroup",
        cgroup_version=1,
        cgroup_root="/kubelet",
        node_pids=machine.pids,
        mounter=NotedMounter(),
        cluster_dns=machine.cluster_dns,
        host_dns=parse_resolv_conf(f"nameserver {machine.gateway}\noptions ndots:0\n"),
        node_hosts=NODE_HOSTS.format(ipv4=address, name=name, ipv6=machine.ipv6),
    )
    config = KubeletConfiguration(
        name,
        address,
        node["spec"]["podCIDR"],
        labels=node["metadata"]["labels"],
        capacity=node["status"]["capacity"],
        provider_id=node["spec"].get("providerID", ""),
        local=local,
        eviction_hard=parse_thresholds(KIND_EVICTION_HARD),
    )
    client = Client(server.in_process_transport(UserInfo(user, groups)), "kubelet")
    kubelet = new_main_kubelet(config, Dependencies(client, runtime, clock))
    return kubelet, runtime, directory


async def _furnish(admin: Client, recording: Recording) -> None:
    """What controllers would have made: namespaces' accounts and certificates; and the
    fresh cluster's own objects.
    """
    try:
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE},
        }
        await admin.create(resource("namespaces"), namespace)
    except StatusError as error:
        if error.code != 409:
            raise
    pods, maps = (
        system_objects(recording, "pods"),
        system_objects(recording, "configmaps"),
    )
    accounts = {
        (p["metadata"]["namespace"], p["spec"].get("serviceAccountName", "default"))
        for p in pods
    }
    for where, name in sorted({*accounts, (NAMESPACE, "default")}):
        await _create(
            admin,
            "serviceaccounts",
            {"kind": "ServiceAccount", "metadata": {"name": name}},
            where,
        )
    certificates = {
        "kind": "ConfigMap",
        "metadata": {"name": "kube-root-ca.crt"},
        "data": {"ca.crt": "certificates\n"},
    }
    await _create(admin, "configmaps", certificates, NAMESPACE)
    for config_map in maps:
        await _create(
            admin,
            "configmaps",
            stripped(config_map),
            config_map["metadata"]["namespace"],
        )


async def _create(admin: Client, plural: str, obj: Object, namespace: str) -> None:
    try:
        await admin.create(resource(plural), {"apiVersion": "v1", **obj}, namespace)
    except StatusError as error:
        if error.code == 404 and "namespaces" in error.message:
            parent = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": namespace},
            }
            await admin.create(resource("namespaces"), parent)
            await admin.create(resource(plural), {"apiVersion": "v1", **obj}, namespace)
        elif error.code != 409:
            raise


async def _look(
    name: str, kubelet: Kubelet, runtime: NotingRuntime, directory: Path, admin: Client
) -> PlayedNode:
    """Everything there is, read before it goes."""
    seen = PlayedNode(
        name, sandboxes=runtime.sandbox_configs, containers=runtime.container_configs
    )
    for pod in (await admin.list(resource("pods")))["items"]:
        if pod["spec"].get("nodeName") == name:
            seen.pods[pod["metadata"]["name"]] = pod
            seen.addresses[pod["metadata"]["name"]] = pod["status"].get("podIP", "")
    by_uid = {pod["metadata"]["uid"]: pod_name for pod_name, pod in seen.pods.items()}
    root = directory / "kubelet"
    for path in sorted((root / "pods").rglob("*")):
        inside = "/".join(
            by_uid.get(part, part) for part in path.relative_to(root).parts
        )
        seen.tree.add(inside)
        mode = path.lstat().st_mode & 0o7777
        if path.is_symlink():
            seen.contents[inside] = ("link", 0o777, str(path.readlink()))
        elif path.is_dir():
            seen.contents[inside] = ("directory", mode, "")
        else:
            seen.contents[inside] = ("file", mode, path.read_text(errors="replace"))
        if path.name == "etc-hosts":
            seen.hosts[by_uid[path.parent.name]] = path.read_text()
    assert isinstance(kubelet.host, LocalPodHost)
    mounter = kubelet.host.volumes.mounter
    assert isinstance(mounter, NotedMounter)
    for path, size in mounter.tmpfs.items():
        seen.tmpfs[
            "/".join(by_uid.get(part, part) for part in path.relative_to(root).parts)
        ] = size
    seen.cgroups = dict(
        _cgroups(CgroupManager(directory / "cgroup", version=1), by_uid)
    )
    return seen


def _cgroups(
    tree: CgroupManager, by_uid: dict[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    names = {uid.replace("-", "_"): pod_name for uid, pod_name in by_uid.items()}
    groups: dict[str, dict[str, str]] = {}
    for controller in tree.controllers:
        base = tree.root / controller
        for path in base.rglob("*"):
            group = str((path if path.is_dir() else path.parent).relative_to(base))
            for uid, pod_name in names.items():
                group = group.replace(uid, pod_name)
            values = groups.setdefault(group, {})
            if path.is_file():
                values[path.name] = path.read_text()
    yield from groups.items()
