"""Names to targets: the heart of cluster DNS.

A Service with a cluster IP is that address; its endpoints do not matter. A headless one
is the addresses of its ready endpoints – and if there are none, its name does not exist
at all. An external one is another name. A pod's name is its address spelled out, and is
believed without a look at any pod (`pods insecure`).

Upstream: CoreDNS 1.14, `plugin/kubernetes/kubernetes.go` (`Services`, `Records`,
`findServices`, `findPods`), `reverse.go`, `ns.go`. Left out: multicluster zones, `pods
verified`, zone transfers, topology.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from itertools import islice

from lifecycle.api.http.wire import Object
from lifecycle.dns.records import RecordTarget, fqdn
from lifecycle.dns.request_name import (
    POD,
    SVC,
    InvalidRequest,
    RequestName,
    parse_request,
    trim_zone,
)
from lifecycle.dns.service_index import (
    Port,
    ServiceIndex,
    declared_ports,
    ready_addresses,
    service_ips,
)

SCHEMA_VERSION = "1.1.0"
"""Of the specification "Kubernetes DNS-Based Service Discovery"."""

NS_NAME = "ns.dns"

MOST_TARGETS = 4096
"""Of ports and of names more are not looked for: 65,535 bytes have room for fewer
records, which are sixteen bytes at least. Addresses are all looked for: which of them a
client gets is left to chance, and each is to have its share.
"""


class NameDoesNotExist(Exception):
    """NXDOMAIN."""


class KubernetesPlugin:
    """Answers for `zone` from an index. `dns_service`: namespace and name of the
    Service that DNS itself is reached by.
    """

    def __init__(
        self,
        index: ServiceIndex,
        *,
        zone: str = "cluster.local.",
        dns_service: tuple[str, str] = ("kube-system", "kube-dns"),
    ) -> None:
        self.index = index
        self.zone = zone
        self.dns_service = dns_service

    def targets(self, name: str, qtype: str) -> list[RecordTarget]:
        """What a lower-case name leads to; empty: it exists, with nothing to lead to.
        Raises NameDoesNotExist.
        """
        if trim_zone(name, self.zone) == NS_NAME:
            return self.name_servers()
        targets = self._records(name, qtype)
        if qtype == "SRV":  # SRV records of external names are not offered
            return [target for target in targets if target.type != "CNAME"]
        return targets

    def text(self, name: str) -> str:
        """The one TXT record; empty: the name exists without one. Raises
        NameDoesNotExist.
        """
        if trim_zone(name, self.zone) == "dns-version":
            return SCHEMA_VERSION
        try:
            known = bool(self._records(name, "TXT"))
        except NameDoesNotExist:
            known = False
        if not known:
            raise NameDoesNotExist(name)
        return ""

    def pointed(self, name: str) -> list[RecordTarget]:
        """Whether a name exists, for a question about pointers: our own server's short
        name does not. Raises NameDoesNotExist.
        """
        return self._records(name, "PTR")

    def name_servers(self) -> list[RecordTarget]:
        """The zone's name servers: the DNS Service's addresses, named as the Service
        is.
        """
        namespace, name = self.dns_service
        service = self.index.service(namespace, name)
        if service is None:
            return []
        return [
            RecordTarget(ip, name=f"{name}.{namespace}.{SVC}.{self.zone}")
            for ip in service_ips(service)
        ]

    def reverse(self, ip: str) -> list[str]:
        """The names of an address: of the Service that has it, or of all endpoints with
        it.
        """
        service = self.index.service_by_ip(ip)
        if service is not None:
            meta = service["metadata"]
            return [f"{meta['name']}.{meta['namespace']}.{SVC}.{self.zone}"]
        names: list[str] = []
        for endpoint_slice in self.index.slices_with(ip):
            meta = endpoint_slice["metadata"]
            below = (
                f"{meta['labels']['kubernetes.io/service-name']}.{meta['namespace']}"
                f".{SVC}.{self.zone}"
            )
            names += [
                f"{address.label}.{below}"
                for address in ready_addresses(endpoint_slice)
                if address.ip == ip
            ]
        return list(dict.fromkeys(names))

    def _records(self, name: str, qtype: str) -> list[RecordTarget]:
        try:
            request = parse_request(name, self.zone)
        except InvalidRequest as error:
            raise NameDoesNotExist(name) from error
        if not request.kind:
            return []
        if not self.index.namespace_exists(request.namespace):
            raise NameDoesNotExist(name)
        if not request.service:
            return []
        return (
            self._find_pod(request)
            if request.kind == POD
            else self._find_services(request, qtype)
        )

    def _find_pod(self, request: RequestName) -> list[RecordTarget]:
        text = request.service
        v4 = text.count("-") == 3 and "--" not in text
        try:
            ip = ip_address(text.replace("-", "." if v4 else ":"))
        except ValueError as error:
            raise NameDoesNotExist(text) from error
        if "%" in text:  # an address with a scope is not one that a pod has
            raise NameDoesNotExist(text)
        return [
            RecordTarget(str(ip), 0, f"{text}.{request.namespace}.{POD}.{self.zone}")
        ]

    def _find_services(self, request: RequestName, qtype: str) -> list[RecordTarget]:
        service = self.index.service(request.namespace, request.service)
        if service is None:
            raise NameDoesNotExist(request.service)
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            target = RecordTarget(spec.get("externalName", ""))
            if (
                request.endpoint
                or request.port
                or request.protocol
                or target.type != "CNAME"
            ):
                raise NameDoesNotExist(request.service)
            return [RecordTarget(fqdn(target.host))]
        below = f"{request.service}.{request.namespace}.{SVC}.{self.zone}"
        if spec.get("clusterIP") in (None, "", "None") or request.endpoint:
            found = self._find_endpoints(request, qtype, below)
        else:
            found = (
                RecordTarget(ip, port.number, below)
                for port in _asked_ports(spec.get("ports"), request, qtype)
                for ip in service_ips(service)
            )
        most = None if qtype in ("A", "AAAA") else MOST_TARGETS
        targets = list(islice(found, most))
        if not targets:
            raise NameDoesNotExist(request.service)
        return targets

    def _find_endpoints(
        self, request: RequestName, qtype: str, below: str
    ) -> Iterator[RecordTarget]:
        for endpoint_slice in self.index.slices_of(request.namespace, request.service):
            ports = _asked_ports(endpoint_slice.get("ports"), request, qtype)
            for address in ready_addresses(endpoint_slice):
                if request.endpoint in ("", address.label.lower()):
                    for port in ports:
                        yield RecordTarget(
                            address.ip, port.number, f"{address.label}.{below}"
                        )


def _asked_ports(
    ports: Iterable[Object] | None, request: RequestName, qtype: str
) -> list[Port]:
    """Those that a question is about. Which port it is only an SRV record says: for
    addresses, the first of them stands for all.
    """
    asked = [p for p in declared_ports(ports) if _match_port_and_protocol(p, request)]
    return asked if qtype == "SRV" else asked[:1]


def _match_port_and_protocol(port: Port, request: RequestName) -> bool:
    """Whether a port is the one asked for; a name without a port asks for all.
    Upstream: `matchPortAndProtocol`.
    """
    return request.port in ("", port.name.lower()) and request.protocol in (
        "",
        port.protocol.lower(),
    )
