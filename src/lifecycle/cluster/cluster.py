"""One running cluster in one process: store, API server, controllers, scheduler,
kubelets.

This is the only place that knows all the rooms. It does what kubeadm and kind do: bring
up the store and the API server, let the machines join, start the control loops, and
wait until every node is Ready. The components still meet only through the API: each
gets a client with its own identity, and passes authentication and authorization like
anybody else.

Upstream: kubeadm `app/cmd/phases/init`, kind `pkg/cluster/internal/create`. Left out:
real processes, certificates for each component (an in-process identity stands for
them).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.api.http.wire import MASTERS, Object, UserInfo
from lifecycle.api.late_import import BEHIND_A_SOCKET, IN_A_TAB, load_beside
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.version import user_agent
from lifecycle.apiserver.admission.type_checking import type_check
from lifecycle.apiserver.authn.keyed_hash import shared_key
from lifecycle.apiserver.server.authority import kept_authority
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.cluster import like
from lifecycle.cluster.already_running import resume_pods
from lifecycle.cluster.cluster_addons import (
    DNS_ACCOUNT,
    DNS_ADDRESS,
    DNS_GROUPS,
    PROXY_USER,
    DNSAddon,
    NodeProxies,
    install_dns,
)
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.hollow_ways import HollowWay, HollowWays
from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig
from lifecycle.cluster.kubelet_connections import KubeletConnection
from lifecycle.cluster.node_readiness import NodesReady
from lifecycle.cluster.nodes import NodeShape, kind_nodes, pod_network, with_pod_cidrs
from lifecycle.cluster.stores import authority_folder, open_store
from lifecycle.cluster.supervisor import Supervisor
from lifecycle.controllers.manager import ControllerManager
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.hollow.images import KIND_IMAGES
from lifecycle.cri.hollow.network.network import HollowNetwork
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.dns.server import ClusterDNS
from lifecycle.etcd.store import Store
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, parse_thresholds
from lifecycle.kubelet.images.image_gc_manager import KIND_IMAGE_GC
from lifecycle.kubelet.kubelet import Kubelet
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.stats.summary import node_summary
from lifecycle.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from lifecycle.cluster.linux.given_containerd import GivenContainerd
    from lifecycle.cluster.linux.machines import LinuxMachines

ADMIN = "kubernetes-admin"


class Cluster:
    """A cluster. `await start()` returns when the API answers and all nodes are Ready;
    `await stop()` ends everything it started.
    """

    def __init__(self, config: ClusterConfig) -> None:
        config.check()
        self.config = config
        self.clock = Clock()
        self.names = NameSource(config.seed)
        self.server: GenericAPIServer
        self.supervisor: Supervisor
        self.kubelets: dict[str, Kubelet] = {}
        self.runtimes: dict[str, HollowRuntime] = {}
        self.machines: LinuxMachines | GivenContainerd | None = None
        """The nodes, where they are real ones."""
        self.proxies: NodeProxies | None = None
        """The hollow nodes' kube-proxies; None if they were left out."""
        self.dns: ClusterDNS | None = None
        """The cluster's DNS; None if it was left out, or if nothing listens on sockets
        at all (`https=False`).
        """
        self.scheduler: Scheduler | None = None
        """None if it was left out."""
        self._port = 0
        self.informers: dict[str, SharedInformerFactory] = {}
        """What `controllers` and `scheduler` believe."""
        self._shapes: dict[str, NodeShape] = {}
        self.admin_groups: tuple[str, ...] = (MASTERS,)
        """Whom the administrator's certificate speaks for."""
        self._planted_pods: list[Object] = []
        self._hollow_network = HollowNetwork()
        self._ways: HollowWays | None = None
        self._services: SharedInformer | None = None
        """What all hollow kubelets know of Services."""

    # -- life --------------------------------------------------------------------------

    async def start(self, serving: Callable[[], None] | None = None) -> None:
        """Bring everything up; what is left out is not waited for.

        `serving` is called once the API answers: what takes the place of something left
        out may come from then on. Raises TimeoutError naming the nodes that did not
        become Ready, or what a component raised.
        """
        self.supervisor = Supervisor()
        if self.config.https:
            load_beside(*BEHIND_A_SOCKET)
        seed = like.read(self.config.like) if self.config.like else None
        if seed is not None:
            self.admin_groups = seed.admin_groups
            self._planted_pods = seed.pods
        await self._start_api_server(seed)
        if serving is not None:
            serving()
        shapes = self.config.node_shapes or (
            seed.nodes if seed else kind_nodes(self.config.nodes)
        )
        without = self.config.without
        if "controllers" in without:
            # nobody gives the nodes ranges of pod addresses, so they bring them along
            shapes = with_pod_cidrs(shapes)
        self._shapes = {shape.name: shape for shape in shapes}
        if self.config.runtime == "hollow":
            self.server.egress.lead_pods_through(
                pod_network(len(shapes)), self._hollow_network.dialer()
            )
        if "controllers" not in without:
            self._start_controllers()
        if "scheduler" not in without:
            self._start_scheduler()
        if self.config.runtime != "hollow" and "kubelet" not in without:
            await self._start_machines(shapes)
        elif "proxy" not in without:
            self.proxies = NodeProxies(
                self._component_client("kube-proxy", PROXY_USER),
                clock=self.clock,
                cluster_cidr=pod_network(len(shapes)),
            )
        if "dns" not in without and self.config.https:
            self.dns = await self._start_dns()
        if "kubelet" not in without:
            for shape in shapes:
                self.join(shape)
            await self._until_ready(shapes)
        if self.dns is not None:
            await self.supervisor.wait_for(self.dns.started.wait())

    async def _start_api_server(self, seed: like.Likeness | None) -> None:
        store = await self._open_store()
        folder = self.config.cert_dir or authority_folder(self.config.store)
        try:
            authority = (
                await asyncio.to_thread(kept_authority, folder)
                if folder is not None
                else None
            )
        except BaseException:
            await store.close()
            raise
        self.server = create_server_chain(
            store,
            authority=authority,
            clock=self.clock,
            names=self.names,
            token=self.config.token,
            authentication=self.config.authentication,
            authorization=self.config.authorization,
            admission=self.config.admission,
            audit=self.config.audit,
            encryption=self.config.encryption,
            cors_allowed_origins=self.config.cors_allowed_origins,
            signing_key=shared_key() if not self.config.https else None,
            kube_version=self.config.kube_version,
        )
        await self.server.start(
            (lambda store: like.plant(store, seed, self._root_ca)) if seed else None
        )
        if self.config.https:
            self._port = await self.server.serve_https("127.0.0.1", self.config.port)

    @property
    def _root_ca(self) -> str:
        """Whom pods trust. In a browser tab nobody is to be trusted: there is no TLS
        and no library that could make certificates.
        """
        return "" if IN_A_TAB else self.server.certificates.ca_pem.decode()

    async def _open_store(self) -> Store:
        return await open_store(self.config.store)

    def clock_for(self, component: str) -> Clock:
        """The clock that a component goes by: `controllers`, `scheduler`, `kubelet
        NODE`.
        """
        return self.clock

    def _start_controllers(self) -> None:
        name = "kube-controller-manager"
        manager = ControllerManager(
            self._component_client(name, f"system:{name}"),
            clock=self.clock_for("controllers"),
            names=self.names,
            root_ca=self._root_ca,
            client_for=self._controller_client,
            cluster_cidr=pod_network(len(self._shapes)),
            check_policy=type_check,
            issue_token=self.server.config.legacy_tokens.issue,
        )
        self.informers["controllers"] = manager.informers
        self.supervisor.run("controllers", manager.run)

    def _start_scheduler(self) -> None:
        client = self._component_client("kube-scheduler", "system:kube-scheduler")
        informers = self.informers["scheduler"] = SharedInformerFactory(client)
        scheduler = self.scheduler = Scheduler.new(
            client,
            informers,
            clock=self.clock_for("scheduler"),
            rng_seed=self.config.seed,
        )

        async def run() -> None:
            try:
                await scheduler.run()
            finally:
                await informers.stop()

        self.supervisor.run("scheduler", run)

    async def _start_dns(self) -> ClusterDNS:
        await install_dns(self.client("kubeadm"))
        addon = DNSAddon(
            self.client("coredns", UserInfo(DNS_ACCOUNT, DNS_GROUPS)), clock=self.clock
        )
        self.supervisor.run("dns", addon.run)
        return addon.server

    async def _until_ready(self, shapes: list[NodeShape]) -> None:
        nodes = NodesReady(shapes, managed="controllers" not in self.config.without)
        try:
            async with asyncio.timeout(self.config.ready_timeout):
                await self.supervisor.wait_for(
                    nodes.wait(self.client("lifecycle"), self.client("kubeadm"))
                )
        except TimeoutError:
            raise TimeoutError(
                f"not Ready after {self.config.ready_timeout:.0f} s: {nodes.summary()}"
            ) from None

    def join(self, shape: NodeShape) -> None:
        """Let a machine join: a kubelet with its runtime, under the identity of its
        node.
        """
        self._shapes[shape.name] = shape
        if self.machines is None:
            self.runtimes[shape.name] = HollowRuntime(
                clock=self.clock,
                names=self.names,
                latency=self.config.latency,
                seed=self.config.seed,
                images=shape.images or KIND_IMAGES,
                programs=self.config.programs,
                network=self._hollow_network,
                way=self._way(shape),
            )
            resume_pods(self.runtimes[shape.name], shape.name, self._planted_pods)
        if self.proxies is not None:
            self.proxies.add(shape.name, shape.address)
        self._start_kubelet(shape)

    def _way(self, shape: NodeShape) -> HollowWay | None:
        """How a hollow node leads its pods to Services: by its kube-proxy's rules."""
        if self.proxies is None:
            return None
        if self._ways is None:
            dice = random.Random(self.config.seed)
            self._ways = HollowWays(self.proxies, lambda: self.dns, dice)
        return self._ways.of(shape.name, shape.address)

    def _hollow_services(self, user: UserInfo) -> SharedInformer:
        """Asked for by the first of them."""
        if self._services is None:
            client = self.client("kubelet", user)
            self._services = SharedInformer(client, resource("services"))
        return self._services

    def _start_kubelet(self, shape: NodeShape) -> None:
        user = UserInfo(
            f"system:node:{shape.name}", ("system:nodes", "system:authenticated")
        )
        runtime: Runtime
        real: dict[str, Any] = {}
        if self.machines is not None:
            runtime = self.machines.runtime(shape.name)
            real = self.machines.kubelet_options(
                shape.name, self.server.certificates.server_context
            )
        else:
            runtime = self.runtimes[shape.name]
        config = KubeletConfiguration(
            shape.name,
            shape.address,
            shape.pod_cidr,
            taints=list(shape.taints),
            capacity=dict(shape.capacity),
            provider_id=f"kind://docker/lifecycle/{shape.name}",
            machine_info=shape.machine_info,
            eviction_hard=parse_thresholds(KIND_EVICTION_HARD),
            image_gc=KIND_IMAGE_GC,
            cluster_dns=(DNS_ADDRESS,),
            **real,
        )
        kubelet = new_main_kubelet(
            config,
            Dependencies(
                self.client("kubelet", user),
                runtime,
                self.clock_for(f"kubelet {shape.name}"),
                summary=partial(node_summary, runtime) if real else None,
                volume_files=self.runtimes[shape.name].volumes
                if shape.name in self.runtimes
                else None,
                services=None if real else self._hollow_services(user),
            ),
        )
        self.kubelets[shape.name] = kubelet
        self.server.kubelets[shape.name] = KubeletConnection(kubelet)
        self.supervisor.run(f"kubelet {shape.name}", kubelet.run)

    async def _start_machines(self, shapes: list[NodeShape]) -> None:
        """Real nodes: everything that is there before a kubelet joins."""
        from lifecycle.cluster.linux.given_containerd import (
            GivenContainerd,
        )  # Linux only
        from lifecycle.cluster.linux.machines import LinuxMachines

        _, _, socket = self.config.runtime.partition(":")
        if socket:
            self.machines = GivenContainerd(shapes, socket)
            await self.machines.start()
            return
        self.machines = LinuxMachines(
            shapes,
            runtime=self.config.runtime,
            overlay=self.config.overlay,
            pod_network=pod_network(len(shapes)),
            client_for=self.client,
            clock=self.clock,
        )
        await self.machines.start()
        await self.server.serve_socket(self.machines.api_socket())
        self.server.egress.lead_cluster_through(self.machines.outgoing_socket)
        await self.machines.publish()
        for name, run in self.machines.tasks(self.config.without):
            self.supervisor.run(name, run)

    def _component_client(self, component: str, user: str) -> Client:
        return self.client(component, UserInfo(user, ("system:authenticated",)))

    def _controller_client(self, account: str) -> Client:
        """The client of one controller: each has a service account of its own, and just
        the rights it needs.
        """
        groups = (
            "system:serviceaccounts",
            "system:serviceaccounts:kube-system",
            "system:authenticated",
        )
        return self.client(
            "kube-controller-manager",
            UserInfo(f"system:serviceaccount:kube-system:{account}", groups),
        )

    async def stop(self) -> None:
        """End what was started, in reverse order."""
        if hasattr(self, "supervisor"):
            await self.supervisor.stop()
        if self._services is not None:
            await self._services.stop()
        if self.proxies is not None:
            await self.proxies.stop()
        for runtime in self.runtimes.values():
            await runtime.stop()
        await self._hollow_network.close()
        if self.machines is not None:
            await self.machines.stop()
        if hasattr(self, "server"):
            await self.server.stop()

    async def stop_component(self, name: str) -> None:
        """End one of them and nothing else, as if it had crashed: `scheduler`,
        `controllers`, `kubelet NODE`. Raises KeyError if no such thing runs.
        """
        await self.supervisor.stop_component(name)

    def start_component(self, name: str) -> None:
        """Start anew what has ended: `scheduler`, `controllers`, `kubelet NODE`. A
        kubelet finds the containers that the last one has left. Raises KeyError for
        anything else.
        """
        kind, _, node = name.partition(" ")
        if kind == "kubelet":
            self._start_kubelet(self._shapes[node])
            return
        start = {
            "scheduler": self._start_scheduler,
            "controllers": self._start_controllers,
        }
        start[name]()

    async def failure(self) -> None:
        """Wait for ever; raises when a component dies."""
        await self.supervisor.failure()

    # -- ways in -----------------------------------------------------------------------

    def client(self, component: str, user: UserInfo | None = None) -> Client:
        """An in-process client: the whole handler chain, no socket. Without a user, the
        admin's.
        """
        user = user or UserInfo(ADMIN, (*self.admin_groups, "system:authenticated"))
        return Client(self.server.in_process_transport(user), user_agent(component))

    @property
    def url(self) -> str:
        """`https://127.0.0.1:PORT`."""
        return f"https://127.0.0.1:{self._port}"

    def kubeconfig(self, name: str = "lifecycle") -> Object:
        """A kubeconfig for the admin."""
        certificates = self.server.certificates
        certificate, key = certificates.client_certificate(ADMIN, self.admin_groups)
        return kubeconfig(self.url, certificates.ca_pem, certificate, key, name=name)

    def write_kubeconfig(self, path: Path, name: str = "lifecycle") -> None:
        """Write `kubeconfig()` to a file that only the owner can read."""
        write_kubeconfig(self.kubeconfig(name), path)
