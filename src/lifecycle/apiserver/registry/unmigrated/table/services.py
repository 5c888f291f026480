"""Services and what stands behind and in front of them: endpoints, slices, ingresses,
policies, address ranges.

Upstream: `pkg/printers/internalversion/printers.go` (`printService`, `formatEndpoints`,
`printEndpointSlice`, `printIngress`, `printNetworkPolicy`, `printServiceCIDR`,
`printIPAddress`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.api.labels import format_label_selector
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
    format_labels,
    list_with_more,
)


def _print_service(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    ips = spec.get("clusterIPs") or []
    ports = ",".join(_port(port) for port in spec.get("ports") or ())
    return [
        obj["metadata"]["name"],
        spec.get("type", ""),
        ips[0] if ips else "<none>",
        _external_ip(obj, spec),
        ports or "<none>",
        age(obj, now),
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


def _external_ip(obj: Object, spec: Object) -> str:
    """Where the world reaches a service. Upstream: `getServiceExternalIP`."""
    external = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or "<none>"
        case "LoadBalancer":
            return ",".join([*_ingress_points(obj), *external]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
    return "<unknown>"


def _ingress_points(obj: Object) -> list[str]:
    """A load balancer's addresses, each once, in order."""
    points = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return sorted(
        {point.get("ip") or point.get("hostname", "") for point in points} - {""}
    )


def _print_endpoints(obj: Object, now: float) -> Cells:
    return [
        obj["metadata"]["name"],
        _endpoints(obj.get("subsets") or ()),
        age(obj, now),
    ]


def _endpoints(subsets: list[Object] | tuple[()]) -> str:
    if not subsets:
        return "<none>"
    pairs: list[str] = []
    for subset in subsets:
        addresses = [address["ip"] for address in subset.get("addresses") or ()]
        ports = [port["port"] for port in subset.get("ports") or ()]
        if not ports:  # headless without ports
            pairs += addresses
        for port in ports:
            pairs += [
                f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}" for ip in addresses
            ]
    return list_with_more(pairs, len(pairs), empty="")


def _slice_port(port: Object) -> str:
    """Its number or, for all numbers, its name, which is empty where it has none."""
    text = port.get("port") if port.get("port") is not None else port.get("name")
    return "*" if text is None else str(text)


def _print_endpoint_slice(obj: Object, now: float) -> Cells:
    ports = [_slice_port(port) for port in obj.get("ports") or ()]
    addresses = [
        address
        for endpoint in obj.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    ]
    return [
        obj["metadata"]["name"],
        obj.get("addressType", ""),
        list_with_more(ports, len(ports)),
        list_with_more(addresses, len(addresses)),
        age(obj, now),
    ]


def _print_ingress(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    class_name = spec.get("ingressClassName")
    return [
        obj["metadata"]["name"],
        "<none>" if class_name is None else class_name,
        _hosts(spec.get("rules") or []),
        ",".join(_ingress_points(obj)),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now),
    ]


def _hosts(rules: list[Object]) -> str:
    """The first three hosts; the rest is counted in rules, hosts or not."""
    hosts: list[str] = []
    more = False
    for rule in rules:
        more = more or len(hosts) == 3
        if not more and rule.get("host"):
            hosts.append(rule["host"])
    text = ",".join(hosts) or "*"
    return f"{text} + {len(rules) - 3} more..." if more else text


def _print_ingress_class(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    parameters, text = spec.get("parameters"), "<none>"
    if parameters is not None:
        group = (
            "" if parameters.get("apiGroup") is None else f".{parameters['apiGroup']}"
        )
        text = f"{parameters['kind']}{group}/{parameters['name']}"
    return [obj["metadata"]["name"], spec.get("controller", ""), text, age(obj, now)]


def _print_network_policy(obj: Object, now: float) -> Cells:
    selector = (obj.get("spec") or {}).get("podSelector") or {}
    return [obj["metadata"]["name"], format_label_selector(selector), age(obj, now)]


def _print_ip_address(obj: Object, now: float) -> Cells:
    """Upstream gives this row one cell more than there are columns; clients ignore
    it.
    """
    parent = (obj.get("spec") or {}).get("parentRef")
    text = "<none>"
    if parent is not None:
        resource = (
            f"{parent.get('resource', '')}.{parent['group']}"
            if parent.get("group")
            else parent.get("resource", "")
        )
        text = "/".join(
            part
            for part in (resource.lower(), parent.get("namespace"), parent.get("name"))
            if part
        )
    return [obj["metadata"]["name"], text, age(obj, now)]


_SERVICE = "core/v1.ServiceSpec"

PRINTERS = {
    "services": Printer(
        (
            NAME,
            Column("Type", field(_SERVICE, "type")),
            Column("Cluster-IP", field(_SERVICE, "clusterIP")),
            Column("External-IP", field(_SERVICE, "externalIPs")),
            Column("Port(s)", field(_SERVICE, "ports")),
            AGE,
            Column("Selector", field(_SERVICE, "selector"), priority=1),
        ),
        _print_service,
    ),
    "endpoints": Printer(
        (NAME, Column("Endpoints", field("core/v1.Endpoints", "subsets")), AGE),
        _print_endpoints,
    ),
    "endpointslices.discovery.k8s.io": Printer(
        (
            NAME,
            Column("AddressType", field("discovery/v1.EndpointSlice", "addressType")),
            Column("Ports", field("discovery/v1.EndpointSlice", "ports")),
            Column("Endpoints", field("discovery/v1.EndpointSlice", "endpoints")),
            AGE,
        ),
        _print_endpoint_slice,
    ),
    "ingresses.networking.k8s.io": Printer(
        (
            NAME,
            Column(
                "Class",
                "The name of the IngressClass resource that should be used for"
                " additional configuration",
            ),
            Column(
                "Hosts",
                "Hosts that incoming requests are matched against before the ingress"
                " rule",
            ),
            Column(
                "Address",
                "Address is a list containing ingress points for the load-balancer",
            ),
            Column("Ports", "Ports of TLS configurations that open"),
            AGE,
        ),
        _print_ingress,
    ),
    "ingressclasses.networking.k8s.io": Printer(
        (
            NAME,
            Column(
                "Controller", "Controller that is responsible for handling this class"
            ),
            Column(
                "Parameters", "A reference to a resource with additional parameters"
            ),
            AGE,
        ),
        _print_ingress_class,
    ),
    "networkpolicies.networking.k8s.io": Printer(
        (
            NAME,
            Column(
                "Pod-Selector", field("networking/v1.NetworkPolicySpec", "podSelector")
            ),
            AGE,
        ),
        _print_network_policy,
    ),
    "servicecidrs.networking.k8s.io": Printer(
        (NAME, Column("CIDRs", field("networking/v1.ServiceCIDRSpec", "cidrs")), AGE),
        lambda obj, now: [
            obj["metadata"]["name"],
            ",".join((obj.get("spec") or {}).get("cidrs") or ()),
            age(obj, now),
        ],
    ),
    "ipaddresses.networking.k8s.io": Printer(
        (NAME, Column("ParentRef", field("networking/v1.IPAddressSpec", "parentRef"))),
        _print_ip_address,
    ),
}
