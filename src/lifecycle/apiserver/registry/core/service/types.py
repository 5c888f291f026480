"""What the type of a Service asks for: a cluster IP, node ports, a health check,
traffic from outside.

Upstream: `pkg/registry/core/service/strategy.go` (`needsClusterIP`, `needsNodePort`),
`pkg/api/service/util.go` (`ExternallyAccessible`, `NeedsHealthCheck`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

INTERNAL_TRAFFIC_POLICIES = ("Cluster", "Local")
OUTSIDE = frozenset({"NodePort", "LoadBalancer"})
"""The types that can have node ports."""


def needs_cluster_ip(spec: Object) -> bool:
    """Every type but ExternalName has an address in the cluster (perhaps `None`)."""
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Object) -> bool:
    """NodePort, and LoadBalancer unless it opts out."""
    return spec.get("type") == "NodePort" or (
        spec.get("type") == "LoadBalancer"
        and spec.get("allocateLoadBalancerNodePorts") is not False
    )


def needs_health_check(spec: Object) -> bool:
    """A load balancer that sends traffic only to nodes with endpoints has to ask each
    node whether it has some.
    """
    return (
        spec.get("type") == "LoadBalancer"
        and spec.get("externalTrafficPolicy") == "Local"
    )


def externally_accessible(spec: Object) -> bool:
    """Can traffic from outside reach the Service? Upstream: `pkg/api/service/util.go`
    (`ExternallyAccessible`).
    """
    type_ = spec.get("type")
    return type_ in ("LoadBalancer", "NodePort") or (
        type_ == "ClusterIP" and bool(spec.get("externalIPs"))
    )
