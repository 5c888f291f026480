"""Hints: which zones (or nodes) an endpoint should serve, if the Service prefers
traffic to stay close.

Each ready endpoint is hinted for where it is, whatever that does to the balance; a node
whose zone has no endpoint uses them all. Endpoints that are not ready keep what they
have.

Upstream: `endpointslice/trafficdist/trafficdist.go` (`ReconcileHints`,
`preferCloseHeuristic`), `topologycache/utils.go` (`RemoveHintsFromSlices`),
`endpointslice/reconciler.go` (`validTrafficDistribution`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice.slice_changes import (
    Changes,
    endpoints_of,
    is_endpoint_ready,
)
from lifecycle.controllers.object_copy import mutable_copy

PREFER_SAME_NODE = "PreferSameNode"
TRAFFIC_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", PREFER_SAME_NODE)


def reconcile_hints(traffic_distribution: str, changes: Changes) -> None:
    """Set the hints of all slices that are written; an unchanged one with hints that
    are wrong becomes one to update.
    """
    nodes_too = traffic_distribution == PREFER_SAME_NODE
    for endpoint_slice in list(changes.unchanged):
        if any(
            _hints_differ(endpoint, nodes_too)
            for endpoint in endpoints_of(endpoint_slice)
        ):
            changes.unchanged.remove(endpoint_slice)
            changes.update.append(mutable_copy(endpoint_slice))
    for endpoint_slice in changes.written():
        for endpoint in endpoints_of(endpoint_slice):
            if is_endpoint_ready(endpoint):
                set_hints(endpoint, close_hints(endpoint, nodes_too))


def close_hints(endpoint: Object, nodes_too: bool) -> Object | None:
    """The hint for where an endpoint is; None if nobody knows."""
    hints: Object = {}
    if "zone" in endpoint:
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if nodes_too and "nodeName" in endpoint:
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    return hints or None


def _hints_differ(endpoint: Object, nodes_too: bool) -> bool:
    return is_endpoint_ready(endpoint) and (
        endpoint.get("hints") or None
    ) != close_hints(endpoint, nodes_too)


def set_hints(endpoint: Object, hints: Object | None) -> None:
    """Give an endpoint hints, or take them away."""
    if hints is None:
        endpoint.pop("hints", None)
    else:
        endpoint["hints"] = hints


def remove_hints(changes: Changes) -> None:
    """No endpoint shall have any; an unchanged slice that has some becomes one to
    update.
    """
    for endpoint_slice in list(changes.unchanged):
        if any("hints" in endpoint for endpoint in endpoints_of(endpoint_slice)):
            changes.unchanged.remove(endpoint_slice)
            changes.update.append(mutable_copy(endpoint_slice))
    for endpoint_slice in changes.written():
        for endpoint in endpoints_of(endpoint_slice):
            set_hints(endpoint, None)
