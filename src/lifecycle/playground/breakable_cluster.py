"""A cluster whose parts can be taken away and brought back, one by one.

What can break: a node loses power; etcd, the scheduler or the controller manager stops;
the line from a component to the API server is cut. Nothing else is told: whoever is
left finds out as in a real cluster, by leases that are not renewed, watches that end
and requests that fail.

Upstream: none. What it takes away is what `test/e2e/chaosmonkey` and
`test/e2e/apps/disruption.go` ask of a real cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api.http.wire import UserInfo
from lifecycle.client.rest import Client
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.nodes import NodeShape
from lifecycle.etcd.store import Store
from lifecycle.playground.etcd_process import EtcdProcess
from lifecycle.playground.link import Link

MANAGER, SCHEDULER = "kube-controller-manager", "kube-scheduler"
COMPONENTS = {MANAGER: "controllers", SCHEDULER: "scheduler"}
"""Clients of the API server that can be stopped, and what the cluster calls them."""

ETCD = "etcd"

NODE_PREFIX = "system:node:"


class CannotBreakError(Exception):
    """There is no such part, or it is in that state already: one line that says so."""


@dataclass(slots=True, frozen=True)
class Broken:
    """`kind`: `component`, `node` or `link`. `name`: whose."""

    kind: str
    name: str


class BreakableCluster(Cluster):
    """A cluster on virtual time. `broken` is what does not work at the moment."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self.broken: set[Broken] = set()
        self._links: dict[str, Link] = {}
        self._etcd = EtcdProcess()

    async def _open_store(self) -> Store:
        return self._etcd

    def client(self, component: str, user: UserInfo | None = None) -> Client:
        """See `Cluster.client`; over the component's own line."""
        client = super().client(component, user)
        if user is not None and user.name.startswith(NODE_PREFIX):
            component = user.name.removeprefix(NODE_PREFIX)
        client.transport = self.link(component).through(client.transport)
        return client

    def link(self, name: str) -> Link:
        """The line of a component, or of a node's kubelet."""
        return self._links.setdefault(name, Link())

    def _start_kubelet(self, shape: NodeShape) -> None:
        """The server asks a node's kubelet over the node's line, too; a machine that is
        off does not answer.
        """
        super()._start_kubelet(shape)
        self.link(f"machine {shape.name}").mend()
        ways = self.server.kubelets
        for line in (shape.name, f"machine {shape.name}"):
            ways[shape.name] = self.link(line).to_node(ways[shape.name])

    @property
    def parts(self) -> dict[str, list[str]]:
        """What can break, by kind."""
        nodes = list(self._shapes)
        return {
            "component": [*COMPONENTS, ETCD],
            "node": nodes,
            "link": [*COMPONENTS, *nodes],
        }

    async def break_part(self, kind: str, name: str) -> None:
        """Take it away. Raises CannotBreakError."""
        part = self._part(kind, name)
        if part in self.broken:
            raise CannotBreakError(f"{kind} {name} is broken already")
        if kind == "link":
            self.link(name).cut()
        elif kind == "node":
            self.link(f"machine {name}").cut()
            await self.stop_component(f"kubelet {name}")
            del self.runtimes[name]
        elif name == ETCD:
            self._etcd.kill()
        else:
            await self.stop_component(COMPONENTS[name])
        self.broken.add(part)

    async def mend_part(self, kind: str, name: str) -> None:
        """Bring it back; a node boots with nothing running. Raises CannotBreakError."""
        part = self._part(kind, name)
        if part not in self.broken:
            raise CannotBreakError(f"{kind} {name} is not broken")
        if kind == "link":
            self.link(name).mend()
        elif kind == "node":
            self.join(self._shapes[name])
        elif name == ETCD:
            self._etcd.start()
        else:
            self.start_component(COMPONENTS[name])
        self.broken.discard(part)

    def _part(self, kind: str, name: str) -> Broken:
        names = self.parts.get(kind)
        if names is None:
            raise CannotBreakError(
                f"{kind!r} cannot break; {', '.join(self.parts)} can"
            )
        if name not in names:
            raise CannotBreakError(f"there is no {kind} {name!r}: {', '.join(names)}")
        return Broken(kind, name)
