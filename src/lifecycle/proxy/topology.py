"""Which of a Service's endpoints this node may use.

Ready ones, if there are any; otherwise those that are going away but still serve,
rather than none at all. `Cluster` traffic may be narrowed to endpoints hinted for this
node or its zone, but only if every ready endpoint has a hint and at least one is meant
for us: half a hint would send everybody to the same few.

Upstream: `pkg/proxy/topology.go` (`CategorizeEndpoints`, `topologyModeFromHints`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.service_map import ServicePort

LABEL_TOPOLOGY_ZONE = "topology.kubernetes.io/zone"


class Categories(NamedTuple):
    """`cluster` and `local`: the usable endpoints for each policy. `reachable`: both
    together. `has_any`: whether the Service has a usable endpoint on any node, ours or
    not.
    """

    cluster: tuple[Endpoint, ...]
    local: tuple[Endpoint, ...]
    reachable: tuple[Endpoint, ...]
    has_any: bool


def categorize_endpoints(
    endpoints: Sequence[Endpoint],
    service: ServicePort,
    node_name: str,
    node_labels: Mapping[str, str],
) -> Categories:
    """Sort a service port's endpoints by what this node may do with them."""
    cluster: tuple[Endpoint, ...] = ()
    local: tuple[Endpoint, ...] = ()
    if service.uses_cluster_endpoints:
        meant_for_us = topology_from_hints(
            endpoints, node_name, node_labels.get(LABEL_TOPOLOGY_ZONE, "")
        )
        cluster = tuple(e for e in endpoints if e.ready and meant_for_us(e))
        cluster = cluster or tuple(e for e in endpoints if serving_terminating(e))
    if not service.uses_local_endpoints:
        return Categories(cluster, local, cluster, bool(cluster))
    has_any = any(e.ready or serving_terminating(e) for e in endpoints)
    local = tuple(e for e in endpoints if e.is_local and e.ready)
    local = local or tuple(
        e for e in endpoints if e.is_local and serving_terminating(e)
    )
    if not service.uses_cluster_endpoints:
        return Categories(cluster, local, local, has_any)
    both = {
        str(e): e for e in (*cluster, *local)
    }  # a local endpoint may be terminating, or hinted for others
    return Categories(
        cluster, local, tuple(both[text] for text in sorted(both)), has_any
    )


def serving_terminating(endpoint: Endpoint) -> bool:
    """Whether an endpoint is on its way out and still answers."""
    return endpoint.serving and endpoint.terminating


def topology_from_hints(
    endpoints: Sequence[Endpoint], node_name: str, zone: str
) -> Callable[[Endpoint], bool]:
    """Which ready endpoints `Cluster` traffic from this node goes to: same node, else
    same zone, else all.
    """
    ready = [e for e in endpoints if e.ready]
    if all(e.node_hints for e in ready) and any(
        node_name in e.node_hints for e in ready
    ):
        return lambda e: node_name in e.node_hints
    if all(e.zone_hints for e in ready) and any(zone in e.zone_hints for e in ready):
        return lambda e: zone in e.zone_hints
    return lambda e: True
