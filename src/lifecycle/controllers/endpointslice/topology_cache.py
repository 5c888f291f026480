"""Topology-aware hints: endpoints shared out among zones as the zones' CPUs are.

A Service asks for them with the annotation `service.kubernetes.io/topology-mode: Auto`.
Each zone should be served by a share of the endpoints that matches its share of CPUs,
so that keeping traffic in a zone overloads nobody by more than a fifth. A zone with too
few endpoints is lent some of another zone's. Where that cannot be done, no endpoint
gets a hint, and an event says why.

Only slices that have to be written are hinted anew, as long as those that stay leave
the others their minimum.

Upstream: `endpointslice/topologycache/topologycache.go` (`TopologyCache`),
`sliceinfo.go` (`getAllocatedHintsByZone`), `event.go`, v1.36.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.controllers.endpointslice.pod_endpoints import TOPOLOGY_ZONE
from lifecycle.controllers.endpointslice.slice_changes import (
    Changes,
    Event,
    endpoints_of,
    is_endpoint_ready,
)
from lifecycle.controllers.endpointslice.topology_allocation import (
    Allocation,
    allocate,
    giving_and_receiving_zones,
    hints_by_zone,
    is_overloaded,
    redistribute_hints,
)
from lifecycle.controllers.endpointslice.traffic_distribution import (
    remove_hints,
    set_hints,
)
from lifecycle.controllers.object_copy import mutable_copy

TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
DEPRECATED_TOPOLOGY_AWARE_HINTS = "service.kubernetes.io/topology-aware-hints"
EXCLUDED_NODE_LABELS = frozenset(
    {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}
)

NO_ZONE_SPECIFIED = "One or more endpoints do not have a zone specified"
NO_ALLOCATED_HINTS = "No hints allocated for zones"
HINTS_ENABLED = "Topology Aware Hints has been enabled"
HINTS_DISABLED = "Topology Aware Hints has been disabled"
INSUFFICIENT_NODE_INFO = (
    "Insufficient Node information: allocatable CPU or zone not specified on one or"
    " more nodes"
)
INSUFFICIENT_ENDPOINTS = "Insufficient number of endpoints"
EXCEEDS_OVERLOAD = (
    "Unable to allocate minimum required endpoints to each zone without exceeding"
    " overload threshold"
)


def wants_topology_hints(service: Object) -> bool:
    """Whether the Service has the annotation, in its old or new name; the old one wins.
    Upstream: `hintsEnabled`.
    """
    annotations = service["metadata"].get("annotations") or {}
    value = annotations.get(
        DEPRECATED_TOPOLOGY_AWARE_HINTS, annotations.get(TOPOLOGY_MODE)
    )
    return value in ("Auto", "auto")


class TopologyCache:
    """The zones' shares of CPUs, and how many endpoints of which Service were hinted
    for which zone. `nodes` lists the Nodes.
    """

    def __init__(self, nodes: Callable[[], Iterable[Object]] = tuple) -> None:
        self._nodes = nodes
        self._shares: dict[str, float] | None = None
        self._hinted: dict[str, dict[str, Mapping[str, int]]] = {}
        self._populated: set[str] = set()

    def nodes_changed(self) -> None:
        """The shares are to be worked out again, once somebody needs them."""
        self._shares = None

    @property
    def shares(self) -> dict[str, float]:
        """Each zone's part of all CPUs; empty if there is nothing to share out."""
        if self._shares is None:
            self._shares = self._count()
        return self._shares

    def _count(self) -> dict[str, float]:
        """Nodes that are not ready or run the control plane do not count; one without
        zone or CPUs spoils it all.
        """
        cpus: Counter[str] = Counter()
        for node in self._nodes():
            labels = node["metadata"].get("labels") or {}
            ready = get_condition(node, "Ready")
            if (
                EXCLUDED_NODE_LABELS & labels.keys()
                or ready is None
                or ready["status"] != "True"
            ):
                continue
            cpu = parse_quantity(
                ((node.get("status") or {}).get("allocatable") or {}).get("cpu", "0")
            )
            zone = labels.get(TOPOLOGY_ZONE)
            if not zone or cpu.is_zero:
                return {}
            cpus[zone] += cpu.milli()
        return (
            {zone: cpus[zone] / cpus.total() for zone in sorted(cpus)}
            if len(cpus) > 1
            else {}
        )

    @property
    def in_use(self) -> bool:
        """Whether any Service has such hints."""
        return bool(self._hinted)

    def overloaded_services(self) -> list[str]:
        """Keys of the Services whose hints no longer suit the zones. Upstream:
        `GetOverloadedServices`.
        """
        return [
            key
            for key, by_type in self._hinted.items()
            if any(is_overloaded(hinted, self.shares) for hinted in by_type.values())
        ]

    def remove_hints(self, key: str, address_type: str) -> None:
        """Forget what was hinted for a Service."""
        by_type = self._hinted.get(key, {})
        by_type.pop(address_type, None)
        if not by_type:
            self._hinted.pop(key, None)
        self._populated.discard(key)

    def add_hints(self, key: str, address_type: str, changes: Changes) -> None:
        """Set the hints of what is written, or take them all away and say why.
        Upstream: `AddHints`.
        """
        ready = sum(
            is_endpoint_ready(e)
            for s in (*changes.written(), *changes.unchanged)
            for e in endpoints_of(s)
        )
        allocations = allocate(self.shares, ready)
        if allocations is None:
            self._remove_hints_with_event(
                key, address_type, changes, self._problem(ready)
            )
            return
        hinted = _already_hinted(changes, allocations)
        problem = _hint_same_zone(changes, hinted)
        if not problem:
            hinted += redistribute_hints(
                changes.written(), *giving_and_receiving_zones(allocations, hinted)
            )
            problem = "" if hinted else NO_ALLOCATED_HINTS
        if problem:
            self._remove_hints_with_event(key, address_type, changes, problem)
            return
        if key not in self._populated:
            changes.events.append(_event("Normal", HINTS_ENABLED, address_type))
        self._hinted.setdefault(key, {})[address_type] = hinted
        self._populated.add(key)

    def stop_hints(self, key: str, address_type: str, changes: Changes) -> None:
        """The annotation is gone, or was never there."""
        if key in self._populated:
            changes.events.append(_event("Warning", HINTS_DISABLED, address_type))
        self.remove_hints(key, address_type)

    def _problem(self, endpoints: int) -> str:
        if not self.shares:
            return INSUFFICIENT_NODE_INFO
        problem = (
            INSUFFICIENT_ENDPOINTS if len(self.shares) > endpoints else EXCEEDS_OVERLOAD
        )
        return f"{problem} ({endpoints} endpoints, {len(self.shares)} zones)"

    def _remove_hints_with_event(
        self, key: str, address_type: str, changes: Changes, problem: str
    ) -> None:
        changes.events.append(_event("Warning", problem, address_type))
        self.remove_hints(key, address_type)
        remove_hints(changes)


def _event(kind: str, message: str, address_type: str) -> Event:
    reason = (
        "TopologyAwareHintsEnabled"
        if kind == "Normal"
        else "TopologyAwareHintsDisabled"
    )
    return Event(kind, reason, f"{message}, addressType: {address_type}")


def _already_hinted(
    changes: Changes, allocations: Mapping[str, Allocation]
) -> Counter[str]:
    """The hints of slices that may stay as they are; the others become ones to
    update.
    """
    hinted: Counter[str] = Counter()
    for endpoint_slice in list(changes.unchanged):
        slice_hints = hints_by_zone(endpoint_slice, hinted, allocations)
        if slice_hints is None:
            changes.unchanged.remove(endpoint_slice)
            changes.update.append(mutable_copy(endpoint_slice))
        else:
            hinted += slice_hints
    return hinted


def _hint_same_zone(changes: Changes, hinted: Counter[str]) -> str:
    """Begin with a hint for each endpoint's own zone. What is wrong, if something
    is.
    """
    for endpoint_slice in changes.written():
        for endpoint in endpoints_of(endpoint_slice):
            if not is_endpoint_ready(endpoint):
                continue
            if not endpoint.get("zone"):
                return NO_ZONE_SPECIFIED
            hinted[endpoint["zone"]] += 1
            set_hints(endpoint, {"forZones": [{"name": endpoint["zone"]}]})
    return ""
