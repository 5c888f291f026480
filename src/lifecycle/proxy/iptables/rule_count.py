"""How many rules there would be, before any is written: whether a kernel takes them,
and how long it takes to write them.

Ours: kube-proxy writes them, and hears from the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap
from lifecycle.proxy.service_map import ServicePort, ServicePortMap
from lifecycle.proxy.topology import serving_terminating

MOST_RULES = 1_000_000
"""A kernel takes no more: a rule with its matches is about half a kilobyte, and a table
has 512 MiB. Upstream: Linux, `net/netfilter/x_tables.c` (`XT_MAX_TABLE_SIZE`).
"""

RULE_LENGTH = 128
"""Bytes of text, about."""


def count_of_rules(
    services: ServicePortMap, endpoints: EndpointsMap
) -> tuple[int, int]:
    """At most how many rules of Services there would be in the filter table and in the
    nat table: `ServiceRules` writes fewer where endpoints are not ready, or not here.
    """
    filtered = translated = 0
    for service in services:
        in_filter, in_nat = _of_service(service, endpoints[service.name])
        filtered += in_filter
        translated += in_nat
    return filtered, translated


def _of_service(service: ServicePort, behind: Sequence[Endpoint]) -> tuple[int, int]:
    usable = any(map(_usable, behind))
    vips = len(service.load_balancer_vips)
    outside = len(service.external_ips) + vips + bool(service.node_port)
    ranges = len(service.load_balancer_source_ranges)
    here = 0
    if service.uses_local_endpoints:
        here = sum(each.is_local and _usable(each) for each in behind)
    # none behind it, or none here: each address is refused in the filter table
    local = service.uses_local_endpoints and not here
    filtered = int(bool(service.health_check_node_port))
    filtered += (1 + outside) if local or not usable else 0
    if not usable:
        return filtered, 0
    filtered += vips if ranges else 0
    # its cluster IP and what is masqueraded there, its other addresses (a node's port
    # may be counted, too), and up to four rules of the way from outside
    translated = 2 + outside + bool(service.node_port) + (4 if outside else 0)
    translated += ranges + vips + 1 if ranges and vips else 0
    # each endpoint is led to from the chain of each policy that is used, once more if
    # clients stay with it, and has two rules of its own
    anywhere = len(behind) if service.uses_cluster_endpoints else 0
    led_to = 2 if service.sticky_max_age_seconds else 1
    translated += 2 * max(anywhere, here) + led_to * (anywhere + here)
    return filtered, translated


def _usable(endpoint: Endpoint) -> bool:
    return endpoint.ready or serving_terminating(endpoint)
