"""What kind does between its nodes: neither tunnel nor lease. The Nodes themselves say
all that is needed.

Each node's daemon watches Nodes. For every other node it sets a route from that node's
`podCIDR` to its `InternalIP`. For its own it writes the CNI configuration (ptp,
host-local, portmap), and rules that masquerade what leaves the cluster.

Upstream: kind v0.33, `images/kindnetd/cmd/kindnetd/{main,routes,cni,masq}.go`. Left
out: IPv6, network policies.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from lifecycle.cni.netlink.route import Route

MASQ_CHAIN = "KIND-MASQ-AGENT"
DATA_DIR = "/run/cni-ipam-state"
_AGENT = "kind-masq-agent:"


def internal_ip(node: Mapping[str, Any]) -> str:
    """The address under which other nodes reach this one; empty if there is none."""
    addresses = node.get("status", {}).get("addresses") or ()
    return next(
        (
            a["address"]
            for a in addresses
            if a["type"] == "InternalIP" and ":" not in a["address"]
        ),
        "",
    )


def sync_routes(nodes: Iterable[Mapping[str, Any]], own: str) -> list[Route]:
    """The routes to all nodes but one's own."""
    routes = []
    for node in nodes:
        gateway = internal_ip(node)
        if node["metadata"]["name"] == own or not gateway:
            continue
        for cidr in node.get("spec", {}).get("podCIDRs") or ():
            if ":" not in cidr:
                routes.append(
                    Route(ipaddress.ip_network(cidr), ipaddress.ip_address(gateway))
                )
    return sorted(routes, key=lambda route: str(route.destination))


def cni_configuration(pod_cidr: str, mtu: int = 1500) -> dict[str, Any]:
    """The `10-kindnet.conflist` of a node."""
    ipam = {
        "type": "host-local",
        "dataDir": DATA_DIR,
        "routes": [{"dst": "0.0.0.0/0"}],
        "ranges": [[{"subnet": pod_cidr}]],
    }
    plugins = [
        {"type": "ptp", "ipMasq": False, "ipam": ipam, "mtu": mtu},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ]
    return {"cniVersion": "0.3.1", "name": "kindnet", "plugins": plugins}


def masq_rules(pod_subnets: Iterable[str]) -> list[str]:
    """The rules as `iptables-save` prints them: pods keep their address towards pods,
    and get the node's towards anything else.
    """
    direct = (
        f"{_AGENT} ensure nat POSTROUTING directs all non-LOCAL destination traffic to"
        f" our custom {MASQ_CHAIN} chain"
    )
    local = f"{_AGENT} local traffic is not subject to MASQUERADE"
    outbound = (
        f"{_AGENT} outbound traffic is subject to MASQUERADE (must be last in chain)"
    )
    return [
        (
            "-A POSTROUTING -m addrtype ! --dst-type LOCAL -m comment --comment"
            f' "{direct}" -j {MASQ_CHAIN}'
        ),
        *(
            f'-A {MASQ_CHAIN} -d {subnet} -m comment --comment "{local}" -j RETURN'
            for subnet in pod_subnets
        ),
        f'-A {MASQ_CHAIN} -m comment --comment "{outbound}" -j MASQUERADE',
    ]
