"""How hollow nodes lead their pods' connections on: through the rules that their own
kube-proxies wrote, to whom the cluster's own DNS names.

There is no kernel that goes by the rules, so they are gone through by hand, for the
first packet of each connection. Nothing else of a packet is played.

Ours; upstream it is the kernel's work, and the C library's resolver's.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Mapping

from lifecycle.cluster.cluster_addons import DNS_ADDRESS, NodeProxies
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.hollow.process import NoSuchHost
from lifecycle.dns.server import ClusterDNS
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.walk import DROP, REJECT, Node, Packet, Walk, walk

MOST_LEADS = 2
"""Nodes whose rules a connection passes: that where it begins, and perhaps another
whose port it was for.
"""
_LOST = {REJECT: errno.ECONNREFUSED, DROP: errno.ETIMEDOUT}


def names_to_ask(name: str, dns: Fields) -> list[str]:
    """What the resolver asks for one name, in order: with few dots in it, the search
    domains come first. Upstream: glibc's `res_search`.
    """
    if name.endswith("."):
        return [name]
    found = [
        str(option).partition(":")[2]
        for option in dns.get("options") or ()
        if str(option).startswith("ndots:")
    ]
    searched = [f"{name}.{domain}" for domain in dns.get("searches") or ()]
    few = name.count(".") < int(found[-1] if found else 1)
    return [*searched, name] if few else [name, *searched]


class HollowWays:
    """Of all nodes. `addresses`: theirs, by name; `dns`: the cluster's, once there is
    one.
    """

    def __init__(
        self,
        proxies: NodeProxies,
        dns: Callable[[], ClusterDNS | None],
        rng: random.Random,
    ) -> None:
        self._proxies = proxies
        self._dns = dns
        self._rng = rng
        self._machines: dict[str, Node] = {}
        self._nodes: dict[str, str] = {}
        self._read: dict[str, str] = {}

    def of(self, name: str, address: str) -> HollowWay:
        """The way of one node, which joins the others."""
        self._machines[name] = Node({}, {address})
        self._nodes[address] = name
        return HollowWay(self, name, address)

    @property
    def nodes(self) -> Mapping[str, str]:
        """Their names, by address."""
        return self._nodes

    async def walk(self, node: str, packet: Packet, *, from_node: bool) -> Walk:
        """A packet's way through the rules of a node as they are now."""
        machine = self._machines[node]
        text = (await self._proxies.rules(node)).tables.save()
        if self._read.get(node) != text:
            self._read[node], machine.tables = text, parse_saved(text)
        return walk(machine, packet, self._rng.random, from_node=from_node)

    def address_of(self, name: str, dns: Fields) -> str:
        """See `Way.lookup`."""
        server = self._dns()
        if server is None or DNS_ADDRESS not in (dns.get("servers") or ()):
            raise KeyError(name)
        for asked in names_to_ask(name, dns):
            for record in server.answer(asked, "A").answer:
                if record.type == "A":
                    return record.data
        raise NoSuchHost(name)


class HollowWay:
    """Implements `Way` for the pods of one node."""

    def __init__(self, ways: HollowWays, node: str, address: str) -> None:
        self._ways, self._node, self._address = ways, node, address

    async def lookup(self, name: str, dns: Fields) -> str:
        """See `Way`."""
        return self._ways.address_of(name, dns)

    async def lead(self, source: str, host: str, port: int) -> tuple[str, int]:
        """See `Way`."""
        packet = Packet(source or self._address, host, port)
        node, from_node = self._node, not source
        for _ in range(MOST_LEADS):
            way = await self._ways.walk(node, packet, from_node=from_node)
            if way.verdict in _LOST:
                number = _LOST[way.verdict]
                raise OSError(number, os.strerror(number))
            packet, from_node = way.packet, False
            other = self._ways.nodes.get(packet.destination)
            if other is None or other == node:
                break
            node = other
            packet = Packet(packet.source, packet.destination, packet.port)
        return packet.destination, packet.port
