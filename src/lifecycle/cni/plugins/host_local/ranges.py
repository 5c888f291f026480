"""Ranges of addresses, and sets of ranges; one address is taken from each set.

Upstream: `containernetworking/plugins`,
`plugins/ipam/host-local/backend/allocator/range.go`, `range_set.go`, v1.9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lifecycle.cni.addresses import Address, Interface, next_ip, parse_cidr, parse_ip
from lifecycle.cni.errors import CNIError


@dataclass(slots=True, frozen=True)
class Range:
    """A piece of a subnet, both ends included, and the gateway, which is never handed
    out.
    """

    subnet: Interface
    start: Address
    end: Address
    gateway: Address

    def __contains__(self, address: Address) -> bool:
        if address.version != self.start.version or address not in self.subnet.network:
            return False
        return self.start <= address <= self.end  # type: ignore[operator]

    def overlaps(self, other: Range) -> bool:
        """Whether an address could come from both."""
        if self.start.version != other.start.version:
            return False
        return (
            other.start in self
            or other.end in self
            or self.start in other
            or self.end in other
        )

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


def canonical_range(raw: Mapping[str, Any]) -> Range:
    """A range from its configuration; gateway and start default to the first address,
    the end to the last usable one. Raises CNIError.
    """
    if not raw.get("subnet"):
        raise CNIError("IP <nil> not v4 nor v6")
    subnet = parse_cidr(raw["subnet"])
    network = subnet.network
    if network.prefixlen > network.max_prefixlen - 2:
        raise CNIError(f"Network {subnet} too small to allocate from")
    if subnet.ip != network.network_address:
        length = network.prefixlen
        raise CNIError(
            f"Network has host bits set. For a subnet mask of length {length} the"
            f" network address is {network.network_address}"
        )
    first = next_ip(network.network_address)
    last = (
        network.broadcast_address - 1
        if network.version == 4
        else network.broadcast_address
    )
    gateway = parse_ip(raw["gateway"]) if raw.get("gateway") else first
    start = parse_ip(raw["rangeStart"]) if raw.get("rangeStart") else None
    end = parse_ip(raw["rangeEnd"]) if raw.get("rangeEnd") else None
    # a start behind the end is outside of what is a range by then
    behind = start is not None and end is not None and int(start) > int(end)
    if start is not None and (start not in network or behind):
        raise CNIError(f"RangeStart {start} not in network {subnet}")
    if end is not None and (end not in network or int(start or first) > int(end)):
        raise CNIError(f"RangeEnd {end} not in network {subnet}")
    return Range(subnet, start or first, end or last, gateway)


class RangeSet:
    """Ranges of one IP version that do not overlap; when one is used up, the next one
    serves.
    """

    def __init__(self, raw: Sequence[Mapping[str, Any]]) -> None:
        if not raw:
            raise CNIError("empty range set")
        self.ranges: list[Range] = []
        for one in raw:
            self.ranges.append(canonical_range(one))
            if self.ranges[-1].start.version != self.ranges[0].start.version:
                raise CNIError("mixed address families")
        for index, one_range in enumerate(self.ranges):
            for other in self.ranges[index + 1 :]:
                if one_range.overlaps(other):
                    raise CNIError(f"subnets {one_range} and {other} overlap")

    @property
    def version(self) -> int:
        """4 or 6."""
        return self.ranges[0].start.version

    def range_for(self, address: Address) -> Range:
        """The range that holds an address. Raises CNIError."""
        for one in self.ranges:
            if address in one:
                return one
        raise CNIError(f"{address} not in range set {self}")

    def __contains__(self, address: Address) -> bool:
        return any(address in one for one in self.ranges)

    def overlaps(self, other: RangeSet) -> bool:
        """Whether an address could come from both."""
        return any(
            one.overlaps(another) for one in self.ranges for another in other.ranges
        )

    def __str__(self) -> str:
        return ",".join(map(str, self.ranges))
