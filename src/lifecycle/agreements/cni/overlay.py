"""What joins kind's nodes, held against the recorded ones: pieces of the pod network,
routes, configurations, masquerading.

kind has no overlay. Its daemon turns Nodes into routes; so the question to ours is:
with these Nodes, which routes on each node, which configuration file, which rules? And
one before: would our node controller have cut the pod network that way?

Lines of `ip route` that are not between nodes belong to pods (see the table of pod
networking), or to Docker's network around the nodes: those are left out.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from lifecycle.agreements.cni.pod_networking import route_text
from lifecycle.agreements.node_commands import cni_conf, lines_equal, node_moments
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.kindnet import cni_configuration, masq_rules, sync_routes
from lifecycle.compare import AgreementTable, Comparison, compare
from lifecycle.controllers.nodeipam import CIDRSet
from lifecycle.inspector import Recording

STAGE = "inter-host network"
PIECES = "pieces of the pod network, handed out"
SAME_SECOND = "order of nodes that were created in the same second"
OURS = "lifecycle.cni.overlay.kindnet, from the recorded Nodes"
EXT_IF = "eth0"

SyncRoutes = Callable[[Sequence[Mapping[str, Any]], str], list[Route]]
"""Nodes and one's own name → routes: what can be sabotaged."""


def recorded_nodes(recording: Recording) -> list[dict[str, Any]]:
    """The Nodes, oldest first. Those whose list was not recorded: none."""
    nodes = recording.at("objects").get("/api/v1/nodes")["items"]
    return sorted(
        nodes,
        key=lambda node: (
            node["metadata"]["creationTimestamp"],
            node["metadata"]["name"],
        ),
    )


def cluster_cidr(nodes: Sequence[Mapping[str, Any]]) -> ipaddress.IPv4Network:
    """The /16 that all pieces lie in."""
    return ipaddress.IPv4Network(nodes[0]["spec"]["podCIDR"]).supernet(new_prefix=16)


def routes_between_nodes(text: str) -> list[str]:
    """The lines of `ip route` that lead to other nodes' pods."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if f"dev {EXT_IF}" in line and "/24 via " in line]


def overlay_agreement(
    recording: Recording, routes: SyncRoutes = sync_routes
) -> AgreementTable:
    """All rows. `routes`: judge these instead of ours."""
    nodes = recorded_nodes(recording)
    table = AgreementTable(
        "Between the nodes",
        OURS,
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(nodes)} nodes, joined by plain routes: which piece of the pod"
            " network each gets, its way to the others' pods, what its CNI is told, and"
            f" what leaves under its own address; {table.outcome('rows')}."
        ),
        telling=PIECES,
    )
    cidrs = [node["spec"].get("podCIDR", "") for node in nodes]
    pieces = CIDRSet(str(cluster_cidr(nodes)))
    ours = [str(pieces.allocate_next()) for _ in nodes]
    table.add(
        STAGE, PIECES, " ".join(ours), " ".join(cidrs), _compare_pieces(nodes, ours)
    )
    by_name = {node["metadata"]["name"]: node for node in nodes}
    for name, moment, text in node_moments(recording, "ip-route"):
        here = [route_text(route, EXT_IF) for route in routes(nodes, name)]
        there = routes_between_nodes(text)
        question = f"{name}: routes to other nodes, {moment or 'at the end'}"
        left, right = "; ".join(here), "; ".join(there)
        table.add(STAGE, question, left, right, lines_equal(here, there))
    for name, _, text in node_moments(recording, "cni-conf"):
        theirs = json.loads(cni_conf(text))
        mine = cni_configuration(by_name[name]["spec"]["podCIDR"])
        result = Comparison()
        result.mapping("", mine, theirs)
        question = f"{name}: configuration written"
        table.add(STAGE, question, str(mine["name"]), str(theirs["name"]), result)
    for name, moment, text in node_moments(recording, "iptables-save"):
        agents = [
            line
            for line in text.splitlines()
            if line.startswith("-A") and "KIND-MASQ-AGENT" in line
        ]
        rules = masq_rules([str(cluster_cidr(nodes))])
        question = f"{name}: masquerading, {moment or 'at the end'}"
        left, right = f"{len(rules)} rules", f"{len(agents)} rules"
        table.add(STAGE, question, left, right, compare(rules, agents))
    return table


def _created(pair: tuple[Mapping[str, Any], str]) -> str:
    return str(pair[0]["metadata"]["creationTimestamp"])


def _compare_pieces(
    nodes: Sequence[Mapping[str, Any]], ours: Sequence[str]
) -> Comparison:
    """Each node's piece. Of nodes that were created in the same second nobody knows
    which came first.
    """
    result = Comparison()
    left = list(zip(nodes, ours, strict=True))
    for _, group in groupby(
        left, lambda pair: pair[0]["metadata"]["creationTimestamp"]
    ):
        pairs = list(group)
        mine = [piece for _, piece in pairs]
        theirs = [node["spec"].get("podCIDR", "") for node, _ in pairs]
        if mine != theirs and sorted(mine) == sorted(theirs):
            result.freedoms[SAME_SECOND] += 1
            mine = theirs
        for (node, _), here, there in zip(pairs, mine, theirs, strict=True):
            result.field(node["metadata"]["name"], here, there)
    return result
