"""What flanneld and its CNI plugin do on a node: announce one's own subnet, keep the
ways to the others, write the CNI configuration.

The controller gives each Node a `podCIDR`. As soon as the agent sees its own, it makes
the tunnel's device, writes what others must know into its Node's annotations, and puts
the CNI configuration into place: from then on pods can be connected. Every other Node
with such annotations becomes an ARP, an FDB entry and a route (VXLAN), or a route
(host-gw).

Pods hang on the node by `ptp`, as kind's do, not by a bridge: between two pods on one
bridge an answer would not pass the node's own rules, unless the kernel's `br_netfilter`
is there, and an address that was rewritten on the way there would not be rewritten
back.

The tunnel's device borrows the node's own address, where flannel gives it one of the
pods'. So a pod that a node speaks to sees the node, whether a tunnel lies between them
or not, as it does in a kind cluster.

Upstream: flannel v0.28, `main.go`, `pkg/subnet/kube/kube.go`; flannel's CNI plugin,
which delegates to `bridge`.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cluster.linux.hosts import Host
from lifecycle.cni.errors import CNIError
from lifecycle.cni.overlay.cable import EXT_IF
from lifecycle.cni.overlay.host_gw import HostGwBackend
from lifecycle.cni.overlay.lease import Subnet, pod_subnet
from lifecycle.cni.overlay.subnet_manager import NodeLeases, acquire_lease
from lifecycle.cni.overlay.vxlan import VxlanBackend

OVERLAYS = ("vxlan", "host-gw")
HOST_MTU = 1500
CONFLIST = "10-flannel.conflist"


def cni_configuration(subnet: Subnet, mtu: int, data_dir: Path) -> dict[str, Any]:
    """The network of a node's pods: a cable to the node, an address from its subnet,
    host ports. `data_dir`: the addresses in use.
    """
    ipam = {
        "type": "host-local",
        "dataDir": str(data_dir),
        "routes": [{"dst": "0.0.0.0/0"}],
        "ranges": [[{"subnet": str(subnet)}]],
    }
    return {
        "cniVersion": "0.3.1",
        "name": "cbr0",
        "plugins": [
            {"type": "ptp", "ipMasq": False, "ipam": ipam, "mtu": mtu},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


class OverlayAgent:
    """The agent of one node. `network`: the range that all pods are in. `ready` is set
    once pods can be connected.
    """

    def __init__(
        self,
        host: Host,
        overlay: str,
        client: Client,
        nodes: SharedInformer,
        network: Subnet,
    ) -> None:
        self.host = host
        self.client = client
        self.conf_dir = host.directory / "net.d"
        self.conf_dir.mkdir()
        self.ready = asyncio.Event()
        self._network = network
        self._nodes = nodes
        self._events: asyncio.Queue[tuple[str, Object]] = asyncio.Queue()
        self._leases: NodeLeases | None = None
        self.mtu = HOST_MTU
        self.backend: VxlanBackend | HostGwBackend
        if overlay == "vxlan":
            self.backend = VxlanBackend(
                host.netlink, EXT_IF, host.address, source=host.address
            )
            self.mtu = self.backend.mtu
        else:
            self.backend = HostGwBackend(host.netlink, EXT_IF, host.address)

    async def run(self) -> None:
        """Until cancelled. Raises OSError if the kernel has no VXLAN, CNIError for a
        subnet out of range.
        """
        put = self._events.put_nowait
        handlers = self._nodes.add_event_handler(
            lambda node: put(("ADDED", node)),
            lambda _, node: put(("MODIFIED", node)),
            lambda node: put(("DELETED", node)),
        )
        self._nodes.start()
        try:
            while True:
                kind, node = await self._events.get()
                if self._leases is None:
                    await self._register(node)
                if self._leases is not None:
                    self.backend.handle(self._leases.node_event(kind, node))
        finally:
            self._nodes.remove_event_handler(handlers)

    async def _register(self, node: Object) -> None:
        """Our own Node has its subnet: begin. Events before that are looked at again
        afterwards.
        """
        if node["metadata"]["name"] != self.host.name:
            return
        try:
            subnet = pod_subnet(node)
        except CNIError:
            return  # not yet
        _, patch = acquire_lease(node, self.backend.attrs, self._network)
        if isinstance(self.backend, VxlanBackend):
            try:
                self.backend.register(subnet)
            except OSError as error:
                raise OSError(
                    f"no VXLAN device can be made ({error.strerror}): use --overlay"
                    " host-gw"
                ) from None
        if patch is not None:
            nodes = resource("nodes")
            await self.client.patch(
                nodes,
                self.host.name,
                "",
                patch,
                patch_type=MERGE_PATCH,
                subresource="status",
            )
        self._leases = NodeLeases(subnet)
        for other in self._nodes.indexer.list():
            self.backend.handle(self._leases.node_event("ADDED", other))
        text = json.dumps(
            cni_configuration(subnet, self.mtu, self.host.directory / "ipam"), indent=2
        )
        draft = (
            self.conf_dir / f"{CONFLIST}.new"
            # in the same place: containerd looks again when a file there is *written or
            # renamed*
        )
        draft.write_text(text)
        os.rename(draft, self.conf_dir / CONFLIST)
        self.ready.set()
