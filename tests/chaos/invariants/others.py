"""Promises about Services, nodes, leases, events and budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.chaos.history import Change
from tests.chaos.invariants.registry import (
    World,
    invariant,
)


@invariant("services", kinds=("ADDED", "MODIFIED"))
def a_service_keeps_its_address(change: Change, world: World) -> Iterator[str]:
    """`clusterIP`, for as long as it lives; and no other has it."""
    address = change.obj["spec"].get("clusterIP")
    if change.before is not None and change.before["spec"].get("clusterIP") != address:
        yield f"from {change.before['spec'].get('clusterIP')} to {address}"
    if address and address != "None":
        for key, other in world.objects["services"].items():
            if key != change.key and other["spec"].get("clusterIP") == address:
                yield f"{address} is that of {key}"


@invariant("endpointslices.discovery.k8s.io", kinds=("ADDED", "MODIFIED"))
def an_endpoint_is_a_pod_that_was_there(change: Change, world: World) -> Iterator[str]:
    """Its address was that pod's, and it is listed once."""
    for endpoint in change.obj.get("endpoints") or ():
        pod = endpoint.get("targetRef")
        if pod is None or pod.get("kind") != "Pod":
            continue
        if not set(endpoint["addresses"]) <= world.addresses[pod["uid"]]:
            yield f"{pod['name']} never had {', '.join(endpoint['addresses'])}"
    for address, count in Counter(a for each in change.obj.get("endpoints") or () for a in each["addresses"]).items():
        if count > 1:
            yield f"{count} × {address}"


@invariant("nodes", kinds=("ADDED", "MODIFIED"))
def a_node_keeps_its_range(change: Change, world: World) -> Iterator[str]:
    """`podCIDR` is set once; and no other node has it."""
    mine = change.obj["spec"].get("podCIDR")
    before = (change.before or {"spec": {}})["spec"].get("podCIDR")
    if before and before != mine:
        yield f"from {before} to {mine}"
    for key, other in world.objects["nodes"].items():
        if mine and key != change.key and other["spec"].get("podCIDR") == mine:
            yield f"{mine} is that of {key}"


@invariant("leases.coordination.k8s.io", kinds=("MODIFIED",))
def a_lease_changes_hands_one_at_a_time(change: Change, world: World) -> Iterator[str]:
    """leaseTransitions never falls, and does not jump."""
    before, after = (each["spec"].get("leaseTransitions") or 0 for each in (change.before or change.obj, change.obj))
    if not 0 <= after - before <= 1:
        yield f"transitions from {before} to {after}"


@invariant("events", kinds=("MODIFIED",))
def a_count_of_events_never_falls(change: Change, world: World) -> Iterator[str]:
    """`count` and `series.count`."""
    before, after = (each.get("count") or 0 for each in (change.before or change.obj, change.obj))
    if after < before:
        yield f"from {before} to {after}"


@invariant("poddisruptionbudgets.policy", kinds=("ADDED", "MODIFIED"))
def a_budget_allows_no_less_than_nothing(change: Change, world: World) -> Iterator[str]:
    """disruptionsAllowed is never negative, and never more than healthy pods above what is desired."""
    status = change.obj.get("status") or {}
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        yield f"{allowed} are allowed"
    if allowed > max(0, status.get("currentHealthy", 0) - status.get("desiredHealthy", 0)):
        yield f"{allowed} are allowed with {status.get('currentHealthy', 0)} of {status.get('desiredHealthy', 0)} healthy"
