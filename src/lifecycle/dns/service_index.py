"""What DNS knows of the cluster: Services by name and address, endpoints by Service and
address, namespaces.

Four look-ups over the informers' indices; nothing is copied. `modified` is when any of
it last changed, in seconds since
1970: the serial number of the zone.

Upstream: CoreDNS 1.14, `plugin/kubernetes/controller.go` (`dnsControl`, `SvcIndex`,
`SvcIndexReverse`, `EpIndex`, `EpIndexReverse`), `object/endpoint.go`
(`EndpointSliceToEndpoints`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.client.indexer import Indexer

LABEL_SERVICE_NAME = "kubernetes.io/service-name"
BY_IP, BY_SERVICE = "dns: ip", "dns: service"
NO_PORT = -1
"""Stands for "no port declared": addresses are answered, SRV records are not."""


class Port(NamedTuple):
    """A port of a Service or an endpoint."""

    name: str
    protocol: str
    number: int


class Address(NamedTuple):
    """A ready address behind a Service, with the label that names it below the
    Service.
    """

    ip: str
    label: str


def service_ips(service: Object) -> tuple[str, ...]:
    """The cluster IPs; none for a headless or external Service."""
    spec = service["spec"]
    ips = spec.get("clusterIPs") or (
        [spec["clusterIP"]] if spec.get("clusterIP") else ()
    )
    return tuple(ip for ip in ips if ip != "None")


def service_of_slice(endpoint_slice: Object) -> tuple[str, ...]:
    """The key `namespace/name` of the Service whose slice it is."""
    meta = endpoint_slice["metadata"]
    name = (meta.get("labels") or {}).get(LABEL_SERVICE_NAME)
    return (f"{meta['namespace']}/{name}",) if name else ()


def ready_addresses(endpoint_slice: Object) -> Iterator[Address]:
    """The addresses that DNS gives out: those of ready endpoints. Not said means
    ready.
    """
    for endpoint in endpoint_slice.get("endpoints") or ():
        if (endpoint.get("conditions") or {}).get("ready", True):
            for ip in endpoint.get("addresses") or ():
                yield Address(ip, endpoint.get("hostname") or address_label(ip))


def address_label(ip: str) -> str:
    """An address as a label; one that ends in a dash would be none, so `fd00::` is
    `fd00--0`. Upstream: `endpointHostname`.
    """
    label = ip.replace(".", "-").replace(":", "-")
    return f"{label}0" if label.endswith("-") else label


def slice_ips(endpoint_slice: Object) -> tuple[str, ...]:
    """The addresses a slice is found by, for PTR queries."""
    return tuple(address.ip for address in ready_addresses(endpoint_slice))


def declared_ports(ports: Iterable[Object] | None) -> list[Port]:
    """The ports, or one that stands for none."""
    declared = [
        Port(p.get("name") or "", p.get("protocol") or "TCP", p.get("port") or NO_PORT)
        for p in ports or ()
    ]
    return declared or [Port("", "", NO_PORT)]


class ServiceIndex:
    """Look-ups over three indexers: of Services, EndpointSlices and Namespaces."""

    def __init__(self, services: Indexer, slices: Indexer, namespaces: Indexer) -> None:
        services.add_indexers({BY_IP: service_ips})
        slices.add_indexers({BY_IP: slice_ips, BY_SERVICE: service_of_slice})
        self._services = services
        self._slices = slices
        self._namespaces = namespaces
        self.modified = 0

    @classmethod
    def of(
        cls,
        services: Iterable[Object],
        slices: Iterable[Object],
        namespaces: Iterable[str],
        modified: int = 0,
    ) -> ServiceIndex:
        """An index over given objects."""
        index = cls(Indexer(), Indexer(), Indexer())
        for indexer, objects in ((index._services, services), (index._slices, slices)):
            for obj in objects:
                indexer.set(
                    f"{obj['metadata']['namespace']}/{obj['metadata']['name']}", obj
                )
        for name in namespaces:
            index._namespaces.set(name, {"metadata": {"name": name}})
        index.modified = modified
        return index

    def namespace_exists(self, name: str) -> bool:
        """Whether there is such a namespace: below one that does not exist, no name
        does.
        """
        return self._namespaces.get_by_key(name) is not None

    def service(self, namespace: str, name: str) -> Object | None:
        """The Service of that name."""
        return self._services.get_by_key(f"{namespace}/{name}")

    def service_by_ip(self, ip: str) -> Object | None:
        """The Service with that cluster IP."""
        return next(iter(self._services.by_index(BY_IP, ip)), None)

    def slices_of(self, namespace: str, name: str) -> list[Object]:
        """The EndpointSlices of a Service."""
        return self._slices.by_index(BY_SERVICE, f"{namespace}/{name}")

    def slices_with(self, ip: str) -> list[Object]:
        """The EndpointSlices that have an address."""
        return self._slices.by_index(BY_IP, ip)
