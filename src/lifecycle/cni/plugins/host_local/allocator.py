"""Which address comes next: round and round through the ranges, from the one last
reserved.

A released address is thus used again as late as possible: whoever still talks to the
old pod's address does not reach a new pod at once.

Upstream: `containernetworking/plugins`,
`plugins/ipam/host-local/backend/allocator/allocator.go` (`IPAllocator.Get`,
`RangeIter`), v1.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from lifecycle.cni.addresses import Address, next_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.host_local.ranges import Range, RangeSet


class Store(Protocol):
    """Who has which address. Upstream: `backend.Store`. Held locked by the caller."""

    def reserve(
        self, container_id: str, if_name: str, address: Address, range_id: str
    ) -> bool:
        """Take an address; False if somebody has it."""
        ...

    def last_reserved_ip(self, range_id: str) -> Address | None:
        """The address that was taken last, even if it has been released since."""
        ...

    def get_by_id(self, container_id: str, if_name: str) -> list[Address]:
        """An interface's addresses."""
        ...

    def release_by_id(self, container_id: str, if_name: str) -> None:
        """Give all of them back."""
        ...


def candidates(
    ranges: RangeSet, last: Address | None
) -> Iterator[tuple[Address, Range]]:
    """Every address that may be tried, in order, each once; gateways are left out.

    Begins after `last` if a range holds it, else with the first range's start.
    """
    index = next(
        (i for i, one in enumerate(ranges.ranges) if last is not None and last in one),
        None,
    )
    current = last if index is not None else None
    index = index or 0
    begin: Address | None = None
    while True:
        one = ranges.ranges[index]
        if current is None:
            current = one.start
        elif current == one.end:
            index = (index + 1) % len(ranges.ranges)
            one = ranges.ranges[index]
            current = one.start
        else:
            current = next_ip(current)
        if begin is None:
            begin = current
        elif current == begin:
            return
        if current != one.gateway:
            yield current, one


class IPAllocator:
    """One range set over a store."""

    def __init__(self, ranges: RangeSet, store: Store, index: int) -> None:
        self._ranges = ranges
        self._store = store
        self._range_id = str(index)

    def get(
        self, container_id: str, if_name: str, requested: Address | None = None
    ) -> dict[str, str]:
        """An address with mask and gateway: the requested one, or the next free one.
        Raises CNIError.
        """
        if requested is not None:
            one = self._ranges.range_for(requested)
            if requested == one.gateway:
                raise CNIError(f"requested ip {requested} is subnet's gateway")
            if not self._store.reserve(
                container_id, if_name, requested, self._range_id
            ):
                raise CNIError(
                    f"requested IP address {requested} is not available in range set"
                    f" {self._ranges}"
                )
            return _ip_config(requested, one)
        for allocated in self._store.get_by_id(container_id, if_name):
            if allocated in self._ranges:
                raise CNIError(
                    f"{allocated} has been allocated to {container_id}, duplicate"
                    " allocation is not allowed"
                )
        for address, one in candidates(
            self._ranges, self._store.last_reserved_ip(self._range_id)
        ):
            if self._store.reserve(container_id, if_name, address, self._range_id):
                return _ip_config(address, one)
        raise CNIError(f"no IP addresses available in range set: {self._ranges}")

    def release(self, container_id: str, if_name: str) -> None:
        """Give back all of an interface's addresses, of whatever range."""
        self._store.release_by_id(container_id, if_name)


def _ip_config(address: Address, one: Range) -> dict[str, str]:
    return {
        "address": f"{address}/{one.subnet.network.prefixlen}",
        "gateway": str(one.gateway),
    }
