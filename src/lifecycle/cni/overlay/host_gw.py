"""The host-gw backend: no tunnel. Each host is the gateway to its own pods; the others
get a route.

Nothing is wrapped, nothing is lost of the MTU. But the next hop of a route must be a
neighbour: all hosts must share one layer-2 network.

Upstream: flannel v0.28, `pkg/backend/hostgw/hostgw.go`, `pkg/backend/route_network.go`.
"""

from __future__ import annotations

import contextlib
import ipaddress
from dataclasses import dataclass

from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.lease import ADDED, Lease, LeaseAttrs, LeaseEvent


def route_for(lease: Lease, link: int = 0) -> Route:
    """The way to another host's pods: through that host."""
    return Route(lease.subnet, lease.attrs.public_ip, link)


@dataclass(slots=True)
class HostGwBackend:
    """The routes of one host. `netlink` is open in the host's namespace; `ext_if` is
    the interface that leads to other hosts.
    """

    netlink: Netlink
    ext_if: str
    public_ip: ipaddress.IPv4Address

    @property
    def attrs(self) -> LeaseAttrs:
        """What others must know about this host."""
        return LeaseAttrs(self.public_ip, "host-gw")

    def handle(self, events: list[LeaseEvent]) -> None:
        """Set and remove routes. Leases of other backends are not ours."""
        index = self.netlink.link(self.ext_if).index
        for event in events:
            if event.lease.attrs.backend_type != "host-gw":
                continue
            route = route_for(event.lease, index)
            if event.type == ADDED:
                self.netlink.route_replace(route)
            else:
                with contextlib.suppress(OSError):
                    self.netlink.route_del(route)
