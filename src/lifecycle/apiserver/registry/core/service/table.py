"""The table of Services, and the addresses that load balancers report.

Upstream: `pkg/printers/internalversion/printers.go` (`printService`,
`getServiceExternalIP`, `loadBalancerStatusStringer`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
    format_labels,
)


def print_service(service: Object, now: float) -> Cells:
    """The cells of `kubectl get services`."""
    spec = service.get("spec") or {}
    ips = spec.get("clusterIPs") or []
    ports = ",".join(_port(port) for port in spec.get("ports") or ())
    return [
        service["metadata"]["name"],
        spec.get("type", ""),
        ips[0] if ips else "<none>",
        _external_ip(service, spec),
        ports or "<none>",
        age(service, now),
        format_labels(spec.get("selector")),
    ]


def _port(port: Object) -> str:
    protocol = port.get("protocol", "")
    node_port = port.get("nodePort", 0)
    return (
        f"{port['port']}:{node_port}/{protocol}"
        if node_port > 0
        else f"{port['port']}/{protocol}"
    )


def _external_ip(service: Object, spec: Object) -> str:
    """Where the world reaches a service. Upstream: `getServiceExternalIP`."""
    external = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or "<none>"
        case "LoadBalancer":
            return ",".join([*ingress_points(service), *external]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
    return "<unknown>"


def ingress_points(obj: Object) -> list[str]:
    """A load balancer's addresses, each once, in order."""
    points = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return sorted(
        {point.get("ip") or point.get("hostname", "") for point in points} - {""}
    )


_SERVICE = "core/v1.ServiceSpec"

PRINTER = Printer(
    (
        NAME,
        Column("Type", field(_SERVICE, "type")),
        Column("Cluster-IP", field(_SERVICE, "clusterIP")),
        Column("External-IP", field(_SERVICE, "externalIPs")),
        Column("Port(s)", field(_SERVICE, "ports")),
        AGE,
        Column("Selector", field(_SERVICE, "selector"), priority=1),
    ),
    print_service,
)
