"""How hollow nodes lead their pods' connections on: through the rules that their own
kube-proxies wrote, to whom the cluster's own DNS names.

There is no kernel that goes by the rules, so they are gone through by hand, for the
first packet of each connection. Nothing else of a packet is played.

Ours; upstream it is the kernel's work.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Mapping

from lifecycle.cluster.cluster_addons import DNS_ADDRESS, NodeProxies
from lifecycle.cri.hollow.process.resolver import Record
from lifecycle.dns.server import ClusterDNS
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.walk import DROP, REJECT, Node, Packet, Walk, walk

MOST_LEADS = 2
"""Nodes whose rules a connection passes: that where it begins, and perhaps another
whose port it was for.
"""
_LOST = {REJECT: errno.ECONNREFUSED, DROP: errno.ETIMEDOUT}


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

    def records(self, server: str, name: str, kind: str) -> list[Record]:
        """See `Way.ask`."""
        dns = self._dns()
        if dns is None or server != DNS_ADDRESS:
            raise KeyError(server)
        return [Record(*record) for record in dns.answer(name, kind).answer]


class HollowWay:
    """Implements `Way` for the pods of one node."""

    def __init__(self, ways: HollowWays, node: str, address: str) -> None:
        self._ways, self._node, self._address = ways, node, address

    async def ask(self, server: str, name: str, kind: str) -> list[Record]:
        """See `Way`."""
        return self._ways.records(server, name, kind)

    async def lead(
        self, source: str, host: str, port: int, protocol: str = "tcp"
    ) -> tuple[str, int]:
        """See `Way`."""
        packet = Packet(source or self._address, host, port, protocol)
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
            packet = Packet(packet.source, packet.destination, packet.port, protocol)
        return packet.destination, packet.port
