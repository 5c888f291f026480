"""Services need an address nobody else has, and sometimes a port on every node.

Both come from pools. A free one is picked at random; a wished one is taken if it is free. What a failed create took is given back.

Of the address range a first band is left for addresses people choose themselves: random picks start above it, so that a
manifest with a fixed address seldom finds it taken.

Each address that is taken is an IPAddress object of that name (see `service_addresses`), written before the Service: two servers that
pick the same one cannot both create it.

Upstream: `pkg/registry/core/service/storage/alloc.go` (`initIPFamilyFields`, `allocClusterIPs`), `storage.go`, `ipallocator/ipallocator.go`
(`calculateRangeOffset`), `portallocator/`, v1.36. Left out: a second family of addresses to allocate from, health check node ports.
"""

from __future__ import annotations

import random
from ipaddress import IPv4Address, IPv4Network, ip_address
from typing import Any

from lifecycle.api import status
from lifecycle.api.resources import Resource
from lifecycle.api.strategy.services import needs_cluster_ip, needs_node_ports
from lifecycle.api.wire import Object
from lifecycle.apiserver.cached_object import Cached
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.service_addresses import SERVICE_CIDR, ServiceAddresses, addresses_of
from lifecycle.apiserver.registry.store import Environment, ResourceStore

NODE_PORTS = range(30000, 32768)
HEADLESS = "None"

DRY_RUN_ADDRESS = str(SERVICE_CIDR.network_address)
DRY_RUN_PORT = 32768
"""A dry run takes nothing from the pools. It answers with what nobody can have: the network's own address, ports above the last."""


def range_offset(network: IPv4Network) -> int:
    """How many addresses at the start are left for fixed ones: a sixteenth, at least 16, at most 256; none of a range of 16 or fewer."""
    size = network.num_addresses
    return 0 if size <= 16 else min(max(16, size // 16), 256)


def init_ip_family_fields(obj: Object, spec: Object) -> None:
    """Which families of addresses a Service has, and how many it must have; our clusters have IPv4 to give out.

    A headless Service without selector may name any: whoever writes its endpoints decides. Raises StatusError 422.
    Upstream: `initIPFamilyFields`.
    """
    selectorless = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    policy = spec.setdefault("ipFamilyPolicy", "RequireDualStack" if selectorless else "SingleStack")
    families = spec.get("ipFamilies") or []
    if policy == "SingleStack" and len(families) == 2:
        why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"
        raise _invalid(obj, "ipFamilyPolicy", policy, why)
    if selectorless:
        first = families or ["IPv4"]
        other = {"IPv4": "IPv6", "IPv6": "IPv4"}.get(first[0])
        spec["ipFamilies"] = [*first, other] if policy != "SingleStack" and len(first) == 1 and other else first
        return
    if policy == "RequireDualStack":
        raise _invalid(obj, "ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
    for index, family in enumerate(families):
        if family == "IPv6":  # what is neither is left to validation
            raise _invalid(obj, f"ipFamilies[{index}]", family, "not configured on this cluster")
    spec["ipFamilies"] = families or ["IPv4"]


def _invalid(obj: Object, where: str, value: Any, why: str) -> status.StatusError:
    cause = {"reason": "FieldValueInvalid", "message": f'Invalid value: "{value}": {why}', "field": f"spec.{where}"}
    return status.invalid("Service", obj["metadata"].get("name", ""), [cause])


class ServiceStore(ResourceStore):
    """The registry of Services, with its two pools."""

    def __init__(self, resource: Resource, environment: Environment) -> None:
        super().__init__(resource, environment)
        self.addresses = ServiceAddresses(environment)

    async def write(self, key: str, obj: Object, expected: int) -> Cached | None:
        """Take the addresses, write the Service, and give back what it does not hold (any more), whichever way it went."""
        before = self.cacher.get(key)
        held = addresses_of(before.obj) if before is not None and expected else frozenset()
        wanted = addresses_of(obj)
        taken = await self.addresses.take(wanted - held, obj)
        written = None
        try:
            written = await super().write(key, obj, expected)
        finally:
            await self.addresses.release(taken if written is None else held - wanted)
        return written

    async def erase(self, key: str, stored: Cached) -> int | None:
        """Its addresses are free again."""
        revision = await super().erase(key, stored)
        if revision is not None:
            await self.addresses.release(addresses_of(stored.obj))
        return revision

    def _pools(self) -> tuple[set[str], set[int]]:
        """What is taken now, read from the cache: allocations are exactly what stored Services hold."""
        self.cacher.catch_up()
        addresses = self.addresses.taken()
        ports: set[int] = set()
        for cached in self.cacher.ordered():
            spec = cached.obj.get("spec") or {}
            addresses.update(spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else []))
            ports.update(p["nodePort"] for p in spec.get("ports") or () if p.get("nodePort"))
        return addresses, ports

    def begin_create(self, obj: Object, scope: RequestScope) -> None:
        """Give the Service its address, its families and its node ports."""
        spec = obj.get("spec") or {}
        obj["spec"] = spec
        if not needs_cluster_ip(spec):
            return
        addresses, ports = self._pools()
        init_ip_family_fields(obj, spec)
        if spec.get("clusterIP") != HEADLESS:
            self._address(obj, spec, addresses, scope.dry_run)
        self._node_ports(obj, spec, ports, scope.dry_run)

    def begin_update(self, new: Object, old: Object, scope: RequestScope) -> None:
        """An update allocates what its new type needs and the old one did not have."""
        spec, before = new["spec"], old.get("spec") or {}
        if scope.subresource or not needs_cluster_ip(spec):
            return
        addresses, ports = self._pools()
        if any(spec.get(key) != before.get(key) for key in ("ipFamilyPolicy", "ipFamilies", "type")):
            init_ip_family_fields(new, spec)
        if not spec.get("clusterIP"):
            self._address(new, spec, addresses, scope.dry_run)
        held = {p.get("nodePort") for p in before.get("ports") or ()}
        self._node_ports(new, spec, ports - held, scope.dry_run)

    def _address(self, obj: Object, spec: Object, taken: set[str], dry_run: bool) -> None:
        wished = spec.get("clusterIP")
        if wished:
            self._check_address(obj, wished, taken)
        else:
            wished = spec["clusterIP"] = DRY_RUN_ADDRESS if dry_run else self._pick_address(taken)
        spec.setdefault("clusterIPs", [wished])

    def _pick_address(self, taken: set[str]) -> str:
        source = self.environment.names.random
        for network in self.addresses.networks():
            size, offset = network.num_addresses, range_offset(network)
            for low, high in ((max(offset, 1), size - 1), (1, offset)):
                if low >= high:
                    continue
                start = source.randrange(low, high)
                for step in range(high - low):
                    address = str(network.network_address + low + (start - low + step) % (high - low))
                    if address not in taken:
                        return address
        raise status.internal_error("failed to allocate a serviceIP: range is full")

    def _check_address(self, obj: Object, address: str, taken: set[str]) -> None:
        def refuse(why: str) -> status.StatusError:
            cause = {
                "reason": "FieldValueInvalid",
                "message": f'Invalid value: ["{address}"]: failed to allocate IP {address}: {why}',
                "field": "spec.clusterIPs",
            }
            return status.invalid("Service", obj["metadata"].get("name", ""), [cause])

        try:
            parsed = ip_address(address)
        except ValueError:
            return  # validation will say so, better
        networks = self.addresses.networks()
        if not isinstance(parsed, IPv4Address) or not any(parsed in network for network in networks):
            valid = ",".join(map(str, networks))
            raise refuse(f"the provided IP is not in the valid range. The range of valid IPs is {valid}")
        if address in taken:
            raise refuse("provided IP is already allocated")

    def _node_ports(self, obj: Object, spec: Object, taken: set[int], dry_run: bool) -> None:
        wanted = needs_node_ports(spec)
        numbers: dict[int, int] = {}
        for number, port in enumerate(spec.get("ports") or ()):
            wish = port.get("nodePort")
            if wish:
                protocol_twin = numbers.get(wish)
                if wish not in NODE_PORTS and not dry_run:
                    low, high = NODE_PORTS[0], NODE_PORTS[-1]
                    why = f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
                    raise self._port_refused(obj, number, wish, why)
                if wish in taken and protocol_twin is None:
                    raise self._port_refused(obj, number, wish, "provided port is already allocated")
                numbers[wish] = number
        for port in spec.get("ports") or ():
            if wanted and not port.get("nodePort"):
                pick = max(numbers, default=DRY_RUN_PORT) + 1 if dry_run else self._pick_port(taken | set(numbers))
                port["nodePort"] = pick
                numbers[pick] = 0

    @staticmethod
    def _port_refused(obj: Object, number: int, port: int, why: str) -> status.StatusError:
        cause = {
            "reason": "FieldValueInvalid",
            "message": f"Invalid value: {port}: {why}",
            "field": f"spec.ports[{number}].nodePort",
        }
        return status.invalid("Service", obj["metadata"].get("name", ""), [cause])

    def _pick_port(self, taken: set[int]) -> int:
        free = [port for port in NODE_PORTS if port not in taken]
        if not free:
            raise status.internal_error("failed to allocate a nodePort: range is full")
        source: random.Random = self.environment.names.random
        return source.choice(free)
