"""Where packets end, in both modes: the same Services, the same question, two sets of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.proxy.iptables.chains import JUMP_CHAINS
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from lifecycle.proxy.iptables.sync_proxy_rules import sync_proxy_rules as iptables_rules
from lifecycle.proxy.iptables.tables import Tables
from lifecycle.proxy.iptables.walk import Node, Packet
from lifecycle.proxy.iptables.walk import outcomes as iptables_outcomes
from lifecycle.proxy.nftables.sync_proxy_rules import sync_proxy_rules as nftables_rules
from tests.proxy.nft_walk import Table
from tests.proxy.shapes import both_maps

NODE_IP, OTHER_NODE_IP = "192.168.0.2", "192.168.1.2"
POD, STRANGER, BLOCKED = "10.0.0.2", "203.0.113.2", "203.0.113.130"
NODE = NodeFacts("here", NODE_IP, other_addresses=(OTHER_NODE_IP,))
CONFIG = ProxierConfig(cluster_cidr="10.0.0.0/8")
LOOPBACK = "127.0.0.1"


class End(NamedTuple):
    """Where the first packet of a connection may arrive (or `DROP`, `REJECT`), and whether it gets the node's address."""

    at: frozenset[str]
    masqueraded: bool = False


def end(*at: str, masqueraded: bool = False) -> End:
    return End(frozenset(at), masqueraded)


Ask = Callable[..., End]
"""`ask(source, destination, port, protocol="tcp")`."""


def saved_rules(services: Sequence[Object], slices: Sequence[Object], config: ProxierConfig, node: NodeFacts) -> str:
    """What `iptables-save` would print after a proxier's first sync."""
    tables = Tables()
    for jump in JUMP_CHAINS:
        tables.ensure_chain(jump.table, jump.destination)
        tables.ensure_rule(jump.table, jump.source, jump.rule)
    tables.restore(iptables_rules(*both_maps(services, slices, node), node, config).text())
    return tables.save()


def through_iptables(
    services: Sequence[Object], slices: Sequence[Object], config: ProxierConfig = CONFIG, node: NodeFacts = NODE
) -> Ask:
    machine = Node(parse_saved(saved_rules(services, slices, config, node)), set(node.addresses))

    def ask(source: str, destination: str, port: int, protocol: str = "tcp") -> End:
        ways = iptables_outcomes(
            machine, Packet(source, destination, port, protocol), from_node=machine.is_local(source)
        )
        return _told((way.destination, way.masqueraded) for way in ways)

    return ask


def through_nftables(
    services: Sequence[Object], slices: Sequence[Object], config: ProxierConfig = CONFIG, node: NodeFacts = NODE
) -> Ask:
    cidrs = ("fd00:172:30::/112",) if ":" in node.ip else ("172.30.0.0/16",)
    text = nftables_rules(*both_maps(services, slices, node), node, config, service_cidrs=cidrs)
    table = Table(text, frozenset((*node.addresses, LOOPBACK, "::1")))

    def ask(source: str, destination: str, port: int, protocol: str = "tcp") -> End:
        ways = table.outcomes(Packet(source, destination, port, protocol), from_node=source in table.addresses)
        return _told((_arrival(way.verdict, way.packet), way.masqueraded) for way in ways)

    return ask


def _arrival(verdict: str, packet: Packet) -> str:
    host = f"[{packet.destination}]" if ":" in packet.destination else packet.destination
    return f"{host}:{packet.port}" if verdict == "ACCEPT" else verdict


def _told(ways: object) -> End:
    found = set(ways)  # type: ignore[call-overload]
    masqueraded = {yes for _, yes in found}
    assert len(masqueraded) == 1, found  # no table of ours says both
    return End(frozenset(at for at, _ in found), masqueraded.pop())


MODES = {"iptables": through_iptables, "nftables": through_nftables}
