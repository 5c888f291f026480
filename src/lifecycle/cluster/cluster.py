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
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.version import user_agent
from lifecycle.api.wire import MASTERS, Object, UserInfo
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.admission.type_checking import type_check
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.authn.jwt import shared_key
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.server.authority import kept_authority
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster import like
from lifecycle.cluster.cluster_addons import (
    DNS_ACCOUNT,
    DNS_GROUPS,
    PROXY_USER,
    DNSAddon,
    NodeProxies,
    install_dns,
)
from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig
from lifecycle.cluster.kubelet_connections import KubeletConnection
from lifecycle.cluster.nodes import NodeShape, kind_nodes, pod_network, with_pod_cidrs
from lifecycle.cluster.stores import authority_folder, check_address, open_store
from lifecycle.controllers.manager import ControllerManager
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.hollow.images import KIND_IMAGES
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.dns.server import ClusterDNS
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, parse_thresholds
from lifecycle.kubelet.kubelet import Kubelet
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.stats.summary import node_summary
from lifecycle.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from lifecycle.cluster.linux.given_containerd import GivenContainerd
    from lifecycle.cluster.linux.machines import LinuxMachines

COMPONENTS = ("scheduler", "controllers", "kubelet", "proxy", "dns")
"""What `--without` can leave out, so that a real one can take its place."""

RUNTIMES = ("hollow", "sandbox", "containerd")
OVERLAYS = ("vxlan", "host-gw")


@dataclass(slots=True)
class ClusterConfig:
    """What a cluster is made of. `nodes` counts all machines; `port` 0 picks a free
    one; `without` names components to leave out.

    `cert_dir`: the folder of its keys and certificates; None: as the store has it
    (`authority_folder`).

    `authentication`, `authorization` and `admission` are what stands in
    kube-apiserver's flags of those names; None: as kubeadm sets them. `latency`:
    seconds that the hollow runtime takes for each step of starting a container; 0:
    none. `overlay`: how packets get from node to node where there are real ones
    (`vxlan`, `host-gw`). `like`: a recording's folder, or `kind` for the one that
    travels with the package.
    """

    nodes: int = 3
    store: str = "memory"
    cert_dir: Path | None = None
    port: int = 0
    runtime: str = "hollow"
    overlay: str = "vxlan"
    token: str = ""
    without: tuple[str, ...] = ()
    seed: int | None = None
    like: str | Path | None = None
    https: bool = True
    ready_timeout: float = 60.0
    latency: float = 0.0
    authentication: AuthenticationOptions | None = None
    authorization: AuthorizationOptions | None = None
    admission: AdmissionOptions | None = None
    audit: AuditOptions | None = None
    cors_allowed_origins: tuple[str, ...] = ()
    node_shapes: list[NodeShape] = field(default_factory=list)

    def check(self) -> None:
        """Raises ValueError with one line that says what is wrong and what to do."""
        if self.nodes < 1:
            raise ValueError(f"--nodes must be at least 1, not {self.nodes}")
        unknown = [name for name in self.without if name not in COMPONENTS]
        if unknown:
            raise ValueError(
                f"--without knows {', '.join(COMPONENTS)}; not {', '.join(unknown)}"
            )
        kind, colon, socket = self.runtime.partition(":")
        if kind not in RUNTIMES or (colon and (kind != "containerd" or not socket)):
            raise ValueError(
                f"--runtime knows {', '.join(RUNTIMES)}, containerd:SOCKET; not"
                f" {self.runtime}"
            )
        if colon and self.nodes != 1:
            raise ValueError(
                f"--runtime {self.runtime} is one machine: use --nodes 1, or --runtime"
                " containerd"
            )
        if self.overlay not in OVERLAYS:
            raise ValueError(
                f"--overlay knows {', '.join(OVERLAYS)}; not {self.overlay}"
            )
        if self.runtime != "hollow" and (self.like or self.node_shapes):
            raise ValueError(
                "--like describes nodes that are not here: it needs --runtime hollow,"
                f" not {self.runtime}"
            )
        check_address(self.store)


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
        self._tasks: list[asyncio.Task[None]] = []
        self._informers: SharedInformerFactory | None = None
        self._failed: asyncio.Future[None] | None = None

    # -- life --------------------------------------------------------------------------

    async def start(self, serving: Callable[[], None] | None = None) -> None:
        """Bring everything up; what is left out is not waited for.

        `serving` is called once the API answers: what takes the place of something left
        out may come from then on. Raises TimeoutError naming the nodes that did not
        become Ready, or what a component raised.
        """
        self._failed = asyncio.get_running_loop().create_future()
        store = await open_store(self.config.store)
        seed = like.read(self.config.like) if self.config.like else None
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
            cors_allowed_origins=self.config.cors_allowed_origins,
            signing_key=shared_key() if not self.config.https else None,
        )
        certificates = self.server.certificates
        await self.server.start(
            (lambda store: like.plant(store, seed, certificates.ca_pem.decode()))
            if seed
            else None
        )
        if self.config.https:
            self._port = await self.server.serve_https("127.0.0.1", self.config.port)
        if serving is not None:
            serving()
        shapes = self.config.node_shapes or (
            seed.nodes if seed else kind_nodes(self.config.nodes)
        )
        if "controllers" not in self.config.without:
            manager = ControllerManager(
                self.client(
                    "kube-controller-manager",
                    UserInfo(
                        "system:kube-controller-manager", ("system:authenticated",)
                    ),
                ),
                clock=self.clock,
                names=self.names,
                root_ca=self.server.certificates.ca_pem.decode(),
                client_for=self._controller_client,
                cluster_cidr=pod_network(len(shapes)),
                check_policy=type_check,
                issue_token=self.server.config.legacy_tokens.issue,
            )
            self._run("controllers", manager.run)
        else:
            # nobody gives the nodes ranges of pod addresses, so they bring them along
            shapes = with_pod_cidrs(shapes)
        if "scheduler" not in self.config.without:
            client = self.client(
                "kube-scheduler",
                UserInfo("system:kube-scheduler", ("system:authenticated",)),
            )
            self._informers = SharedInformerFactory(client)
            self.scheduler = Scheduler.new(
                client,
                self._informers,
                clock=self.clock,
                rng_seed=self.config.seed,
            )
            self._run("scheduler", self.scheduler.run)
        if self.config.runtime != "hollow" and "kubelet" not in self.config.without:
            await self._start_machines(shapes)
        elif "proxy" not in self.config.without:
            client = self.client(
                "kube-proxy", UserInfo(PROXY_USER, ("system:authenticated",))
            )
            self.proxies = NodeProxies(
                client, clock=self.clock, cluster_cidr=pod_network(len(shapes))
            )
        if "dns" not in self.config.without and self.config.https:
            await install_dns(self.client("kubeadm"))
            addon = DNSAddon(
                self.client("coredns", UserInfo(DNS_ACCOUNT, DNS_GROUPS)),
                clock=self.clock,
            )
            self.dns = addon.server
            self._run("dns", addon.run)
        if "kubelet" not in self.config.without:
            for shape in shapes:
                self.join(shape)
            await self._until_ready(shapes)
        if self.dns is not None:
            await self._until_answering(self.dns)

    def join(self, shape: NodeShape) -> None:
        """Let a machine join: a kubelet with its runtime, under the identity of its
        node.
        """
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
            runtime = self.runtimes[shape.name] = HollowRuntime(
                clock=self.clock,
                names=self.names,
                latency=self.config.latency,
                images=shape.images or KIND_IMAGES,
            )
        config = KubeletConfiguration(
            shape.name,
            shape.address,
            shape.pod_cidr,
            taints=list(shape.taints),
            capacity=dict(shape.capacity),
            machine_info=shape.machine_info,
            eviction_hard=parse_thresholds(KIND_EVICTION_HARD),
            **real,
        )
        kubelet = new_main_kubelet(
            config,
            Dependencies(
                self.client("kubelet", user),
                runtime,
                self.clock,
                summary=partial(node_summary, runtime) if real else None,
            ),
        )
        if self.proxies is not None:
            self.proxies.add(shape.name, shape.address)
        self.kubelets[shape.name] = kubelet
        self.server.kubelets[shape.name] = KubeletConnection(kubelet)
        self._run(f"kubelet {shape.name}", kubelet.run)

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
        await self.machines.publish()
        for name, run in self.machines.tasks(self.config.without):
            self._run(name, run)

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

    async def _mark_control_plane(self, shape: NodeShape) -> None:
        """What kubeadm does once the kubelet has registered: a kubelet may not give
        itself the labels of a control plane.
        """
        await self.client("kubeadm").patch(
            resource("nodes"),
            shape.name,
            "",
            {"metadata": {"labels": dict(shape.labels)}},
        )

    async def stop(self) -> None:
        """End what was started, in reverse order."""
        for task in reversed(self._tasks):
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        self._tasks.clear()
        if self.proxies is not None:
            await self.proxies.stop()
        if self.machines is not None:
            await self.machines.stop()
        if self._informers is not None:
            await self._informers.stop()
        if hasattr(self, "server"):
            await self.server.stop()

    async def stop_component(self, name: str) -> None:
        """End one of them and nothing else, as if it had crashed: `scheduler`,
        `controllers`, `kubelet NODE`. Raises KeyError if no such thing runs.
        """
        running = {task.get_name(): task for task in self._tasks}
        task = running[name]
        self._tasks.remove(task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def failure(self) -> None:
        """Wait for ever; raises when a component dies."""
        assert self._failed is not None
        await asyncio.shield(self._failed)

    # -- ways in -----------------------------------------------------------------------

    def client(self, component: str, user: UserInfo | None = None) -> Client:
        """An in-process client: the whole handler chain, no socket. Without a user, the
        admin's.
        """
        user = user or UserInfo("kubernetes-admin", (MASTERS, "system:authenticated"))
        return Client(self.server.in_process_transport(user), user_agent(component))

    @property
    def url(self) -> str:
        """`https://127.0.0.1:PORT`."""
        return f"https://127.0.0.1:{self._port}"

    def kubeconfig(self, name: str = "lifecycle") -> Object:
        """A kubeconfig for the admin."""
        certificates = self.server.certificates
        certificate, key = certificates.client_certificate(
            "kubernetes-admin", [MASTERS]
        )
        return kubeconfig(self.url, certificates.ca_pem, certificate, key, name=name)

    def write_kubeconfig(self, path: Path, name: str = "lifecycle") -> None:
        """Write `kubeconfig()` to a file that only the owner can read."""
        write_kubeconfig(self.kubeconfig(name), path)

    # -- inside ------------------------------------------------------------------------

    def _run(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        async def supervised() -> None:
            try:
                await run()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                error.add_note(f"in {name}")
                if self._failed is not None and not self._failed.done():
                    self._failed.set_exception(error)
                raise

        self._tasks.append(asyncio.create_task(supervised(), name=name))

    async def _until_answering(self, dns: ClusterDNS) -> None:
        assert self._failed is not None
        started = asyncio.ensure_future(dns.started.wait())
        either: list[asyncio.Future[Any]] = [started, self._failed]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                await self._failed
        finally:
            started.cancel()

    async def _until_ready(self, shapes: list[NodeShape]) -> None:
        waiting = {shape.name for shape in shapes}
        unmarked = {shape.name: shape for shape in shapes if shape.labels}
        managed = "controllers" not in self.config.without

        async def watch_nodes() -> None:
            nodes = resource("nodes")
            client = self.client("lifecycle")
            stream = await client.watch(nodes, resource_version="0", bookmarks=False)
            async for frame in stream:
                name = frame.object["metadata"]["name"]
                if name in unmarked:
                    await self._mark_control_plane(unmarked.pop(name))
                if is_ready(frame.object, managed=managed):
                    waiting.discard(name)
                if not waiting:
                    return

        assert self._failed is not None
        watching = asyncio.ensure_future(watch_nodes())
        try:
            async with asyncio.timeout(self.config.ready_timeout):
                await asyncio.wait(
                    [watching, self._failed], return_when=asyncio.FIRST_COMPLETED
                )
                if self._failed.done():
                    await self._failed
                await watching
        except TimeoutError:
            raise TimeoutError(
                f"not Ready after {self.config.ready_timeout:.0f} s:"
                f" {', '.join(sorted(waiting))}"
            ) from None
        finally:
            watching.cancel()


def is_ready(node: Object, *, managed: bool = True) -> bool:
    """Whether a Node's Ready condition is True and, if a controller manages nodes, the
    not-ready taint is gone.
    """
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    taints = node.get("spec", {}).get("taints", ())
    return ready and not (
        managed
        and any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
    )
