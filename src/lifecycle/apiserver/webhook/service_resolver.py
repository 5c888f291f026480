"""From a Service to an address: where a request for an added API, or for a webhook,
goes.

By default the aggregator sends to the Service's own address and leaves the choice of a
pod to kube-proxy's rules; with `--enable-aggregator-routing` it looks at the
EndpointSlices and picks a ready endpoint itself. A Service of type ExternalName is just
a name, which is how an API server outside the cluster is joined.

Upstream asks one resolver for both, and kube-proxy has made the Service's address good
on every machine. Webhooks are called from this process, on a machine that has no such
rules, so theirs are always found at their endpoints.

Upstream: `apiserver/pkg/util/proxy/proxy.go` (`ResolveCluster`, `ResolveEndpoint`),
`kube-aggregator/pkg/apiserver/resolvers.go`, `pkg/controlplane/apiserver/config.go`
(where webhooks get it), v1.36. Left out: the cluster's own server behind
`default/kubernetes`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.egress_selector import EgressSelector

SERVICE_NAME = "kubernetes.io/service-name"
SERVICES, ENDPOINT_SLICES = "services", "endpointslices.discovery.k8s.io"
ROUTED = ("ClusterIP", "LoadBalancer", "NodePort")


class ResolveError(Exception):
    """There is no address; the message is upstream's."""


class ServiceResolver(Protocol):
    """Finds the address of a Service, and knows the way there."""

    egress: EgressSelector

    def resolve_endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        """Host and port. Raises ResolveError."""
        ...


class ClusterIPResolver:
    """The Service's own address."""

    def __init__(
        self, reader: ObjectReader, egress: EgressSelector | None = None
    ) -> None:
        self._reader = reader
        self.egress = egress or EgressSelector()

    def resolve_endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        """See `ServiceResolver`."""
        service = _service(self._reader, namespace, name)
        spec = service["spec"]
        kind = spec.get("type", "ClusterIP")
        if kind == "ClusterIP" and spec.get("clusterIP") == "None":
            raise ResolveError('cannot route to service with ClusterIP "None"')
        if kind in ROUTED:
            return spec["clusterIP"], _service_port(service, port)["port"]
        if kind == "ExternalName":
            return spec["externalName"], port
        raise ResolveError(f"unsupported service type {go_quote(kind)}")


class EndpointResolver:
    """One of the ready endpoints, at random. `external_names`: a Service of type
    ExternalName is its name, as with `ClusterIPResolver`; else there is no address.
    """

    def __init__(
        self,
        reader: ObjectReader,
        rng: random.Random | None = None,
        *,
        external_names: bool = False,
        egress: EgressSelector | None = None,
    ) -> None:
        self._reader = reader
        self.egress = egress or EgressSelector()
        self._rng = rng or random.Random()
        self._external_names = external_names

    def resolve_endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        """See `ServiceResolver`."""
        service = _service(self._reader, namespace, name)
        kind = service["spec"].get("type", "ClusterIP")
        if kind == "ExternalName" and self._external_names:
            return service["spec"]["externalName"], port
        if kind not in ROUTED:
            raise ResolveError(f"unsupported service type {go_quote(kind)}")
        port_name = _service_port(service, port).get("name", "")
        slices = list(slices_of(self._reader, namespace, name))
        self._rng.shuffle(slices)
        for each in slices:
            for target in each.get("ports") or ():
                if (target.get("name") or "") != port_name or target.get(
                    "port"
                ) is None:
                    continue
                ready = [end for end in each.get("endpoints") or () if is_ready(end)]
                if ready:
                    return self._rng.choice(ready)["addresses"][0], target["port"]
        raise ResolveError(f'no endpoints available for service "{name}"')


def slices_of(reader: ObjectReader, namespace: str, name: str) -> Sequence[Object]:
    """The EndpointSlices of a Service."""
    slices = reader.list(resource(ENDPOINT_SLICES), namespace)
    return [
        each
        for each in slices
        if (each["metadata"].get("labels") or {}).get(SERVICE_NAME) == name
    ]


def is_ready(endpoint: Object) -> bool:
    """An endpoint that says nothing about it counts as ready."""
    return (endpoint.get("conditions") or {}).get("ready") is not False


def _service(reader: ObjectReader, namespace: str, name: str) -> Object:
    service = reader.get(resource(SERVICES), namespace, name)
    if service is None:
        raise ResolveError(f'service "{name}" not found')
    return service


def _service_port(service: Object, port: int) -> Object:
    for each in service["spec"].get("ports") or ():
        if each["port"] == port:
            service_port: Object = each
            return service_port
    raise ResolveError(
        f'no service port {port} found for service "{service["metadata"]["name"]}"'
    )
