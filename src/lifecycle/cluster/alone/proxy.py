"""kube-proxy by itself: the rules of one node, into a network namespace or onto paper.

Rules of a machine are somebody's. So nothing is loaded unless the namespace is named,
even if it is the machine's own.

Upstream: `cmd/kube-proxy/app/server.go` (`newProxyServer`, `Run`), `server_linux.go`,
`pkg/proxy/metrics/metrics.go`, v1.36. Left out: modes other than iptables, the address
of a node that is not there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.alone.connection import Connection
from lifecycle.cluster.alone.health import Check
from lifecycle.cluster.alone.proxy_ports import ProxyPorts, proxier_metrics
from lifecycle.cluster.linux.in_namespace import PathCommandRunner
from lifecycle.cri.sandbox.network import in_network
from lifecycle.proxy.conntrack_sysctls import set_sysctls
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import Runner, TextRunner
from lifecycle.proxy.kernel_conntrack import KernelConntrack
from lifecycle.proxy.kube_proxy_configuration import KubeProxyConfiguration

NAME = "kube-proxy"
PROGRAMS = ("iptables", "iptables-save", "iptables-restore")


@dataclass(slots=True, frozen=True)
class ProxyOptions:
    """`netns`: the path of the network namespace that rules are loaded into; `dry_run`:
    they go to `print` instead.
    """

    hostname_override: str
    configuration: KubeProxyConfiguration = field(
        default_factory=KubeProxyConfiguration
    )
    netns: str = ""
    dry_run: bool = False

    def check(self) -> None:
        """Raises ValueError with one line that says what is wrong and what to do."""
        if self.dry_run:
            return
        if not self.netns:
            raise ValueError(
                "where shall the rules go? --netns PATH loads them there"
                " (/proc/self/ns/net is this machine's own), --dry-run prints them"
            )
        if not os.path.exists(self.netns):
            raise ValueError(f"--netns: {self.netns} is not there")
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            raise ValueError(f"{missing[0]} is missing: apt-get install iptables")
        if os.geteuid() != 0:
            raise ValueError("loading rules needs root: use sudo, or --dry-run")


class PrintingRunner(TextRunner):
    """Rules as text, each input of `iptables-restore` handed on."""

    def __init__(self, printed: Callable[[str], None]) -> None:
        super().__init__(counters=False)
        self._printed = printed

    async def restore_all(self, text: str) -> None:
        """See `Runner`."""
        await super().restore_all(text)
        self._printed(text)


class LoneProxy:
    """The proxy of a node of the server behind a connection. `printed`: hears the rules
    of a dry run.
    """

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        options: ProxyOptions,
        printed: Callable[[str], None] = print,
    ) -> None:
        self._client = connection.client(NAME)
        self._informers = SharedInformerFactory(self._client)
        self._clock = clock
        self._options = options
        self._printed = printed
        self._proxier: Proxier | None = None
        self._made = asyncio.Event()

    def readyz(self) -> Mapping[str, Check]:
        """See `Component`."""

        def synced() -> str:
            there = self._proxier is not None and self._proxier.synced.is_set()
            return "" if there else "the rules are not in place"

        return {"rules": synced}

    async def metrics(self) -> str:
        """See `Component`."""
        if self._proxier is None:
            return ""
        return proxier_metrics(self._proxier)

    async def run(self) -> None:
        """See `Component`. Raises StatusError if there is no such node."""
        options = self._options
        name = options.hostname_override
        node = await self._client.get(resource("nodes"), name)
        addresses = (node.get("status") or {}).get("addresses") or ()
        node_ip = next(
            (each["address"] for each in addresses if each["type"] == "InternalIP"),
            "127.0.0.1",
        )
        config = options.configuration.proxier
        conntrack = None
        sink: Runner = PrintingRunner(self._printed)
        if not options.dry_run:
            sink = PathCommandRunner(options.netns)
            conntrack = KernelConntrack.where_possible(options.netns)
            if conntrack is not None:
                set_sysctls(config.conntrack, options.netns, os.cpu_count() or 1)
        listen = partial(_listen, options.netns)
        self._proxier = Proxier(
            self._client,
            self._informers,
            node_name=name,
            node_ip=node_ip,
            clock=self._clock,
            sink=sink,
            config=config,
            listen=(None if options.dry_run else partial(listen, node_ip)),
            conntrack=conntrack,
        )
        self._made.set()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._proxier.run(), name=NAME)
                if not options.dry_run:
                    ports = ProxyPorts(
                        self._proxier,
                        listen,
                        options.configuration.healthz,
                        options.configuration.metrics,
                    )
                    tasks.create_task(ports.run(), name=f"{NAME} ports")
        finally:
            await self._informers.stop()
            if conntrack is not None:
                conntrack.close()

    async def until_ready(self) -> None:
        """See `Component`: once the rules are in place."""
        await self._made.wait()
        assert self._proxier is not None
        await self._proxier.synced.wait()


def _listen(netns: str, address: str, port: int) -> socket.socket:
    """For whoever asks the node. Raises OSError."""
    with in_network(netns):
        sock = socket.create_server((address, port))
    sock.setblocking(False)
    return sock
