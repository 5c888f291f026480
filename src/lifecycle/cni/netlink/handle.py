"""One network namespace's netlink: what CNI plugins and the overlay ask of the kernel.

Upstream: `vishvananda/netlink`, `handle_linux.go` (`Handle`).
"""

from __future__ import annotations

import errno
import socket
import struct
from typing import Any

from lifecycle.cni.addresses import Address, Interface
from lifecycle.cni.namespaces import with_net_ns_path
from lifecycle.cni.netlink.addr import (
    RTM_DELADDR,
    RTM_GETADDR,
    RTM_NEWADDR,
    addr_body,
    parse_addr,
)
from lifecycle.cni.netlink.link import (
    AF_BRIDGE,
    IFF_PROMISC,
    IFF_UP,
    IFLA_ADDRESS,
    IFLA_AF_SPEC,
    IFLA_BR_VLAN_FILTERING,
    IFLA_IFNAME,
    IFLA_MASTER,
    IFLA_MTU,
    RTM_DELLINK,
    RTM_GETLINK,
    RTM_NEWLINK,
    RTM_SETLINK,
    Link,
    LinkNotFoundError,
    bridge_port_body,
    ifinfomsg,
    link_deserialize,
    new_link_body,
    parse_mac,
    veth_peer,
    vxlan_attrs,
)
from lifecycle.cni.netlink.neigh import (
    NUD_PERMANENT,
    RTM_DELNEIGH,
    RTM_GETNEIGH,
    RTM_NEWNEIGH,
    Neighbour,
    neigh_body,
    neigh_deserialize,
    neigh_list_body,
)
from lifecycle.cni.netlink.route import (
    RT_TABLE_MAIN,
    RTM_DELROUTE,
    RTM_GETROUTE,
    RTM_NEWROUTE,
    Route,
    deserialize_route,
    route_body,
)
from lifecycle.cni.netlink.wire import (
    NLM_F_CREATE,
    NLM_F_DUMP,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    NetlinkSocket,
    attribute,
    nested,
)


class Netlink:
    """One namespace's network: ours, or that of `netns`, in which the socket is opened.

    Every method raises OSError with the kernel's number.
    """

    def __init__(self, netns: str = "") -> None:
        if netns:
            with with_net_ns_path(netns):
                self._socket = NetlinkSocket()
        else:
            self._socket = NetlinkSocket()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- links -------------------------------------------------------------------------

    def link_add(
        self, name: str, kind: str, *data: bytes, mtu: int = 0, mac: str = ""
    ) -> None:
        """A new interface. `data`: attributes of its kind."""
        body = new_link_body(name, kind, *data, mtu=mtu, mac=mac)
        self._socket.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body)

    def bridge_add(
        self, name: str, *, mtu: int = 0, vlan_filtering: bool = False
    ) -> None:
        """A bridge."""
        data = [attribute(IFLA_BR_VLAN_FILTERING, b"\1")] if vlan_filtering else []
        self.link_add(name, "bridge", *data, mtu=mtu)

    def veth_add(
        self, name: str, peer: str, *, peer_netns_fd: int, mtu: int = 0, mac: str = ""
    ) -> None:
        """A pair: `name` here, `peer` in another namespace from the beginning."""
        self.link_add(
            name, "veth", veth_peer(peer, peer_netns_fd, mtu), mtu=mtu, mac=mac
        )

    def vxlan_add(
        self,
        name: str,
        vni: int,
        *,
        link: int,
        local: Address,
        port: int,
        learning: bool,
        mtu: int,
        mac: str,
    ) -> None:
        """A VXLAN device. Port 0 leaves the choice to the kernel (8472)."""
        data = vxlan_attrs(vni, link=link, local=local, port=port, learning=learning)
        self.link_add(name, "vxlan", *data, mtu=mtu, mac=mac)

    def links(self) -> list[Link]:
        """All interfaces."""
        return [
            link_deserialize(body)
            for _, body in self._socket.request(RTM_GETLINK, NLM_F_DUMP, ifinfomsg())
        ]

    def link(self, name: str) -> Link:
        """The interface of this name. Raises LinkNotFoundError."""
        try:
            answers = self._socket.request(
                RTM_GETLINK, 0, ifinfomsg() + attribute(IFLA_IFNAME, name)
            )
        except OSError as error:
            if error.errno in (errno.ENODEV, errno.ERANGE):
                raise LinkNotFoundError() from None
            raise
        return link_deserialize(answers[0][1])

    def link_set(
        self,
        index: int,
        *,
        up: bool | None = None,
        promiscuous: bool = False,
        **values: Any,
    ) -> None:
        """Switch on or off, and set `mac`, `mtu` or `master` (an index)."""
        flags = (IFF_UP if up else 0) | (IFF_PROMISC if promiscuous else 0)
        change = (IFF_UP if up is not None else 0) | (IFF_PROMISC if promiscuous else 0)
        body = ifinfomsg(index=index, flags=flags, change=change)
        if "mac" in values:
            body += attribute(IFLA_ADDRESS, parse_mac(values["mac"]))
        for key, kind in (("mtu", IFLA_MTU), ("master", IFLA_MASTER)):
            body += attribute(kind, values[key]) if key in values else b""
        self._socket.request(RTM_NEWLINK, 0, body)

    def bridge_port_set(
        self, index: int, *, hairpin: bool | None = None, isolated: bool | None = None
    ) -> None:
        """May a port send frames back where they came from? May it talk to other
        isolated ports?
        """
        body = bridge_port_body(index, hairpin=hairpin, isolated=isolated)
        self._socket.request(RTM_SETLINK, 0, body)

    def bridge_vlan(
        self, index: int, vlan: int, *, native: bool = False, delete: bool = False
    ) -> None:
        """Let a port take part in a VLAN; `native`: untagged frames belong to it."""
        flags = 0x2 | 0x4 if native else 0
        spec = nested(IFLA_AF_SPEC, attribute(2, struct.pack("=HH", flags, vlan)))
        self._socket.request(
            RTM_DELLINK if delete else RTM_SETLINK,
            0,
            ifinfomsg(AF_BRIDGE, index) + spec,
        )

    def link_del(self, index: int) -> None:
        """Remove an interface; a veth takes its other end along."""
        self._socket.request(RTM_DELLINK, 0, ifinfomsg(index=index))

    # -- addresses ---------------------------------------------------------------------

    def addr_add(self, index: int, address: Interface) -> None:
        """Give an interface an address. IPv4 gets a broadcast address, as `ip addr add
        … brd +` does it.
        """
        self._socket.request(
            RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, addr_body(index, address)
        )

    def addr_del(self, index: int, address: Interface) -> None:
        """Take it away."""
        self._socket.request(RTM_DELADDR, 0, addr_body(index, address))

    def addrs(self, index: int, version: int = 0) -> list[Interface]:
        """An interface's addresses, of one IP version or (0) of both."""
        family = {0: 0, 4: socket.AF_INET, 6: socket.AF_INET6}[version]
        answers = self._socket.request(
            RTM_GETADDR, NLM_F_DUMP, struct.pack("=BBBBI", family, 0, 0, 0, 0)
        )
        every = [parse_addr(body) for _, body in answers]
        return [
            address
            for owner, its_family, address in every
            if owner == index and (not family or its_family == family)
        ]

    # -- routes ------------------------------------------------------------------------

    def route_add(self, route: Route) -> None:
        """A new route."""
        self._socket.request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route_body(route))

    def route_add_ecmp(self, route: Route) -> None:
        """A new route, beside others to the same destination that are not quite the
        same.
        """
        self._socket.request(RTM_NEWROUTE, NLM_F_CREATE, route_body(route))

    def route_replace(self, route: Route) -> None:
        """A route, new or in place of one to the same destination."""
        self._socket.request(
            RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route_body(route)
        )

    def route_del(self, route: Route) -> None:
        """Remove a route. A route of scope nowhere stands for one of any scope."""
        self._socket.request(RTM_DELROUTE, 0, route_body(route, protocol=0, kind=0))

    def routes(self, version: int = 4) -> list[Route]:
        """The routes of the main table."""
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        answers = self._socket.request(
            RTM_GETROUTE, NLM_F_DUMP, struct.pack("=BBBBBBBBI", family, *[0] * 8)
        )
        every = [deserialize_route(body) for _, body in answers]
        return [
            route
            for route in every
            if route is not None and route.table == RT_TABLE_MAIN
        ]

    # -- neighbours --------------------------------------------------------------------

    def neigh_set(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        """A permanent ARP entry, or (`bridge`) an entry of a VXLAN device's forwarding
        table.
        """
        self._socket.request(
            RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, neigh_body(neighbour, bridge)
        )

    def neigh_del(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        """Remove one."""
        self._socket.request(RTM_DELNEIGH, 0, neigh_body(neighbour, bridge))

    def neighbours(self, index: int, *, bridge: bool = False) -> list[Neighbour]:
        """The permanent entries of an interface."""
        answers = self._socket.request(
            RTM_GETNEIGH, NLM_F_DUMP, neigh_list_body(index, bridge)
        )
        every = [neigh_deserialize(body) for _, body in answers]
        return [
            neighbour
            for neighbour in every
            if neighbour is not None
            and neighbour.link == index
            and neighbour.state & NUD_PERMANENT
        ]
