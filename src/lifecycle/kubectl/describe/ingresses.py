"""Ingresses, with the addresses behind their backends, and IngressClasses.

Upstream: `kubectl/pkg/describe/describe.go` (`describeIngressV1`, `describeBackendV1`,
`describeIngressTLSV1`, `describeIngressClassV1`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.multiline import (
    print_annotations_multiline,
    print_labels_multiline,
    print_metadata,
)
from lifecycle.kubectl.describe.services import (
    endpoint_slices_of,
    format_endpoint_slices,
)
from lifecycle.kubectl.describe.writer import PrefixWriter


async def describe_ingress(client: Clientset, namespace: str, name: str) -> str:
    """Describe an Ingress. Raises StatusError."""
    ingress = await client.get("ingresses.networking.k8s.io", namespace, name)
    events = await events_of(client, ingress)
    meta, spec = ingress["metadata"], ingress.get("spec") or {}
    w = PrefixWriter()
    w.field(0, "Name", meta["name"])
    print_labels_multiline(w, "Labels", meta.get("labels"))
    w.field(0, "Namespace", meta.get("namespace", ""))
    w.field(0, "Address", _address(ingress))
    w.field(0, "Ingress Class", spec.get("ingressClassName") or "<none>")
    default = "<default>"
    if spec.get("defaultBackend") is not None:
        default = await _backend(client, namespace, spec["defaultBackend"])
    w.field(0, "Default backend", default)
    _tls(spec, w)
    await _rules(client, ingress, default, w)
    print_annotations_multiline(w, "Annotations", meta.get("annotations"))
    describe_events(events, w)
    return w.tabbed


def _address(ingress: Object) -> str:
    balancer = (ingress.get("status") or {}).get("loadBalancer") or {}
    points = balancer.get("ingress") or ()
    addresses = {each.get("ip") or each.get("hostname") or "" for each in points}
    return ",".join(sorted(addresses - {""}))


def _tls(spec: Object, w: PrefixWriter) -> None:
    if spec.get("tls"):
        w.write(0, "TLS:\n")
    for each in spec.get("tls") or ():
        hosts = ",".join(each.get("hosts") or ())
        if each.get("secretName"):
            w.write(1, f"{each['secretName']} terminates {hosts}\n")
        else:
            w.write(1, f"SNI routes {hosts}\n")


async def _rules(
    client: Clientset, ingress: Object, default: str, w: PrefixWriter
) -> None:
    w.write(0, "Rules:\n")
    w.header(1, "Host", "Path", "Backends")
    spec = ingress.get("spec") or {}
    rules = [rule for rule in spec.get("rules") or () if rule.get("http") is not None]
    for rule in rules:
        w.row(1, rule.get("host") or "*", "")
        for path in rule["http"].get("paths") or ():
            namespace = ingress["metadata"]["namespace"]
            backend = await _backend(client, namespace, path["backend"])
            w.row(2, "", f"{path.get('path', '')} ", backend)
    if not rules:
        w.row(1, "*", "*", default)


async def _backend(client: Clientset, namespace: str, backend: Object) -> str:
    if (resource := backend.get("resource")) is not None:
        group = resource.get("apiGroup")
        group = "<none>" if group is None else group
        return f"APIGroup: {group}, Kind: {resource['kind']}, Name: {resource['name']}"
    if (service := backend.get("service")) is None:
        return ""
    port = service.get("port") or {}
    words = f"{service['name']}:{port.get('number') or port.get('name', '')}"
    try:
        slices = await endpoint_slices_of(client, namespace, service["name"])
        behind = await client.get("services", namespace, service["name"])
    except StatusError as error:
        return f"{words} (<error: {error.message}>)"
    port_name = ""
    for each in behind["spec"].get("ports") or ():
        by_number = port.get("number") and port["number"] == each["port"]
        if by_number or (port.get("name") and port["name"] == each.get("name")):
            port_name = each.get("name", "")
    return f"{words} ({format_endpoint_slices(slices, port_name)})"


async def describe_ingress_class(client: Clientset, namespace: str, name: str) -> str:
    """Describe an IngressClass. Raises StatusError."""
    ingress_class = await client.get("ingressclasses.networking.k8s.io", "", name)
    events = await events_of(client, ingress_class)
    w = PrefixWriter()
    print_metadata(w, ingress_class, namespaced=False)
    w.field(0, "Controller", ingress_class["spec"].get("controller", ""))
    if (parameters := ingress_class["spec"].get("parameters")) is not None:
        w.write(0, "Parameters:\n")
        if parameters.get("apiGroup") is not None:
            w.field(1, "APIGroup", parameters["apiGroup"])
        w.field(1, "Kind", parameters["kind"])
        w.field(1, "Name", parameters["name"])
    describe_events(events, w)
    return w.tabbed
