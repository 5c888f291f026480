"""A cluster's machines made of Linux: hosts, runtimes, overlay, proxies, DNS, and the
way in for pods.

`start` makes what must be there before any node joins; a node then asks for its parts
by name; `publish` says in the API where the API server and DNS are found, so that pods
reach both by their Services; `stop` takes everything away.

Upstream: what kind and kubeadm set up: containers as nodes, kube-flannel, kube-proxy,
CoreDNS, the reconciler of the `kubernetes` Service's endpoints
(`pkg/controlplane/reconcilers`). Left out: `kube-proxy`, `coredns` and the agents as
pods; they are tasks of this process.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.dns import DNSConfig
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.alone.proxy_ports import ProxyPorts
from lifecycle.cluster.cluster_addons import (
    DNS_ACCOUNT,
    DNS_ADDRESS,
    DNS_GROUPS,
    PROXY_USER,
)
from lifecycle.cluster.linux.clean import clean, clean_abandoned
from lifecycle.cluster.linux.containerd_node import ContainerdNode
from lifecycle.cluster.linux.hosts import Host, Hosts
from lifecycle.cluster.linux.in_namespace import PathCommandRunner
from lifecycle.cluster.linux.local_images import LocalImages
from lifecycle.cluster.linux.machine_facts import machine_capacity
from lifecycle.cluster.linux.overlay_agent import OverlayAgent
from lifecycle.cluster.linux.pod_network import NodePodNetwork
from lifecycle.cluster.linux.requirements import check
from lifecycle.cluster.linux.run_state import Run, new_run
from lifecycle.cluster.linux.sandbox_node import SandboxNode
from lifecycle.cluster.nodes import NodeShape
from lifecycle.cni.launchers import write_launchers
from lifecycle.cri.images.library import ImageLibrary, library_folder
from lifecycle.cri.images.registry import Registry
from lifecycle.cri.images.small_images import find_busybox
from lifecycle.dns.server import ClusterDNS
from lifecycle.kubelet.kubelet_configuration import LocalNode
from lifecycle.kubelet.server.listener import Listen
from lifecycle.kubelet.volume.empty_dir import LinuxMounter
from lifecycle.proxy.conntrack_sysctls import set_sysctls
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.kernel_conntrack import KernelConntrack

API_PORT, KUBELET_PORT, DNS_PORT, REGISTRY_PORT = 6443, 10250, 53, 5000
SYNC_FREQUENCY = 60.0
"""Seconds after which a kubelet looks at an idle pod again."""

Task = tuple[str, Callable[[], Awaitable[None]]]


class ClientFor(Protocol):
    """Makes a component's client, as `Cluster.client`."""

    def __call__(self, component: str, user: UserInfo | None = None) -> Client:
        """Without a user, the admin's."""
        ...


class LinuxMachines:
    """The machines of one run; the first shape is the control plane. `runtime`:
    `sandbox`, `containerd`; `overlay`: `vxlan`, `host-gw`.
    """

    def __init__(
        self,
        shapes: Sequence[NodeShape],
        *,
        runtime: str,
        overlay: str,
        pod_network: str,
        client_for: ClientFor,
        clock: Clock,
    ) -> None:
        self.runtime_name = runtime
        self.shapes = shapes
        self.clock = clock
        self.run: Run
        self._overlay = overlay
        self._pod_network = ipaddress.IPv4Network(pod_network)
        self._client_for = client_for
        self._stack = AsyncExitStack()
        self._agents: dict[str, OverlayAgent] = {}
        self._runtimes: dict[str, SandboxNode | ContainerdNode] = {}
        self.hosts: Hosts

    @property
    def control_plane(self) -> Host:
        """The machine that the API server and DNS are on."""
        return self.hosts.by_name[self.shapes[0].name]

    @property
    def where(self) -> str:
        """One line for whoever wants to look into the nodes."""
        node = self.control_plane.directory
        return f"nodes: {self.run.directory} (try nsenter --net={node}/netns ip route)"

    # -- coming up ---------------------------------------------------------------------

    async def start(self) -> None:
        """Make the machines. Raises ValueError for a machine that cannot, OSError;
        nothing is left then.
        """
        check(self.runtime_name)
        await asyncio.to_thread(clean_abandoned)
        self.run = new_run()
        self._stack.push_async_callback(asyncio.to_thread, clean, self.run)
        try:
            plugins = write_launchers(self.run.directory / "cni-bin")
            self.hosts = Hosts(
                self.run.directory, {shape.name: shape.address for shape in self.shapes}
            )
            self._stack.callback(self.hosts.close)
            for shape in self.shapes:
                shape.capacity = machine_capacity()
            busybox = find_busybox()
            assert busybox is not None  # `check` asked
            images = await asyncio.to_thread(
                LocalImages, busybox, ImageLibrary(library_folder())
            )
            self._make_agents()
            if self.runtime_name == "sandbox":
                await self._start_sandboxes(plugins, images)
            else:
                await self._start_containerds(plugins, images)
        except BaseException:
            await self.stop()
            raise

    def _make_agents(self) -> None:
        client = self._client_for("flanneld")
        nodes = SharedInformerFactory(client)
        self._stack.push_async_callback(nodes.stop)
        for name, host in self.hosts.by_name.items():
            informer = nodes.informer(resource("nodes"))
            self._agents[name] = OverlayAgent(
                host, self._overlay, client, informer, self._pod_network
            )

    async def _start_sandboxes(self, plugins: Path, images: LocalImages) -> None:
        for name, host in self.hosts.by_name.items():
            network = NodePodNetwork(host.directory, plugins, host.netns)
            ready = self._agents[name].ready.wait
            node = SandboxNode(
                host.directory / "sandbox", network, host.netns, images, ready, name
            )
            self._runtimes[name] = node
            self._stack.push_async_callback(node.close)
            await node.recover()

    async def _start_containerds(self, plugins: Path, images: LocalImages) -> None:
        sock = self.control_plane.socket(socket.SOCK_STREAM, REGISTRY_PORT)
        starting = []
        registry = await self._stack.enter_async_context(
            Registry(images.repositories(), sock)
        )
        for name, host in self.hosts.by_name.items():
            agent = self._agents[name]
            node = ContainerdNode(
                host.directory / "containerd",
                plugins,
                agent.conf_dir,
                host.netns,
                agent.ready.wait,
                name,
            )
            self._runtimes[name] = node
            self._stack.push_async_callback(node.close)
            starting.append(node.start(f"http://{registry.host}"))
        await asyncio.gather(*starting)

    # -- the parts of a node -----------------------------------------------------------

    def runtime(self, name: str) -> SandboxNode | ContainerdNode:
        """The container runtime of a node."""
        return self._runtimes[name]

    def kubelet_options(
        self, name: str, server_context: Callable[[], ssl.SSLContext]
    ) -> dict[str, Any]:
        """What the kubelet of a node needs besides what hollow ones need.
        `server_context` makes TLS for its own API.
        """
        sock = self.hosts.by_name[name].socket(socket.SOCK_STREAM, KUBELET_PORT)
        listen = Listen(
            server_context(), str(self.hosts.by_name[name].address), KUBELET_PORT, sock
        )
        return {
            "local": self.local_node(name),
            "listen": listen,
            "sync_frequency": SYNC_FREQUENCY,
        }

    def local_node(self, name: str) -> LocalNode:
        """What the node's kubelet is told of its machine."""
        host = self.hosts.by_name[name]
        return LocalNode(
            root_dir=host.directory / "kubelet",
            pod_logs_dir=str(host.directory / "log/pods"),
            container_logs_dir=str(host.directory / "log/containers"),
            cgroup_tree=Path("/sys/fs/cgroup"),
            cgroup_root=f"/{self.run.cgroup}/{name}",
            cgroup_driver="cgroupfs",
            mounter=LinuxMounter(),
            cluster_dns=(DNS_ADDRESS,),
            host_dns=DNSConfig(),
            node_hosts="127.0.0.1\tlocalhost\n"
            + "".join(f"{h.address}\t{h.name}\n" for h in self.hosts.by_name.values()),
        )

    def tasks(self, without: Sequence[str] = ()) -> Iterator[Task]:
        """What runs beside the kubelets: name and coroutine function of each."""
        for name, agent in self._agents.items():
            yield f"flanneld {name}", agent.run
        if "proxy" not in without:
            client = self._client_for(
                "kube-proxy", UserInfo(PROXY_USER, ("system:authenticated",))
            )
            informers = SharedInformerFactory(client)
            self._stack.push_async_callback(informers.stop)
            config = ProxierConfig(cluster_cidr=str(self._pod_network))
            for name, host in self.hosts.by_name.items():
                conntrack = KernelConntrack.where_possible(host.netns)
                if conntrack is not None:
                    self._stack.callback(conntrack.close)
                proxier = Proxier(
                    client,
                    informers,
                    node_name=name,
                    node_ip=str(host.address),
                    clock=self.clock,
                    sink=PathCommandRunner(host.netns),
                    config=config,
                    listen=partial(host.listen, str(host.address)),
                    conntrack=conntrack,
                )
                if conntrack is not None:
                    set_sysctls(config.conntrack, host.netns, os.cpu_count() or 1)
                yield f"kube-proxy {name}", proxier.run
                yield f"kube-proxy ports {name}", ProxyPorts(proxier, host.listen).run
        if "dns" not in without:
            client = self._client_for("coredns", UserInfo(DNS_ACCOUNT, DNS_GROUPS))
            informers = SharedInformerFactory(client)
            self._stack.push_async_callback(informers.stop)
            plane = self.control_plane
            sockets = (
                plane.socket(socket.SOCK_STREAM, DNS_PORT),
                plane.socket(socket.SOCK_DGRAM, DNS_PORT),
            )
            yield (
                "coredns",
                ClusterDNS(client, informers, clock=self.clock, sockets=sockets).run,
            )

    def api_socket(self) -> socket.socket:
        """Where the API server listens for pods and nodes."""
        return self.control_plane.socket(socket.SOCK_STREAM, API_PORT)

    def outgoing_socket(self, family: int, kind: int, protocol: int) -> socket.socket:
        """For a connection of the API server's into the cluster. Raises OSError."""
        return self.control_plane.outgoing_socket(family, kind, protocol)

    async def publish(self) -> None:
        """Endpoints of the two Services that have no pods behind them. Raises
        StatusError.
        """
        client = self._client_for("kube-apiserver")
        address = str(self.control_plane.address)
        await _put(
            client,
            _slice(
                "kubernetes",
                "default",
                "kubernetes",
                address,
                [("https", "TCP", API_PORT)],
            ),
        )
        ports = [("dns", "UDP", DNS_PORT), ("dns-tcp", "TCP", DNS_PORT)]
        await _put(
            client,
            _slice("kube-dns-control-plane", "kube-system", "kube-dns", address, ports),
        )
        subsets = [
            {
                "addresses": [{"ip": address}],
                "ports": [{"name": "https", "port": API_PORT, "protocol": "TCP"}],
            }
        ]
        metadata = {"name": "kubernetes", "namespace": "default"}
        labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
        endpoints = {
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {**metadata, "labels": labels},
        }
        await _put(client, {**endpoints, "subsets": subsets}, "endpoints")

    # -- going down --------------------------------------------------------------------

    async def stop(self) -> None:
        """Nothing is left. Raises OSError if something is."""
        await self._stack.aclose()


def _slice(
    name: str,
    namespace: str,
    service: str,
    address: str,
    ports: list[tuple[str, str, int]],
) -> Object:
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"kubernetes.io/service-name": service},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [
            {"name": name, "protocol": protocol, "port": number}
            for name, protocol, number in ports
        ],
    }


async def _put(
    client: Client, obj: Object, name: str = "endpointslices.discovery.k8s.io"
) -> None:
    """Create, or replace what is there (of a cluster that stood on this store
    before).
    """
    row, metadata = resource(name), obj["metadata"]
    try:
        await client.create(row, obj, metadata["namespace"])
    except StatusError as error:
        if error.code != 409:
            raise
        present = await client.get(row, metadata["name"], metadata["namespace"])
        version = {"resourceVersion": present["metadata"]["resourceVersion"]}
        await client.update(row, {**obj, "metadata": {**metadata, **version}})
