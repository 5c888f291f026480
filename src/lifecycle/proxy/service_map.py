"""What kube-proxy keeps of the Services: one entry for each of their ports.

A Service without an address of its own (headless, ExternalName) is nothing to proxy and
gets no entry. Two questions about each port decide most of its rules: may it be reached
from outside, and which endpoints may its traffic go to – all of them (`Cluster`), or
only those on the same node (`Local`). Addresses are kept as rules spell them.

Upstream: `pkg/proxy/serviceport.go` (`BaseServicePortInfo`), `servicechangetracker.go`
(`serviceToServiceMap`), `pkg/proxy/util/utils.go` (`ShouldSkipService`), v1.36. Left
out: logging of addresses of the other family.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lifecycle.api.canonical_ip import canonical_ip, canonical_network
from lifecycle.api.http.wire import Object
from lifecycle.proxy.service_port_name import ServicePortName

LOCAL = "Local"
DEFAULT_CLIENT_IP_SECONDS = 10800


@dataclass(slots=True, frozen=True)
class ServicePort:
    """One port of a Service, as the rules need it. Addresses are of one family only."""

    name: ServicePortName
    cluster_ip: str
    port: int
    node_port: int
    external_ips: tuple[str, ...]
    load_balancer_vips: tuple[str, ...]
    load_balancer_source_ranges: tuple[str, ...]
    sticky_max_age_seconds: int
    """0: no session affinity."""
    health_check_node_port: int
    internal_policy_local: bool
    external_policy_local: bool

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of the Service."""
        return self.name.namespace, self.name.name

    @property
    def externally_accessible(self) -> bool:
        """Whether anything but the cluster IP leads to it."""
        return bool(self.node_port or self.load_balancer_vips or self.external_ips)

    @property
    def uses_cluster_endpoints(self) -> bool:
        """Whether endpoints on any node are needed. With `Local` external traffic they
        are: for the node's own traffic and the pods'.
        """
        return not self.internal_policy_local or self.externally_accessible

    @property
    def uses_local_endpoints(self) -> bool:
        """Whether some traffic must stay on the node."""
        return self.internal_policy_local or (
            self.external_policy_local and self.externally_accessible
        )


def should_skip_service(service: Object) -> bool:
    """Whether there is nothing to proxy."""
    spec = service["spec"]
    return (
        spec.get("clusterIP") in (None, "", "None")
        or spec.get("type") == "ExternalName"
    )


def service_ports(service: Object, family: str = "IPv4") -> Iterator[ServicePort]:
    """The entries of a Service for one family; none if it is to be skipped or has no
    cluster IP of that family.
    """
    if should_skip_service(service):
        return
    meta, spec = service["metadata"], service["spec"]
    cluster_ips = _of_family(spec.get("clusterIPs") or [spec["clusterIP"]], family)
    if not cluster_ips:
        return
    kind = spec.get("type", "ClusterIP")
    external_ips = _of_family(spec.get("externalIPs") or (), family)
    reached_from_outside = kind in ("LoadBalancer", "NodePort") or bool(
        spec.get("externalIPs")
    )
    external_local = reached_from_outside and spec.get("externalTrafficPolicy") == LOCAL
    ranges = [
        canonical_network(text.strip())
        for text in spec.get("loadBalancerSourceRanges") or ()
    ]
    for port in spec.get("ports") or ():
        yield ServicePort(
            name=ServicePortName(
                meta["namespace"],
                meta["name"],
                port.get("name", ""),
                port.get("protocol") or "TCP",
            ),
            cluster_ip=cluster_ips[0],
            port=port["port"],
            node_port=port.get("nodePort") or 0,
            external_ips=external_ips,
            load_balancer_vips=_load_balancer_vips(service, family),
            load_balancer_source_ranges=_only(ranges, family),
            sticky_max_age_seconds=_sticky_max_age_seconds(spec),
            health_check_node_port=_health_check_node_port(spec, external_local),
            internal_policy_local=spec.get("internalTrafficPolicy") == LOCAL,
            external_policy_local=external_local,
        )


def _of_family(addresses: Iterable[str], family: str) -> tuple[str, ...]:
    return _only(map(canonical_ip, addresses), family)


def _only(canonical: Iterable[str], family: str) -> tuple[str, ...]:
    return tuple(
        text for text in canonical if text and (":" in text) == (family == "IPv6")
    )


def _load_balancer_vips(service: Object, family: str) -> tuple[str, ...]:
    """The balancer's addresses that its packets still carry when they arrive; `ipMode:
    Proxy` means they do not.
    """
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get(
        "ingress"
    ) or ()
    return _of_family(
        [i["ip"] for i in ingress if i.get("ip") and i.get("ipMode", "VIP") == "VIP"],
        family,
    )


def _sticky_max_age_seconds(spec: Object) -> int:
    if spec.get("sessionAffinity") != "ClientIP":
        return 0
    client_ip = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    return int(client_ip.get("timeoutSeconds") or DEFAULT_CLIENT_IP_SECONDS)


def _health_check_node_port(spec: Object, external_local: bool) -> int:
    return (
        (spec.get("healthCheckNodePort") or 0)
        if spec.get("type") == "LoadBalancer" and external_local
        else 0
    )


def _name(port: ServicePort) -> ServicePortName:
    return port.name


class ServicePortMap:
    """All entries, by Service. `update` and `remove` say whether anything changed that
    rules are made of.
    """

    def __init__(self, family: str = "IPv4") -> None:
        self.family = family
        self._by_service: dict[tuple[str, str], tuple[ServicePort, ...]] = {}

    def copy(self) -> ServicePortMap:
        """As it is now; what changes later changes only one of them."""
        copied = ServicePortMap(self.family)
        copied._by_service = dict(self._by_service)
        return copied

    def update(self, service: Object) -> bool:
        """A Service is new or different."""
        key = (service["metadata"]["namespace"], service["metadata"]["name"])
        new = tuple(service_ports(service, self.family))
        old = self._by_service.get(key, ())
        if new:
            self._by_service[key] = new
        else:
            self._by_service.pop(key, None)
        return new != old

    def remove(self, service: Object) -> bool:
        """A Service is gone."""
        meta = service["metadata"]
        return self._by_service.pop((meta["namespace"], meta["name"]), None) is not None

    def health_check_node_ports(self) -> dict[tuple[str, str], int]:
        """The Services whose balancer asks which nodes have endpoints, and the port it
        asks on.
        """
        return {
            key: ports[0].health_check_node_port
            for key, ports in self._by_service.items()
            if ports[0].health_check_node_port
        }

    def __iter__(self) -> Iterator[ServicePort]:
        """By name. Upstream iterates a Go map, so that its order differs from sync to
        sync; ours is one of those orders.
        """
        for key in sorted(self._by_service):
            ports = self._by_service[key]
            yield from ports if len(ports) == 1 else sorted(ports, key=_name)

    def __len__(self) -> int:
        return sum(len(ports) for ports in self._by_service.values())
