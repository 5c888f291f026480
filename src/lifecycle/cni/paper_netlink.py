"""A kernel on paper: one namespace's links, addresses, routes and neighbours, kept in
lists.

For machines where nobody may touch a real one.

It answers the same calls as `Netlink` and refuses the same things with the same
numbers, as far as plugins and overlay ask: names that are taken, links that are not
there, addresses and routes that exist already.
"""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import Any

from lifecycle.cni.addresses import Interface, Network
from lifecycle.cni.netlink.addr import SCOPE_LINK, SCOPE_NOWHERE
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link, LinkNotFoundError
from lifecycle.cni.netlink.neigh import Neighbour
from lifecycle.cni.netlink.route import Route


class PaperNetlink(Netlink):
    """One namespace. `peers`: those that veth ends may go to, by any number given as
    descriptor.
    """

    def __init__(
        self, name: str = "host", peers: dict[int, PaperNetlink] | None = None
    ) -> None:
        self.name = name
        self.peers = peers if peers is not None else {}
        self._links: dict[int, Link] = {1: Link(1, "lo", 0, "00:00:00:00:00:00", 65536)}
        self._addresses: list[tuple[int, Interface]] = []
        self._routes: list[Route] = []
        self.arp: list[Neighbour] = []
        self.fdb: list[Neighbour] = []
        self.hairpin: dict[int, bool] = {}

    def close(self) -> None:
        """Nothing to close."""

    def link_add(
        self, name: str, kind: str, *data: bytes, mtu: int = 0, mac: str = ""
    ) -> None:
        """A new interface."""
        if any(link.name == name for link in self._links.values()):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        index = max(self._links) + 1
        self._links[index] = Link(
            index,
            name,
            0,
            mac or f"02:00:00:00:{len(self.name):02x}:{index:02x}",
            mtu or 1500,
            kind,
        )

    def veth_add(
        self, name: str, peer: str, *, peer_netns_fd: int, mtu: int = 0, mac: str = ""
    ) -> None:
        """A pair."""
        there = self.peers[peer_netns_fd]
        self.link_add(name, "veth", mtu=mtu, mac=mac)
        there.link_add(peer, "veth", mtu=mtu)
        near, far = self.link(name), there.link(peer)
        self._links[near.index] = replace(near, parent=far.index)
        there._links[far.index] = replace(far, parent=near.index)

    def links(self) -> list[Link]:
        """All interfaces."""
        return list(self._links.values())

    def link(self, name: str) -> Link:
        """Raises LinkNotFoundError."""
        for link in self._links.values():
            if link.name == name:
                return link
        raise LinkNotFoundError()

    def link_set(
        self,
        index: int,
        *,
        up: bool | None = None,
        promiscuous: bool = False,
        **values: Any,
    ) -> None:
        """Switch and set."""
        link = self._links[index]
        if up is not None:
            link = replace(link, flags=int(up), oper_state="up" if up else "down")
            for owner, address in self._addresses if up else ():
                if owner == index and address.network.prefixlen < address.max_prefixlen:
                    self._connected(index, address)
        self._links[index] = replace(
            link, promiscuity=int(promiscuous) or link.promiscuity, **values
        )

    def _connected(self, index: int, address: Interface) -> None:
        route = Route(address.network, None, index, scope=SCOPE_LINK, source=address.ip)
        if route not in self._routes:
            self._routes.append(route)

    def bridge_port_set(
        self, index: int, *, hairpin: bool | None = None, isolated: bool | None = None
    ) -> None:
        """Raises OSError for what is no port."""
        if not self._links[index].master:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        if hairpin is not None:
            self.hairpin[index] = hairpin

    def link_del(self, index: int) -> None:
        """Remove an interface, its addresses, its routes."""
        del self._links[index]
        self._addresses = [
            (owner, address) for owner, address in self._addresses if owner != index
        ]
        self._routes = [route for route in self._routes if route.link != index]

    def addr_add(self, index: int, address: Interface) -> None:
        """Raises OSError if it is there."""
        if (index, address) in self._addresses:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        self._addresses.append((index, address))
        if self._links[index].up and address.network.prefixlen < address.max_prefixlen:
            self._connected(index, address)

    def addr_del(self, index: int, address: Interface) -> None:
        """Take it away."""
        self._addresses.remove((index, address))

    def addrs(self, index: int, version: int = 0) -> list[Interface]:
        """An interface's addresses."""
        return [
            address
            for owner, address in self._addresses
            if owner == index and version in (0, address.version)
        ]

    def route_add(self, route: Route) -> None:
        """Raises OSError if there is one to the same destination."""
        if any(_way(one) == _way(route) for one in self._routes):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        self._routes.append(route)

    def route_add_ecmp(self, route: Route) -> None:
        """Raises OSError if there is quite the same."""
        if route in self._routes:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        self._routes.append(route)

    def route_replace(self, route: Route) -> None:
        """In place of one to the same destination."""
        self._routes = [one for one in self._routes if _way(one) != _way(route)] + [
            route
        ]

    def route_del(self, route: Route) -> None:
        """Raises OSError if it is not there."""
        same = [
            one
            for one in self._routes
            if _way(one) == _way(route)
            and route.scope in (SCOPE_NOWHERE, one.scope)
            and one.link == route.link
        ]
        if not same:
            raise OSError(errno.ESRCH, os.strerror(errno.ESRCH))
        self._routes.remove(same[0])

    def routes(self, version: int = 4) -> list[Route]:
        """All routes of an IP version."""
        samples = [
            (route, route.destination or route.gateway) for route in self._routes
        ]
        return [
            route
            for route, sample in samples
            if sample is not None and sample.version == version
        ]

    def neigh_set(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        """ARP or forwarding entry."""
        table = self.fdb if bridge else self.arp
        table[:] = [
            one for one in table if one.destination != neighbour.destination
        ] + [neighbour]

    def neigh_del(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        """Remove one."""
        (self.fdb if bridge else self.arp).remove(neighbour)

    def neighbours(self, index: int, *, bridge: bool = False) -> list[Neighbour]:
        """An interface's entries."""
        return [one for one in (self.fdb if bridge else self.arp) if one.link == index]


def _way(route: Route) -> tuple[Network | None, int]:
    """Where a route leads to. Each family has a default route of its own."""
    gateway = route.gateway if route.destination is None else None
    return route.destination, gateway.version if gateway else 0


def attach_on_paper(
    host: PaperNetlink,
    conf: dict[str, Any],
    decided: dict[str, Any],
    if_name: str = "eth0",
) -> tuple[PaperNetlink, dict[str, Any]]:
    """The bridge plugin's work, done by its own functions on paper: the pod's
    namespace, and the result.
    """
    from lifecycle.cni.plugins import bridge, ipam
    from lifecycle.cni.plugins.veth import setup_veth

    conf = {
        "vlans": [],
        "mac": "",
        "is_gateway": bool(conf.get("isGateway") or conf.get("isDefaultGateway")),
        **conf,
    }
    pod = PaperNetlink("pod", {0: host})
    link = bridge.ensure_bridge(host, conf)
    port, end = setup_veth(pod, host, 0, if_name, mtu=conf.get("mtu", 0))
    bridge.plug(host, link, port, conf)
    interfaces = [
        {"name": link.name},
        {"name": port.name},
        {"name": end.name, "sandbox": "pod"},
    ]
    result: dict[str, Any] = {"cniVersion": "1.1.0", "interfaces": interfaces}
    if decided.get("ips"):
        result |= {key: decided[key] for key in ("ips", "routes") if key in decided}
        gateways = bridge.calc_gateways(result, conf)
        ipam.configure_iface(pod, if_name, result)
        for address in (*gateways[4], *gateways[6]):
            bridge.ensure_addr(host, link, address, False)
    else:
        pod.link_set(end.index, up=True)
    return pod, result


def attach_ptp_on_paper(
    host: PaperNetlink, decided: dict[str, Any], name: str
) -> PaperNetlink:
    """The ptp plugin's work on paper: the pod's namespace."""
    from lifecycle.cni.addresses import parse_cidr
    from lifecycle.cni.plugins import ipam, ptp

    pod = PaperNetlink("pod", {0: host})
    pod.veth_add("eth0", name, peer_netns_fd=0)
    result = {
        "interfaces": [{"name": name}, {"name": "eth0"}],
        "ips": [{**ip, "interface": 1} for ip in decided["ips"]],
    }
    result["routes"] = decided.get("routes", [])
    ipam.configure_iface(pod, "eth0", result)
    end = pod.link("eth0")
    for ip in result["ips"]:
        address = parse_cidr(ip["address"])
        pod.route_del(Route(address.network, None, end.index, scope=SCOPE_NOWHERE))
        for route in ptp.pod_routes(address, ip["gateway"], end.index):
            pod.route_add(route)
    host.link_set(host.link(name).index, up=True)
    ptp.setup_host_veth(host, host.link(name), result)
    return pod
