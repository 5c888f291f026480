"""Endpoints and EndpointSlices: the addresses behind a Service, in the older form and
in the one that is used.

Upstream: `kubectl/pkg/describe/describe.go` (`describeEndpoints`,
`describeEndpointSliceV1`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.multiline import print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter


async def describe_endpoints(client: Clientset, namespace: str, name: str) -> str:
    """Describe Endpoints. Raises StatusError."""
    endpoints = await client.get("endpoints", namespace, name)
    events = await events_of(client, endpoints)
    w = PrefixWriter()
    print_metadata(w, endpoints)
    w.write(0, "Subsets:\n")
    for subset in endpoints.get("subsets") or ():
        w.field(1, "Addresses", _ips(subset.get("addresses") or ()))
        w.field(1, "NotReadyAddresses", _ips(subset.get("notReadyAddresses") or ()))
        if subset.get("ports"):
            w.write(1, "Ports:\n")
            w.header(2, "Name", "Port", "Protocol")
        for port in subset.get("ports") or ():
            name = port.get("name") or "<unset>"
            w.row(2, name, port["port"], port.get("protocol", ""))
        w.write(0, "\n")
    describe_events(events, w)
    return w.tabbed


def _ips(addresses: Iterable[Object]) -> str:
    return ",".join(each["ip"] for each in addresses) or "<none>"


async def describe_endpoint_slice(client: Clientset, namespace: str, name: str) -> str:
    """Describe an EndpointSlice. Raises StatusError."""
    endpoint_slice = await client.get(
        "endpointslices.discovery.k8s.io", namespace, name
    )
    events = await events_of(client, endpoint_slice)
    w = PrefixWriter()
    print_metadata(w, endpoint_slice)
    w.field(0, "AddressType", endpoint_slice["addressType"])
    ports = endpoint_slice.get("ports") or ()
    w.write(0, "Ports:\n" if ports else "Ports: <unset>\n")
    if ports:
        w.header(1, "Name", "Port", "Protocol")
    for port in ports:
        number = port.get("port")
        w.row(
            1,
            port.get("name") or "<unset>",
            "<unset>" if number is None else number,
            port.get("protocol", ""),
        )
    endpoints = endpoint_slice.get("endpoints") or ()
    w.write(0, "Endpoints:\n" if endpoints else "Endpoints: <none>\n")
    for endpoint in endpoints:
        _endpoint(endpoint, w)
    describe_events(events, w)
    return w.tabbed


def _endpoint(endpoint: Object, w: PrefixWriter) -> None:
    w.field(1, "- Addresses", ", ".join(endpoint.get("addresses") or ()) or "<none>")
    w.write(2, "Conditions:\n")
    ready = (endpoint.get("conditions") or {}).get("ready")
    w.field(3, "Ready", "<unset>" if ready is None else ready)
    w.field(2, "Hostname", _or_unset(endpoint.get("hostname")))
    if (target := endpoint.get("targetRef")) is not None:
        w.field(2, "TargetRef", f"{target.get('kind', '')}/{target.get('name', '')}")
    w.field(2, "NodeName", _or_unset(endpoint.get("nodeName")))
    w.field(2, "Zone", _or_unset(endpoint.get("zone")))


def _or_unset(value: str | None) -> str:
    return "<unset>" if value is None else value
