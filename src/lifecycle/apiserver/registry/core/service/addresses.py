"""Every address that a Service has is an object: an IPAddress of that name, whose
`parentRef` names the Service.

Creating an object whose name is taken fails, in etcd itself. So the list of IPAddresses
is a lock per address that any number of API servers can share, and whoever wants to
know whom an address belongs to can ask `kubectl get ipaddresses`. The ranges to pick
from are objects too, ServiceCIDRs; adding one makes room.

Before v1.33 the allocation was one bitmap of the whole range, in one object at
`/registry/ranges/serviceips` that no API showed, and a range could never be changed.

Upstream: `pkg/registry/core/service/ipallocator/ipallocator.go` (`createIPAddress`,
`Release`), `cidrallocator.go` (`MetaAllocator`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv4Network, ip_address, ip_network

from lifecycle.api.field_errors import invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.status import invalid as invalid_status
from lifecycle.apiserver.managedfields import update_managed_fields
from lifecycle.apiserver.registry.metadata import fill_object_meta
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.etcd.keys import registry_key

SERVICE_CIDR = IPv4Network("10.96.0.0/16")
"""kubeadm's, and kind's, `--service-cluster-ip-range`. There is no flag for another
one: the addresses of the API server (.0.1) and of the DNS (.0.10) stand in
certificates, in the settings of kubelets, and in all that is compared with recordings.
Whoever needs more addresses, or others, makes a ServiceCIDR (stable since 1.33);
`networks` has those as well.
"""

MANAGER = "kube-apiserver"
LABEL_FAMILY = "ipaddress.kubernetes.io/ip-family"
LABEL_MANAGED_BY = "ipaddress.kubernetes.io/managed-by"
CONTROLLER_NAME = "ipallocator.k8s.io"

ALLOCATED = "provided IP is already allocated"


def refused_address(service: Object, address: str, why: str) -> StatusError:
    """The answer to a wished address that cannot be had. Upstream: `alloc.go`
    (`allocIPs`), `ipallocator/interfaces.go`.
    """
    error = invalid(
        "spec.clusterIPs",
        service["spec"].get("clusterIPs"),
        f"failed to allocate IP {address}: {why}",
    )
    return invalid_status(
        "Service", service["metadata"].get("name", ""), [error.cause()]
    )


def addresses_of(service: Object) -> frozenset[str]:
    """The cluster IPs that a Service holds; none if it is headless or an
    ExternalName.
    """
    spec = service.get("spec") or {}
    ips = spec.get("clusterIPs") or (
        [spec["clusterIP"]] if spec.get("clusterIP") else []
    )
    return frozenset(ip for ip in ips if ip and ip != "None")


def is_ready(service_cidr: Object) -> bool:
    """Whether addresses may be picked from a range. While nobody says anything, they
    may: no controller may be running.
    """
    conditions = (service_cidr.get("status") or {}).get("conditions") or ()
    return all(c.get("status") == "True" for c in conditions if c["type"] == "Ready")


def new_ip_address(address: str, service: Object) -> Object:
    """The IPAddress that says that an address is a Service's."""
    metadata = service["metadata"]
    return {
        "kind": "IPAddress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {
            "name": address,
            "labels": {
                LABEL_FAMILY: f"IPv{ip_address(address).version}",
                LABEL_MANAGED_BY: CONTROLLER_NAME,
            },
        },
        "spec": {
            "parentRef": {
                "resource": "services",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
            }
        },
    }


class ServiceAddresses:
    """The IPAddress objects of one server's Services, and the ranges they come from."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._resource = resource("ipaddresses.networking.k8s.io")
        self._store = ResourceStore(
            self._resource,
            environment,
            strategy_for(self._resource.api_version, self._resource.kind),
        )
        self._cidrs = environment.cacher(resource("servicecidrs.networking.k8s.io"))

    def networks(self) -> list[IPv4Network]:
        """The ranges that may be picked from, oldest name first: those of all
        ServiceCIDRs that are ready and not on their way out.
        """
        self._cidrs.catch_up()
        ready = []
        for cached in self._cidrs.ordered():
            if "deletionTimestamp" not in cached.obj["metadata"] and is_ready(
                cached.obj
            ):
                networks = map(
                    ip_network, (cached.obj.get("spec") or {}).get("cidrs") or ()
                )
                ready += [
                    network for network in networks if isinstance(network, IPv4Network)
                ]
        return ready or [SERVICE_CIDR]

    def taken(self) -> set[str]:
        """Addresses somebody has an IPAddress for."""
        self._store.cacher.catch_up()
        return {
            cached.obj["metadata"]["name"] for cached in self._store.cacher.ordered()
        }

    async def take(self, addresses: Collection[str], service: Object) -> list[str]:
        """Make the IPAddresses. Raises StatusError 422 if somebody was faster, having
        taken none.
        """
        taken: list[str] = []
        for address in sorted(addresses):
            obj = self._new(address, service)
            key = registry_key(self._resource, "", address)
            existing = self._store.lookup("", address)
            if (
                existing is not None
                and existing.obj["spec"]["parentRef"] == obj["spec"]["parentRef"]
            ):
                continue  # left by a server that died in between
            if await self._store.write(key, obj, 0) is None:
                await self.release(taken)
                raise refused_address(service, address, ALLOCATED)
            taken.append(address)
        return taken

    async def release(self, addresses: Collection[str]) -> None:
        """Delete the IPAddresses; those that are gone already do no harm."""
        for address in addresses:
            cached = self._store.lookup("", address)
            if cached is not None:
                await self._store.erase(cached.key, cached)

    def _new(self, address: str, service: Object) -> Object:
        obj = new_ip_address(address, service)
        fill_object_meta(obj, self._environment.clock, self._environment.names)
        now = obj["metadata"]["creationTimestamp"]
        update_managed_fields(
            None, obj, manager=MANAGER, api_version=obj["apiVersion"], now=now
        )
        return obj
