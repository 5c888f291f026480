"""What kube-proxy keeps of the EndpointSlices: for each port of each Service, the
endpoints behind it.

A Service has several slices, and for a moment the same endpoint may stand in two of
them. So the slices of a Service are read together: the endpoints of all of them, each
address once, sorted by address – the order the probability rules are written in.

Upstream: `pkg/proxy/endpointslicecache.go` (`EndpointSliceCache`, `addEndpoints`),
`endpoint.go` (`BaseEndpointInfo`), v1.36. Left out: metrics of the time from a pod's
change to its rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api.canonical_ip import canonical_ip
from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.wire import Object
from lifecycle.proxy.service_port_name import ServicePortName

LABEL_SERVICE_NAME = "kubernetes.io/service-name"
ServiceKey = tuple[str, str]


@dataclass(slots=True, frozen=True)
class Endpoint:
    """One address and port. `str()` is `ip:port`, and `[ip]:port` for IPv6."""

    ip: str
    port: int
    is_local: bool = False
    ready: bool = True
    serving: bool = True
    terminating: bool = False
    zone_hints: frozenset[str] = frozenset()
    node_hints: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return join_host_port(self.ip, self.port)


def service_key(endpoint_slice: Object) -> ServiceKey | None:
    """Namespace and name of the Service whose slice it is; None if its label does not
    say.
    """
    meta = endpoint_slice["metadata"]
    name = (meta.get("labels") or {}).get(LABEL_SERVICE_NAME)
    return (meta["namespace"], name) if name else None


class EndpointsMap:
    """The endpoints by service port, kept from slices. Look-ups compute, and remember,
    what a Service's slices say together.
    """

    def __init__(self, node_name: str, family: str = "IPv4") -> None:
        self._node_name = node_name
        self._family = family
        self._slices: dict[ServiceKey, dict[str, Object]] = {}
        self._endpoints: dict[
            ServiceKey, dict[ServicePortName, tuple[Endpoint, ...]]
        ] = {}

    def copy(self) -> EndpointsMap:
        """As it is now; what changes later changes only one of them."""
        copied = EndpointsMap(self._node_name, self._family)
        copied._slices = {key: dict(slices) for key, slices in self._slices.items()}
        copied._endpoints = dict(self._endpoints)
        return copied

    def update(self, endpoint_slice: Object) -> bool:
        """A slice is new or different. Whether its Service's endpoints changed."""
        key = service_key(endpoint_slice)
        if key is None or endpoint_slice["addressType"] != self._family:
            return False
        before = self._of_service(key)
        self._slices.setdefault(key, {})[endpoint_slice["metadata"]["name"]] = (
            endpoint_slice
        )
        self._endpoints.pop(key, None)
        return self._of_service(key) != before

    def remove(self, endpoint_slice: Object) -> bool:
        """A slice is gone. Whether its Service's endpoints changed."""
        key = service_key(endpoint_slice)
        if key is None or key not in self._slices:
            return False
        before = self._of_service(key)
        self._slices[key].pop(endpoint_slice["metadata"]["name"], None)
        if not self._slices[key]:
            del self._slices[key]
        self._endpoints.pop(key, None)
        return self._of_service(key) != before

    def __getitem__(self, name: ServicePortName) -> tuple[Endpoint, ...]:
        """The endpoints behind a port, sorted by address; empty if there are none."""
        return self._of_service((name.namespace, name.name)).get(name, ())

    def local_ready_endpoints(self) -> dict[ServiceKey, int]:
        """How many addresses of a Service are ready on this node, whatever ports they
        have. Services with none are left out.
        """
        addresses = {
            key: {
                e.ip
                for endpoints in self._of_service(key).values()
                for e in endpoints
                if e.is_local and e.ready
            }
            for key in self._slices
        }
        return {key: len(ips) for key, ips in addresses.items() if ips}

    def _of_service(
        self, key: ServiceKey
    ) -> dict[ServicePortName, tuple[Endpoint, ...]]:
        endpoints = self._endpoints.get(key)
        if endpoints is None:
            endpoints = self._endpoints[key] = self._compute(key)
        return endpoints

    def _compute(self, key: ServiceKey) -> dict[ServicePortName, tuple[Endpoint, ...]]:
        by_port: dict[ServicePortName, dict[str, Endpoint]] = {}
        for _, endpoint_slice in sorted(self._slices.get(key, {}).items()):
            for port in endpoint_slice.get("ports") or ():
                if not port.get(
                    "port"
                ):  # no number: all ports; nothing that rules could be made for
                    continue
                name = ServicePortName(
                    *key, port.get("name") or "", port.get("protocol") or "TCP"
                )
                self._add_endpoints(
                    by_port.setdefault(name, {}), endpoint_slice, port["port"]
                )
        return {
            name: tuple(endpoint_set[text] for text in sorted(endpoint_set))
            for name, endpoint_set in by_port.items()
        }

    def _add_endpoints(
        self, endpoint_set: dict[str, Endpoint], endpoint_slice: Object, port: int
    ) -> None:
        for entry in endpoint_slice.get("endpoints") or ():
            ip = canonical_ip((entry.get("addresses") or [""])[0])
            if not ip:
                continue
            conditions, hints = entry.get("conditions") or {}, entry.get("hints") or {}
            endpoint = Endpoint(
                ip=ip,
                port=port,
                is_local=entry.get("nodeName") == self._node_name,
                ready=conditions.get("ready", True),
                serving=conditions.get("serving", True),
                terminating=conditions.get("terminating", False),
                zone_hints=frozenset(
                    hint["name"] for hint in hints.get("forZones") or ()
                ),
                node_hints=frozenset(
                    hint["name"] for hint in hints.get("forNodes") or ()
                ),
            )
            if endpoint.is_local or str(endpoint) not in endpoint_set:
                endpoint_set[str(endpoint)] = endpoint
