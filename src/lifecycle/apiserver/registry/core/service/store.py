"""Services need an address nobody else has, and sometimes a port on every node.

Both come from pools. A free one is picked at random; a wished one is taken if it is
free. What a failed create took is given back.

Of the address range a first band is left for addresses people choose themselves: random
picks start above it, so that a manifest with a fixed address seldom finds it taken.

Each address that is taken is an IPAddress object of that name (see
`addresses`), written before the Service: two servers that pick the same one
cannot both create it.

Upstream: `pkg/registry/core/service/storage/alloc.go` (`allocClusterIPs`), `storage.go`
(`beginCreate`, `beginUpdate`), `ipallocator/ipallocator.go` (`calculateRangeOffset`,
`allocateNextService`), v1.36. Left out: a second family of addresses to allocate from.
"""

from __future__ import annotations

from ipaddress import IPv4Network, ip_address

from lifecycle.api import field_errors, status
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.validation.content import name_is_path_segment
from lifecycle.apiserver.registry.core.service.addresses import (
    ALLOCATED,
    SERVICE_CIDR,
    ServiceAddresses,
    addresses_of,
    refused_address,
)
from lifecycle.apiserver.registry.core.service.ip_families import (
    HEADLESS,
    init_ip_family_fields,
)
from lifecycle.apiserver.registry.core.service.node_ports import (
    PortOperation,
    init_node_ports,
    node_ports_of,
    update_node_ports,
)
from lifecycle.apiserver.registry.core.service.types import needs_cluster_ip
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.storage.cacher.cached_object import Cached

DRY_RUN_ADDRESS = str(SERVICE_CIDR.network_address)
"""A dry run takes nothing. It answers with what nobody can have: the network's own
address.
"""


def range_offset(network: IPv4Network) -> int:
    """How many addresses at the start are left for fixed ones: a sixteenth, at least
    16, at most 256; none of a range of 16 or fewer.
    """
    size = network.num_addresses
    return 0 if size <= 16 else min(max(16, size // 16), 256)


class ServiceStore(ResourceStore):
    """The registry of Services, with its two pools."""

    def __init__(
        self, resource: Resource, environment: Environment, strategy: Strategy
    ) -> None:
        super().__init__(resource, environment, strategy)
        self.addresses = ServiceAddresses(environment)

    async def write(
        self, key: str, obj: Object, expected: int, size: int = 0
    ) -> Cached | None:
        """Take the addresses, write the Service, and give back what it does not hold
        (any more), whichever way it went.
        """
        before = self.cacher.get(key)
        held = (
            addresses_of(before.obj) if before is not None and expected else frozenset()
        )
        requested = addresses_of(obj)
        taken = await self.addresses.take(requested - held, obj)
        written = None
        try:
            written = await super().write(key, obj, expected, size)
        finally:
            await self.addresses.release(taken if written is None else held - requested)
        return written

    async def erase(self, key: str, stored: Cached) -> int | None:
        """Its addresses are free again."""
        revision = await super().erase(key, stored)
        if revision is not None:
            await self.addresses.release(addresses_of(stored.obj))
        return revision

    def _operation(self, dry_run: bool) -> PortOperation:
        """Node ports can be taken from what no stored Service holds, as the cache has
        them.
        """
        self.cacher.catch_up()
        taken = [
            port
            for cached in self.cacher.ordered()
            for port in node_ports_of(cached.obj.get("spec") or {})
        ]
        return PortOperation(taken, self.environment.names.random, dry_run=dry_run)

    def begin_create(self, obj: Object, scope: RequestScope) -> None:
        """Give the Service its address, its families and its node ports."""
        spec = obj.get("spec") or {}
        obj["spec"] = spec
        if not needs_cluster_ip(spec):
            return
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        init_ip_family_fields(obj, None)
        if spec.get("clusterIP") != HEADLESS:
            wished = spec.get("clusterIPs")
            self._cluster_ip(obj, spec, scope.dry_run)
            if not scope.dry_run:
                _check_owner(obj, spec["clusterIP"], wished)
        init_node_ports(obj, self._operation(scope.dry_run))

    def begin_update(self, new: Object, old: Object, scope: RequestScope) -> None:
        """An update allocates what its new type needs and the old one did not have."""
        if scope.subresource or not needs_cluster_ip(new["spec"]):
            return
        init_ip_family_fields(new, old)
        if (
            not needs_cluster_ip(old.get("spec") or {})
            and new["spec"].get("clusterIP") != HEADLESS
        ):
            self._cluster_ip(new, new["spec"], scope.dry_run)
        update_node_ports(new, old, self._operation(scope.dry_run))

    def _cluster_ip(self, obj: Object, spec: Object, dry_run: bool) -> None:
        wished = spec.get("clusterIP")
        if wished:
            self._check_address(obj, wished, dry_run)
        else:
            wished = spec["clusterIP"] = (
                DRY_RUN_ADDRESS
                if dry_run
                else self._pick_address(self.addresses.taken())
            )
        spec.setdefault("clusterIPs", [wished])

    def _pick_address(self, taken: set[str]) -> str:
        source = self.environment.names.random
        for network in self.addresses.networks():
            size, border = network.num_addresses, range_offset(network) + 1
            for low, high in (
                (border, size - 1),
                (1, border),
            ):  # neither the first nor the last address of the range
                if low >= high:
                    continue
                start = source.randrange(low, high)
                for step in range(high - low):
                    address = str(
                        network.network_address
                        + low
                        + (start - low + step) % (high - low)
                    )
                    if address not in taken:
                        return address
        raise status.internal_error("failed to allocate a serviceIP: range is full")

    def _check_address(self, obj: Object, address: str, dry_run: bool) -> None:
        """Whether a wished address is in a range, and, unless nothing is taken anyway,
        free. Raises StatusError 422.
        """
        parsed, why = ip_address(address), ""
        networks = self.addresses.networks()
        network = next((network for network in networks if parsed in network), None)
        usable = network is not None and parsed not in (
            network.network_address,
            network.broadcast_address,
        )
        if not usable and not dry_run:
            why = "the provided network does not match the current range"
        elif not usable:
            why = (
                f"the provided IP ({address}) is not in the valid range. The range of"
                f" valid IPs is {network or networks[0]}"
            )
        elif not dry_run and address in self.addresses.taken():
            why = ALLOCATED
        if why:
            raise refused_address(obj, address, why)


def _check_owner(service: Object, address: str, wished: list[str] | None) -> None:
    """An address belongs to somebody who can be named in a path, and that is asked
    before the Service itself is looked at. Raises StatusError 422.

    Upstream: `pkg/apis/networking/validation/validation.go`
    (`validateIPAddressParentReference`).
    """
    name, field = service["metadata"].get("name", ""), "spec.parentRef.name"
    errors = [
        field_errors.invalid(field, name, why)
        for why in name_is_path_segment(name, False)
    ]
    if not name:
        errors = [field_errors.required(field)]
    if errors:
        causes = [error.cause() for error in errors]
        group = "networking.k8s.io"
        refusal = status.invalid("IPAddress", address, causes, group).message
        where = f" {address}" if wished else ""
        error = field_errors.invalid(
            "spec.clusterIPs",
            wished or [""],
            f"failed to allocate IP{where}: {refusal}",
        )
        raise status.invalid("Service", name, [error.cause()])
