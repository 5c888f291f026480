"""Services and EndpointSlices in every shape the rules depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.restore_input import RestoreInput
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts, sync_proxy_rules
from lifecycle.proxy.service_map import ServicePortMap

NODE = NodeFacts("here", "172.19.0.2", {"topology.kubernetes.io/zone": "a"})


def service(name: str, ip: str, *, port: int = 80, protocol: str = "TCP", node_port: int = 0, **spec: Any) -> Object:
    entry: Object = {"port": port, "protocol": protocol, **({"nodePort": node_port} if node_port else {})}
    status = spec.pop("status", {"loadBalancer": {}})
    full = {"type": "ClusterIP", "clusterIP": ip, "clusterIPs": [ip], "ports": [entry], **spec}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": full,
        "status": status,
    }


def endpoint(ip: str, node: str = "there", **conditions: Any) -> Object:
    hints = conditions.pop("hints", None)
    found: Object = {"addresses": [ip], "conditions": conditions, "nodeName": node}
    return {**found, "hints": hints} if hints else found


def endpoint_slice(
    name: str, endpoints: Sequence[Object], *, port: int = 8080, suffix: str = "1", protocol: str = "TCP"
) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{name}-{suffix}", "namespace": "ns", "labels": {"kubernetes.io/service-name": name}},
        "addressType": "IPv4",
        "endpoints": list(endpoints),
        "ports": [{"name": "", "port": port, "protocol": protocol}],
    }


def both_maps(
    services: Sequence[Object], slices: Sequence[Object], node: NodeFacts
) -> tuple[ServicePortMap, EndpointsMap]:
    family = "IPv6" if ":" in node.ip else "IPv4"
    ports, endpoints = ServicePortMap(family), EndpointsMap(node.name, family)
    for obj in services:
        ports.update(obj)
    for obj in slices:
        endpoints.update(obj)
    return ports, endpoints


def rules(
    services: Sequence[Object], slices: Sequence[Object], *, config: ProxierConfig | None = None, **more: Any
) -> RestoreInput:
    """What a full sync writes on the node `here`."""
    return sync_proxy_rules(*both_maps(services, slices, NODE), NODE, config or ProxierConfig(), **more)


def everything() -> tuple[list[Object], list[Object]]:
    """One Service of each shape; `away` has no endpoint on this node, `gone` none at all."""
    ingress = {"loadBalancer": {"ingress": [{"ip": "203.0.113.9"}]}}
    services = [
        service("plain", "10.96.0.11"),
        service("gone", "10.96.0.12", type="NodePort", node_port=30012, externalIPs=["192.0.2.12"]),
        service("udp", "10.96.0.13", protocol="UDP", port=53),
        service(
            "sticky",
            "10.96.0.14",
            sessionAffinity="ClientIP",
            sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}},
        ),
        service("node", "10.96.0.15", type="NodePort", node_port=30015),
        service(
            "away",
            "10.96.0.16",
            type="NodePort",
            node_port=30016,
            externalTrafficPolicy="Local",
            externalIPs=["192.0.2.16"],
        ),
        service("inside", "10.96.0.17", internalTrafficPolicy="Local"),
        service("inside-away", "10.96.0.18", internalTrafficPolicy="Local"),
        service(
            "balanced",
            "10.96.0.19",
            type="LoadBalancer",
            node_port=30019,
            status=ingress,
            externalTrafficPolicy="Local",
            healthCheckNodePort=30099,
        ),
        service(
            "fenced",
            "10.96.0.20",
            type="LoadBalancer",
            node_port=30020,
            status=ingress,
            loadBalancerSourceRanges=["198.51.100.7/24", "172.19.0.0/16"],
        ),
        service("gone-balanced", "10.96.0.21", type="LoadBalancer", node_port=30021, status=ingress),
    ]
    here, there = [endpoint("10.244.1.5", "here"), endpoint("10.244.2.6")], [endpoint("10.244.2.7")]
    slices = [endpoint_slice(name, here) for name in ("plain", "sticky", "node", "inside", "balanced", "fenced")]
    slices += [endpoint_slice(name, there) for name in ("away", "inside-away")]
    return services, [*slices, endpoint_slice("udp", here, protocol="UDP", port=53)]
