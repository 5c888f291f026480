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
from typing import Any

from lifecycle.agreements.pod_networking import (
    cni_conf,
    fields_equal,
    lines_equal,
    node_moments,
    route_text,
)
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.kindnet import cni_configuration, masq_rules, sync_routes
from lifecycle.compare import AgreementTable
from lifecycle.controllers.nodeipam import CIDRSet
from lifecycle.inspector import Recording

OURS = "lifecycle.cni.overlay.kindnet, from the recorded Nodes"
EXT_IF = "eth0"

SyncRoutes = Callable[[Sequence[Mapping[str, Any]], str], list[Route]]
"""Nodes and one's own name → routes: what can be sabotaged."""


def recorded_nodes(recording: Recording) -> list[dict[str, Any]]:
    """The Nodes, oldest first. Those whose list was not recorded: none."""
    found = recording.at("objects").get("/api/v1/nodes")["items"]
    return sorted(
        found,
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
        "Between the nodes", OURS, f"recording {recording.provenance}"
    )
    cidrs = [node["spec"].get("podCIDR", "") for node in nodes]
    pieces = CIDRSet(str(cluster_cidr(nodes)))
    ours = [pieces.allocate_next() for _ in nodes]
    pairs = list(
        zip(
            (node["metadata"]["name"] for node in nodes),
            sorted(map(str, ours)),
            sorted(cidrs),
            strict=True,
        )
    )
    table.add(
        "inter-host network",
        "pieces of the pod network, handed out",
        " ".join(map(str, ours)),
        " ".join(cidrs),
        fields_equal(pairs),
    )
    by_name = {node["metadata"]["name"]: node for node in nodes}
    for name, moment, text in node_moments(recording, "ip-route"):
        here = [route_text(route, EXT_IF) for route in routes(nodes, name)]
        there = routes_between_nodes(text)
        question = f"{name}: routes to other nodes, {moment or 'at the end'}"
        table.add(
            "inter-host network",
            question,
            "; ".join(here),
            "; ".join(there),
            lines_equal(here, there),
        )
    for name, _, text in node_moments(recording, "cni-conf"):
        theirs = json.loads(cni_conf(text))
        mine = cni_configuration(by_name[name]["spec"]["podCIDR"])
        found = fields_equal(
            (key, mine.get(key), theirs.get(key)) for key in sorted(mine | theirs)
        )
        table.add(
            "inter-host network",
            f"{name}: configuration written",
            "kindnet",
            str(theirs["name"]),
            found,
        )
    for name, moment, text in node_moments(recording, "iptables-save"):
        agents = [
            line
            for line in text.splitlines()
            if line.startswith("-A") and "KIND-MASQ-AGENT" in line
        ]
        rules = masq_rules([str(cluster_cidr(nodes))])
        question = f"{name}: masquerading, {moment or 'at the end'}"
        table.add(
            "inter-host network",
            question,
            f"{len(rules)} rules",
            f"{len(agents)} rules",
            lines_equal(rules, agents),
        )
    return table
