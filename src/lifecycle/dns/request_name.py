"""What a name under the cluster's zone asks for.

====================================================
=======================================================
`SERVICE.NAMESPACE.svc.ZONE`                          a Service
`ENDPOINT.SERVICE.NAMESPACE.svc.ZONE`                 one endpoint of it
`_PORT._PROTOCOL.SERVICE.NAMESPACE.svc.ZONE`          one port of it
`10-244-1-2.NAMESPACE.pod.ZONE`                       a pod, by its address
====================================================
=======================================================

Upstream: CoreDNS 1.14, `plugin/kubernetes/parse.go` (`parseRequest`).
"""

from __future__ import annotations

from dataclasses import dataclass

SVC, POD = "svc", "pod"


class InvalidRequest(Exception):
    """No name of this shape exists."""


@dataclass(slots=True, frozen=True)
class RequestName:
    """The parts; empty where the name does not go that deep. `kind` is `svc`, `pod`, or
    empty for the zone itself.
    """

    kind: str = ""
    namespace: str = ""
    service: str = ""
    endpoint: str = ""
    port: str = ""
    protocol: str = ""


def trim_zone(name: str, zone: str) -> str:
    """The part of a name before its zone; empty for the zone itself. Raises ValueError
    for a name outside.
    """
    if name == zone:
        return ""
    if not name.endswith(f".{zone}"):
        raise ValueError(f"{name} is not in {zone}")
    return name[: -len(zone) - 1]


def parse_request(name: str, zone: str) -> RequestName:
    """Take a lower-case name (with its final dot) apart. Raises InvalidRequest."""
    base = trim_zone(name, zone)
    labels = base.split(".")[::-1] if base else []
    if base in ("", SVC, POD):
        return RequestName()
    if labels[0] not in (SVC, POD):
        raise InvalidRequest(name)
    kind, namespace, service, *rest = [*labels, "", ""][: max(len(labels), 3)]
    match rest:
        case []:
            return RequestName(kind, namespace, service)
        case [endpoint]:
            return RequestName(kind, namespace, service, endpoint=endpoint)
        case [protocol, port]:
            return RequestName(
                kind,
                namespace,
                service,
                protocol=protocol.removeprefix("_"),
                port=port.removeprefix("_"),
            )
        case _:
            raise InvalidRequest(name)
