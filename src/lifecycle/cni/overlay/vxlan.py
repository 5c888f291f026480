"""The VXLAN backend: a pod's whole Ethernet frame travels as the payload of a UDP
datagram between hosts.

One device for each host, `flannel.1`. Three entries for each *other* host make it work,
and the kernel learns nothing by itself:

| entry | says | |---|---| | route `10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink` |
that subnet is behind the tunnel; the next hop is its device's address | | ARP
`10.244.2.0 lladdr <VTEP MAC>` | that next hop's MAC address: no question is ever
broadcast | | FDB `<VTEP MAC> dst 172.19.0.3` | behind that MAC address is this host |

The tunnel costs 50 bytes of each packet: outer IP 20, UDP 8, VXLAN 8, inner Ethernet
14. So the MTU in the pods is 1450.

Upstream: flannel v0.28, `pkg/backend/vxlan/{vxlan,device,vxlan_network}.go`. Left out:
IPv6, `directRouting`, GBP, re-creating a device that somebody deleted.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link
from lifecycle.cni.netlink.neigh import Neighbour
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.lease import ADDED, Lease, LeaseAttrs, LeaseEvent, Subnet

DEFAULT_VNI = 1
KERNEL_PORT, IANA_PORT = 8472, 4789
"""Linux had VXLAN before the number was assigned, and kept its own as default; flannel
leaves it to the kernel (port 0).
"""
OVERHEAD = {"outer IP": 20, "UDP": 8, "VXLAN": 8, "inner Ethernet": 14}
ENCAP_OVERHEAD = sum(OVERHEAD.values())


@dataclass(slots=True, frozen=True)
class VxlanConfig:
    """The `Backend` part of the configuration."""

    vni: int = DEFAULT_VNI
    port: int = 0
    mtu: int = 1500
    learning: bool = False


def parse_vxlan_config(backend: Mapping[str, Any], default_mtu: int) -> VxlanConfig:
    """Keys are matched whatever their case, as Go's decoder does."""
    raw = {key.lower(): value for key, value in backend.items()}
    return VxlanConfig(
        raw.get("vni", DEFAULT_VNI),
        raw.get("port", 0),
        raw.get("mtu", default_mtu),
        raw.get("learning", False),
    )


@dataclass(slots=True, frozen=True)
class Entries:
    """What one other host needs, as data."""

    arp: tuple[str, str]
    fdb: tuple[str, str]
    route: tuple[str, str]


def entries_for(lease: Lease) -> Entries:
    """The three entries: (next hop, MAC), (MAC, host), (subnet, next hop). Raises
    LookupError for a host that does not tell its MAC.
    """
    mac = str((lease.attrs.backend_data or {})["VtepMAC"])
    hop = str(lease.subnet.network_address)
    return Entries(
        (hop, mac), (mac, str(lease.attrs.public_ip)), (str(lease.subnet), hop)
    )


def new_hardware_addr() -> str:
    """A random MAC address: unicast, locally administered. Upstream:
    `pkg/mac/mac.go`.
    """
    first, *rest = os.urandom(6)
    return ":".join(f"{byte:02x}" for byte in ((first | 2) & 0xFE, *rest))


@dataclass(slots=True)
class VxlanBackend:
    """The device of one host. `netlink` is open in the host's namespace; `ext_if` is
    the interface that leads to other hosts.

    `source`: the device's address, which is where packets come from that the host sends
    itself or rewrites. By default it is the subnet's own, as with flannel.
    """

    netlink: Netlink
    ext_if: str
    public_ip: ipaddress.IPv4Address
    config: VxlanConfig = field(default_factory=VxlanConfig)
    mac: str = field(default_factory=new_hardware_addr)
    source: ipaddress.IPv4Address | None = None

    @property
    def name(self) -> str:
        """`flannel.1`."""
        return f"flannel.{self.config.vni}"

    @property
    def mtu(self) -> int:
        """What is left for a pod's packet."""
        return self.config.mtu - ENCAP_OVERHEAD

    @property
    def attrs(self) -> LeaseAttrs:
        """What others must know about this host."""
        return LeaseAttrs(
            self.public_ip, "vxlan", {"VNI": self.config.vni, "VtepMAC": self.mac}
        )

    def register(self, own: Subnet) -> Link:
        """Make the device, with an address of its own, /32: a source for what the host
        itself sends. Raises OSError.
        """
        self.netlink.vxlan_add(
            self.name,
            self.config.vni,
            link=self.netlink.link(self.ext_if).index,
            local=self.public_ip,
            port=self.config.port,
            learning=self.config.learning,
            mtu=self.mtu,
            mac=self.mac,
        )
        link = self.netlink.link(self.name)
        source = self.source or own.network_address
        self.netlink.addr_add(link.index, parse_cidr(f"{source}/32"))
        self.netlink.link_set(link.index, up=True)
        return self.netlink.link(self.name)

    def handle(self, events: list[LeaseEvent]) -> None:
        """Programme the kernel: ARP, FDB, and last the route; if one fails, what was
        before it goes again. Leases of other backends are not ours.
        """
        index = self.netlink.link(self.name).index
        for event in events:
            if event.lease.attrs.backend_type != "vxlan":
                continue
            try:
                entries = entries_for(event.lease)
            except LookupError:
                continue  # it does not say how: the others' tunnels are none the worse
            arp = Neighbour(index, entries.arp[1], ipaddress.ip_address(entries.arp[0]))
            fdb = Neighbour(index, entries.fdb[0], ipaddress.ip_address(entries.fdb[1]))
            hop = ipaddress.ip_address(entries.route[1])
            route = Route(event.lease.subnet, hop, index, onlink=True)
            if event.type == ADDED:
                with contextlib.suppress(OSError), contextlib.ExitStack() as undo:
                    self.netlink.neigh_set(arp)
                    undo.callback(self._forget, arp)
                    self.netlink.neigh_set(fdb, bridge=True)
                    undo.callback(self._forget, fdb, bridge=True)
                    self.netlink.route_replace(route)
                    undo.pop_all()
                continue
            # each on its own: one that is gone already must not keep the others
            self._forget(arp)
            self._forget(fdb, bridge=True)
            with contextlib.suppress(OSError):
                self.netlink.route_del(route)

    def _forget(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        with contextlib.suppress(OSError):
            self.netlink.neigh_del(neighbour, bridge=bridge)
