"""Services need an address nobody else has, and sometimes a port on every node.

Both come from pools. A free one is picked at random; a wished one is taken if it is free. What a failed create took is given back.

Of the address range a first band is left for addresses people choose themselves: random picks start above it, so that a
manifest with a fixed address seldom finds it taken.

Upstream: `pkg/registry/core/service/storage/alloc.go`, `ipallocator/ipallocator.go` (`calculateRangeOffset`), `portallocator/`, v1.36.
Left out: dual stack, and recording allocations as IPAddress objects.
"""

from __future__ import annotations

import random
from ipaddress import IPv4Address, IPv4Network, ip_address

from lifecycle.api import status
from lifecycle.api.strategy.services import needs_cluster_ip, needs_node_ports
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import ResourceStore

SERVICE_CIDR = IPv4Network("10.96.0.0/16")
NODE_PORTS = range(30000, 32768)
HEADLESS = "None"

DRY_RUN_ADDRESS = str(SERVICE_CIDR.network_address)
DRY_RUN_PORT = 32768
"""A dry run takes nothing from the pools. It answers with what nobody can have: the network's own address, ports above the last."""


def range_offset(network: IPv4Network) -> int:
    """How many addresses at the start are left for fixed ones: min(max(16, size/16), 256)."""
    hosts = network.num_addresses - 2
    return min(max(16, hosts // 16), 256)


class ServiceStore(ResourceStore):
    """The registry of Services, with its two pools."""

    def _pools(self) -> tuple[set[str], set[int]]:
        """What is taken now, read from the cache: allocations are exactly what stored Services hold."""
        self.cacher.catch_up()
        addresses: set[str] = set()
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
        self._family(spec)
        if spec.get("clusterIP") != HEADLESS:
            self._address(obj, spec, addresses, scope.dry_run)
        self._node_ports(obj, spec, ports, scope.dry_run)

    def begin_update(self, new: Object, old: Object, scope: RequestScope) -> None:
        """An update allocates what its new type needs and the old one did not have."""
        spec, before = new["spec"], old.get("spec") or {}
        if scope.subresource or not needs_cluster_ip(spec):
            return
        addresses, ports = self._pools()
        if not needs_cluster_ip(before):
            self._family(spec)
        if not spec.get("clusterIP"):
            self._address(new, spec, addresses, scope.dry_run)
        held = {p.get("nodePort") for p in before.get("ports") or ()}
        self._node_ports(new, spec, ports - held, scope.dry_run)

    @staticmethod
    def _family(spec: Object) -> None:
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")

    def _address(self, obj: Object, spec: Object, taken: set[str], dry_run: bool) -> None:
        wished = spec.get("clusterIP")
        if wished:
            self._check_address(obj, wished, taken)
        else:
            wished = spec["clusterIP"] = DRY_RUN_ADDRESS if dry_run else self._pick_address(taken)
        spec.setdefault("clusterIPs", [wished])

    def _pick_address(self, taken: set[str]) -> str:
        size, offset = SERVICE_CIDR.num_addresses, range_offset(SERVICE_CIDR)
        source = self.environment.names.random
        for low, high in ((offset, size - 1), (1, offset)):
            start = source.randrange(low, high)
            for step in range(high - low):
                address = str(SERVICE_CIDR.network_address + low + (start - low + step) % (high - low))
                if address not in taken:
                    return address
        raise status.internal_error("failed to allocate IP: range is full")

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
        if not isinstance(parsed, IPv4Address) or parsed not in SERVICE_CIDR:
            raise refuse(f"the provided IP is not in the valid range. The range of valid IPs is {SERVICE_CIDR}")
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
