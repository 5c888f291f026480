"""Promises that the scheduler and the nodes keep."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.pods.resources import pod_requests
from lifecycle.api.quantity import parse_quantity
from tests.chaos.history import Change
from tests.chaos.invariants.registry import (
    TERMINAL,
    World,
    invariant,
)


@invariant("pods", kinds=("ADDED", "MODIFIED"))
def a_pod_is_bound_to_a_node_that_exists(change: Change, world: World) -> Iterator[str]:
    """And that had its PodScheduled condition set."""
    before = (change.before or {"spec": {}})["spec"].get("nodeName")
    node = change.obj["spec"].get("nodeName")
    if node and not before and f"nodes {node}" not in world.objects["nodes"]:
        yield f"there is no {node}"


@invariant("pods", kinds=("ADDED", "MODIFIED"))
def a_node_is_not_overcommitted(change: Change, world: World) -> Iterator[str]:
    """What the pods of a node ask for is there."""
    before = (change.before or {"spec": {}})["spec"].get("nodeName")
    node = change.obj["spec"].get("nodeName")
    if not node or before == node:
        return
    allocatable = world.objects["nodes"].get(f"nodes {node}", {}).get("status", {}).get("allocatable")
    if not allocatable:
        return
    others = [
        pod
        for key, pod in world.objects["pods"].items()
        if pod["spec"].get("nodeName") == node and pod["status"].get("phase") not in TERMINAL and key != change.key
    ]
    pods = [*others, change.obj]
    if len(pods) > parse_quantity(allocatable["pods"]).value():
        yield f"{len(pods)} pods on {node}"
    for name in ("cpu", "memory"):
        asked = sum((pod_requests(pod).get(name, parse_quantity("0")) for pod in pods), parse_quantity("0"))
        if asked > parse_quantity(allocatable[name]):
            yield f"{node} has {allocatable[name]} {name}, and {asked} is asked for"
