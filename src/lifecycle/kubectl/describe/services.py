"""A Service, and the addresses behind each of its ports.

Upstream: `kubectl/pkg/describe/describe.go` (`describeService`, `formatEndpointSlices`,
`buildIngressString`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.multiline import format_labels, print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter

SERVICE_NAME = "kubernetes.io/service-name"
MOST_ENDPOINTS = 3
"""More addresses are only counted."""


async def describe_service(client: Clientset, namespace: str, name: str) -> str:
    """Describe a Service. Raises StatusError."""
    service = await client.get("services", namespace, name)
    try:
        slices = await endpoint_slices_of(client, namespace, name)
    except StatusError:
        slices = []
    events = await events_of(client, service)
    w = PrefixWriter()
    print_metadata(w, service)
    _addresses(service, w)
    for port in service["spec"].get("ports") or ():
        _port(port, slices, w)
    _policies(service["spec"], w)
    describe_events(events, w)
    return w.tabbed


async def endpoint_slices_of(
    client: Clientset, namespace: str, name: str
) -> list[Object]:
    """The EndpointSlices of a Service. Raises StatusError."""
    return await client.list_all(
        "endpointslices.discovery.k8s.io",
        namespace,
        {"labelSelector": f"{SERVICE_NAME}={name}"},
        chunk=False,
    )


def _addresses(service: Object, w: PrefixWriter) -> None:
    spec = service["spec"]
    w.field(0, "Selector", format_labels(spec.get("selector")))
    w.field(0, "Type", spec.get("type", ""))
    if spec.get("ipFamilyPolicy") is not None:
        w.field(0, "IP Family Policy", spec["ipFamilyPolicy"])
    w.field(0, "IP Families", ",".join(spec.get("ipFamilies") or ()) or "<none>")
    w.field(0, "IP", spec.get("clusterIP", ""))
    cluster_ips = spec.get("clusterIPs")
    w.field(0, "IPs", ",".join(cluster_ips) if cluster_ips else "<none>")
    if spec.get("externalIPs"):
        w.field(0, "External IPs", ",".join(spec["externalIPs"]))
    if spec.get("loadBalancerIP"):
        w.field(0, "Desired LoadBalancer IP", spec["loadBalancerIP"])
    if spec.get("externalName"):
        w.field(0, "External Name", spec["externalName"])
    balancer = (service.get("status") or {}).get("loadBalancer") or {}
    if balancer.get("ingress"):
        ingress = ", ".join(map(_ingress, balancer["ingress"]))
        w.field(0, "LoadBalancer Ingress", ingress)


def _ingress(point: Object) -> str:
    if not point.get("ip"):
        return str(point.get("hostname", ""))
    mode = f" ({point['ipMode']})" if point.get("ipMode") is not None else ""
    return f"{point['ip']}{mode}"


def _port(port: Object, slices: list[Object], w: PrefixWriter) -> None:
    name, protocol = port.get("name") or "<unset>", port.get("protocol", "")
    w.row(0, "Port:", name, f"{port['port']}/{protocol}")
    w.field(0, "TargetPort", f"{port.get('targetPort', 0)}/{protocol}")
    if port.get("appProtocol") is not None:
        w.field(0, "AppProtocol", port["appProtocol"])
    if port.get("nodePort"):
        w.row(0, "NodePort:", name, f"{port['nodePort']}/{protocol}")
    w.field(0, "Endpoints", format_endpoint_slices(slices, port.get("name", "")))


def _policies(spec: Object, w: PrefixWriter) -> None:
    w.field(0, "Session Affinity", spec.get("sessionAffinity", ""))
    for title, field in (
        ("External Traffic Policy", "externalTrafficPolicy"),
        ("Internal Traffic Policy", "internalTrafficPolicy"),
        ("HealthCheck NodePort", "healthCheckNodePort"),
    ):
        if spec.get(field):
            w.field(0, title, spec[field])
    if spec.get("loadBalancerSourceRanges"):
        ranges = ",".join(spec["loadBalancerSourceRanges"])
        w.field(0, "LoadBalancer Source Ranges", ranges)
    if spec.get("trafficDistribution") is not None:
        w.field(0, "Traffic Distribution", spec["trafficDistribution"])


def format_endpoint_slices(slices: Sequence[Object], port_name: str) -> str:
    """The ready addresses behind a port: three at most, and how many more there are.

    With just three, `+ 0 more...` follows if another one is there that is not ready:
    upstream looks for room before it looks at readiness.
    """
    if not slices:
        return "<none>"
    listed: list[str] = []
    count, more = 0, False
    for address, ready in _endpoints(slices, port_name):
        more = more or len(listed) == MOST_ENDPOINTS
        if not ready:
            continue
        count += 1
        if not more:
            listed.append(address)
    text = ",".join(listed)
    return f"{text} + {count - MOST_ENDPOINTS} more..." if more else text


def _endpoints(slices: Iterable[Object], port_name: str) -> Iterable[tuple[str, bool]]:
    """Every first address with the port of that name, and whether it is ready; without
    a port where a slice has none.
    """
    for each in slices:
        endpoints = [
            (
                endpoint["addresses"][0],
                (endpoint.get("conditions") or {}).get("ready") is not False,
            )
            for endpoint in each.get("endpoints") or ()
        ]
        if not each.get("ports"):
            yield from endpoints
        for port in each.get("ports") or ():
            if (port.get("name") or "") == port_name:
                for address, ready in endpoints:
                    yield join_host_port(address, port["port"]), ready
