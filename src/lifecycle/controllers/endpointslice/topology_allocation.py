"""The arithmetic of topology-aware hints: how many endpoints a zone should have, and
which are lent to another.

A zone's *desired* number is its share of the CPUs times the endpoints. Its *minimum* is
what it can do with if every endpoint takes up to a fifth more than its share; its
*maximum* what the others' minima leave.

Where several zones are alike upstream takes any (the order of a Go map); we take the
first by name.

Upstream: `endpointslice/topologycache/utils.go`, `topologycache.go` (`getAllocations`),
v1.36.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice.slice_changes import (
    endpoints_of,
    is_endpoint_ready,
)
from lifecycle.controllers.endpointslice.traffic_distribution import set_hints

OVERLOAD_THRESHOLD = 0.2


class Allocation(NamedTuple):
    """Of one zone."""

    minimum: int
    maximum: int
    desired: float


def allocate(
    shares: Mapping[str, float], endpoints: int
) -> dict[str, Allocation] | None:
    """What each zone should have; None if there are fewer than two zones, or endpoints
    for none of this.
    """
    if len(shares) < 2 or len(shares) > endpoints:
        return None
    minima = {zone: _minimum(share * endpoints) for zone, share in shares.items()}
    spare = endpoints - sum(minima.values())
    if spare < 0:
        return None
    return {
        zone: Allocation(
            minima[zone], minima[zone] + spare, max(share * endpoints, minima[zone])
        )
        for zone, share in shares.items()
    }


def _minimum(desired: float) -> int:
    return ceil(desired * (1 / (1 + OVERLOAD_THRESHOLD)))


def is_overloaded(hinted: Mapping[str, int], shares: Mapping[str, float]) -> bool:
    """Whether some zone has too few endpoints hinted for it. Upstream:
    `serviceOverloaded`.
    """
    if not hinted:
        return False
    total = sum(hinted.values())
    return not shares or any(
        hinted.get(zone, 0) < max(1, _minimum(total * share))
        for zone, share in shares.items()
    )


def giving_and_receiving_zones(
    allocations: Mapping[str, Allocation], hinted: Mapping[str, int]
) -> tuple[Counter[str], Counter[str]]:
    """How many endpoints each zone lends and borrows. Less than half an endpoint is not
    worth a move.
    """
    difference = {
        zone: hinted.get(zone, 0) - allocation.desired
        for zone, allocation in allocations.items()
    }
    surplus = {zone: number for zone, number in difference.items() if number > 0}
    need = {zone: -number for zone, number in difference.items() if number < 0}
    giving: Counter[str] = Counter()
    receiving: Counter[str] = Counter()
    while surplus and need:
        giver, receiver = _highest_zone(surplus), _highest_zone(need)
        most, least = (
            max(surplus[giver], need[receiver]),
            min(surplus[giver], need[receiver]),
        )
        if most < 1 or least < 0.5:
            break
        giving[giver] += 1
        surplus[giver] -= 1
        receiving[receiver] += 1
        need[receiver] -= 1
    return giving, receiving


def _highest_zone(zones: Mapping[str, float]) -> str:
    return max(sorted(zones), key=lambda zone: zones[zone])


def redistribute_hints(
    slices: Iterable[Object], giving: Counter[str], receiving: Counter[str]
) -> Counter[str]:
    """Hint endpoints of zones that give for zones that receive. By how much each zone's
    number changes.
    """
    changed: Counter[str] = Counter()
    for endpoint_slice in slices:
        for endpoint in endpoints_of(endpoint_slice):
            giver = endpoint.get("zone")
            if not is_endpoint_ready(endpoint) or giver is None or not giving[giver]:
                continue
            receiver = next(
                (zone for zone in sorted(receiving) if receiving[zone]), None
            )
            if receiver is None:
                return changed
            set_hints(endpoint, {"forZones": [{"name": receiver}]})
            giving[giver] -= 1
            receiving[receiver] -= 1
            changed[giver] -= 1
            changed[receiver] += 1
    return changed


def hints_by_zone(
    endpoint_slice: Object,
    hinted: Mapping[str, int],
    allocations: Mapping[str, Allocation],
) -> Counter[str] | None:
    """The hints that a slice has; None if it cannot stay: an endpoint has none, or one
    for a zone that wants none or has enough.
    """
    by_zone: Counter[str] = Counter()
    for endpoint in endpoints_of(endpoint_slice):
        if not is_endpoint_ready(endpoint):
            continue
        zones = [
            hint["name"] for hint in (endpoint.get("hints") or {}).get("forZones") or ()
        ]
        if not zones or not set(zones) <= allocations.keys():
            return None
        by_zone.update(zones)
    if any(
        hinted.get(zone, 0) + number > allocations[zone].maximum
        for zone, number in by_zone.items()
    ):
        return None
    return by_zone
