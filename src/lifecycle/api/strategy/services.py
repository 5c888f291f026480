"""What an update of a Service keeps from the old one, and drops with a change of type.

A client that sends a Service back without the addresses it was given must not lose them, while one that turns a NodePort into a
ClusterIP means to give its node ports up.

Upstream: `pkg/registry/core/service/strategy.go` (`dropTypeDependentFields`), `pkg/registry/core/service/storage/storage.go`
(`patchAllocatedValues`, `normalizeClusterIPs`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.wire import Object


def needs_cluster_ip(spec: Object) -> bool:
    """Every type but ExternalName has an address in the cluster (perhaps `None`)."""
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Object) -> bool:
    """NodePort, and LoadBalancer unless it opts out."""
    return spec.get("type") == "NodePort" or (
        spec.get("type") == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False
    )


def prepare_service_for_update(new: Object, old: Object) -> None:
    """Carry allocated values over, keep `clusterIP` and `clusterIPs` in step, drop what the new type cannot have."""
    spec = new["spec"] = dict(new.get("spec") or {})
    before = old.get("spec") or {}
    _patch_allocated_values(spec, before)
    _normalize_cluster_ips(spec, before)
    _drop_type_dependent_fields(spec, before)


def _patch_allocated_values(spec: Object, before: Object) -> None:
    if needs_cluster_ip(before) and needs_cluster_ip(spec):
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
        if not spec.get("clusterIPs") and spec.get("clusterIP") == before.get("clusterIP") and before.get("clusterIPs"):
            spec["clusterIPs"] = before["clusterIPs"]
    if needs_node_ports(before) and needs_node_ports(spec):
        taken = {port.get("nodePort") for port in spec.get("ports") or ()}
        known = {
            (p.get("port"), p.get("protocol")): p["nodePort"] for p in before.get("ports") or () if p.get("nodePort")
        }
        spec["ports"] = [_with_node_port(port, known, taken) for port in spec.get("ports") or ()]
    if (
        before.get("healthCheckNodePort")
        and _needs_health_check(before)
        and _needs_health_check(spec)
        and not spec.get("healthCheckNodePort")
    ):
        spec["healthCheckNodePort"] = before["healthCheckNodePort"]
    for key in ("ipFamilies", "ipFamilyPolicy"):  # a client that does not know them says nothing
        if (
            needs_cluster_ip(spec)
            and needs_cluster_ip(before)
            and spec.get(key) is None
            and before.get(key) is not None
        ):
            spec[key] = before[key]


def _with_node_port(port: Object, known: dict[tuple[Any, Any], int], taken: set[Any]) -> Object:
    number = known.get((port.get("port"), port.get("protocol")))
    return {**port, "nodePort": number} if number and not port.get("nodePort") and number not in taken else port


def _needs_health_check(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _normalize_cluster_ips(spec: Object, before: Object) -> None:
    ip, ips = spec.get("clusterIP"), spec.get("clusterIPs")
    old_ip, old_ips = before.get("clusterIP"), before.get("clusterIPs")
    if ip != old_ip and ips == old_ips:  # an old client changed the one field that it knows
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
    if needs_node_ports(before) and not needs_node_ports(spec):
        old_ports = {port.get("nodePort", 0) for port in before.get("ports") or ()}
        if all(port.get("nodePort", 0) in old_ports for port in spec.get("ports") or ()):
            spec["ports"] = [{k: v for k, v in port.items() if k != "nodePort"} for port in spec.get("ports") or ()]
    if (
        _needs_health_check(before)
        and not _needs_health_check(spec)
        and spec.get("healthCheckNodePort") == before.get("healthCheckNodePort")
    ):
        spec.pop("healthCheckNodePort", None)
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if spec.get(key) == before.get(key):
                spec.pop(key, None)
    outside = ("NodePort", "LoadBalancer")
    left = before.get("type") in outside and spec.get("type") not in outside and not spec.get("externalIPs")
    if left and spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy"):
        spec.pop("externalTrafficPolicy", None)
    if (
        before.get("type") == "ExternalName"
        and spec.get("type") != "ExternalName"
        and spec.get("externalName") == before.get("externalName")
    ):
        spec.pop("externalName", None)
