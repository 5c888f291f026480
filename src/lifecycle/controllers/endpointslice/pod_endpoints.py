"""A pod as an endpoint.

`serving` is the pod's readiness, `terminating` its deletion mark, and `ready` both
together: ready and not terminating – or always, if the Service asks for
`publishNotReadyAddresses`.

Upstream: `endpointslice/utils.go` (`podToEndpoint`, `getEndpointPorts`,
`getEndpointAddresses`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.canonical_ip import canonical_ip
from lifecycle.api.http.wire import Object
from lifecycle.controllers.pod_readiness import is_pod_ready
from lifecycle.controllers.service_pods import (
    CLUSTER_IP_NONE,
    find_port,
    should_set_hostname,
    target_reference,
)

TOPOLOGY_ZONE = "topology.kubernetes.io/zone"


def pod_to_endpoint(
    pod: Object, node: Object | None, service: Object, address_type: str
) -> Object:
    """The endpoint; `addresses` may be empty if the pod has none of that type."""
    serving, terminating = is_pod_ready(pod), "deletionTimestamp" in pod["metadata"]
    ready = bool(service["spec"].get("publishNotReadyAddresses")) or (
        serving and not terminating
    )
    endpoint: Object = {
        "addresses": endpoint_addresses(pod, address_type),
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
    }
    if should_set_hostname(pod, service):
        endpoint["hostname"] = pod["spec"]["hostname"]
    endpoint["targetRef"] = target_reference(pod)
    if pod["spec"].get("nodeName"):
        endpoint["nodeName"] = pod["spec"]["nodeName"]
    zone = (
        (node["metadata"].get("labels") or {}).get(TOPOLOGY_ZONE)
        if node is not None
        else None
    )
    if zone:
        endpoint["zone"] = zone
    return endpoint


def endpoint_addresses(pod: Object, address_type: str) -> list[str]:
    """The pod's addresses of a type, `IPv4` or `IPv6`."""
    addresses = [
        canonical_ip(entry["ip"])
        for entry in (pod.get("status") or {}).get("podIPs") or ()
    ]
    return [ip for ip in addresses if (":" in ip) == (address_type == "IPv6")]


def endpoint_ports(service: Object, pod: Object) -> list[Object]:
    """The Service's ports as they are on this pod; named ports may differ from pod to
    pod.
    """
    spec = service["spec"]
    if not spec.get("ports") and spec.get("clusterIP") == CLUSTER_IP_NONE:
        return []
    ports: list[Object] = []
    for service_port in spec.get("ports") or ():
        number = find_port(pod, service_port)
        if number is None:
            continue
        port: Object = {
            "name": service_port.get("name", ""),
            "protocol": service_port.get("protocol", "TCP"),
            "port": number,
        }
        if "appProtocol" in service_port:
            port["appProtocol"] = service_port["appProtocol"]
        ports.append(port)
    return ports


def address_types_for_service(service: Object) -> list[str]:
    """`IPv4`, `IPv6` or both."""
    spec = service["spec"]
    families = list(spec.get("ipFamilies") or ())
    if families:
        return families
    if spec.get("clusterIP") and spec["clusterIP"] != CLUSTER_IP_NONE:
        return ["IPv6" if ":" in spec["clusterIP"] else "IPv4"]
    return ["IPv4", "IPv6"]
