"""What an update of a Service keeps from the old one, and drops with a change of type.

A client that sends a Service back without the addresses it was given must not lose
them, while one that turns a NodePort into a ClusterIP means to give its node ports up.

Upstream: `pkg/registry/core/service/strategy.go` (`dropTypeDependentFields`),
`pkg/registry/core/service/storage/storage.go` (`patchAllocatedValues`,
`normalizeClusterIPs`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.service.types import (
    INTERNAL_TRAFFIC_POLICIES,
    OUTSIDE,
    externally_accessible,
    needs_cluster_ip,
    needs_health_check,
    needs_node_ports,
)


def prepare_for_update(new: Object, old: Object) -> None:
    """Carry allocated values over, keep `clusterIP` and `clusterIPs` in step, drop what
    the new type cannot have.
    """
    spec = new["spec"] = dict(new.get("spec") or {})
    before = old.get("spec") or {}
    _patch_allocated_values(spec, before)
    _normalize_cluster_ips(spec, before)
    _drop_type_dependent_fields(spec, before)
    drop_internal_traffic_policy(spec)
    if spec.get("type") != "LoadBalancer" and (new.get("status") or {}).get(
        "loadBalancer"
    ):
        new["status"] = {
            **new["status"],
            "loadBalancer": {},
        }  # the cloud may still be at it; nobody needs to see that


def drop_internal_traffic_policy(spec: Object) -> None:
    """A name has no traffic, and so no policy for it, whoever may have asked for one;
    what is no policy stays, to be refused. Upstream stores it and never shows it
    (`defaultOnReadInternalTrafficPolicy`).
    """
    policy = spec.get("internalTrafficPolicy")
    if policy in INTERNAL_TRAFFIC_POLICIES and not needs_cluster_ip(spec):
        del spec["internalTrafficPolicy"]


def _patch_allocated_values(spec: Object, before: Object) -> None:
    if needs_cluster_ip(before) and needs_cluster_ip(spec):
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
        if not spec.get("clusterIPs") and before.get("clusterIPs"):
            spec["clusterIPs"] = before["clusterIPs"]
    if before.get("type") in OUTSIDE and needs_node_ports(spec) and spec.get("ports"):
        spec["ports"] = _with_node_ports(spec["ports"], before.get("ports") or ())
    if (
        before.get("healthCheckNodePort")
        and needs_health_check(before)
        and needs_health_check(spec)
        and not spec.get("healthCheckNodePort")
    ):
        spec["healthCheckNodePort"] = before["healthCheckNodePort"]


def _with_node_ports(
    ports: Sequence[Object], old_ports: Sequence[Object]
) -> list[Object]:
    """A port that does not say its node port keeps the one that the port of that name
    had, unless another port has it now.
    """
    known = {
        port.get("name", ""): port["nodePort"]
        for port in old_ports
        if port.get("nodePort")
    }
    used = {port.get("nodePort") for port in ports}
    node_ports = [
        known.get(port.get("name", "")) if not port.get("nodePort") else None
        for port in ports
    ]
    return [
        {**port, "nodePort": n} if n and n not in used else port
        for port, n in zip(ports, node_ports)
    ]


def _normalize_cluster_ips(spec: Object, before: Object) -> None:
    ip, ips = spec.get("clusterIP"), spec.get("clusterIPs")
    old_ip, old_ips = before.get("clusterIP"), before.get("clusterIPs")
    if (
        ip != old_ip and ips == old_ips
    ):  # an old client changed the one field that it knows
        if ip:
            spec["clusterIPs"] = [ip]
        else:
            spec.pop("clusterIPs", None)
    elif ips and not ip:
        spec["clusterIP"] = ips[0]


def _drop_type_dependent_fields(spec: Object, before: Object) -> None:
    if needs_cluster_ip(before) and not needs_cluster_ip(spec):
        for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(key) == before.get(key):
                spec.pop(key, None)
    closed = before.get("type") in OUTSIDE and spec.get("type") not in OUTSIDE
    if closed and spec.get("ports"):
        old_ports = {port.get("nodePort", 0) for port in before.get("ports") or ()}
        if all(port.get("nodePort", 0) in old_ports for port in spec["ports"]):
            spec["ports"] = [
                {k: v for k, v in port.items() if k != "nodePort"}
                for port in spec["ports"]
            ]
    if (
        needs_health_check(before)
        and not needs_health_check(spec)
        and spec.get("healthCheckNodePort") == before.get("healthCheckNodePort")
    ):
        spec.pop("healthCheckNodePort", None)
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if spec.get(key) == before.get(key):
                spec.pop(key, None)
    withdrawn = externally_accessible(before) and not externally_accessible(spec)
    if withdrawn and spec.get("externalTrafficPolicy") == before.get(
        "externalTrafficPolicy"
    ):
        spec.pop("externalTrafficPolicy", None)
    # an external name stays: the client is warned that it is ignored
