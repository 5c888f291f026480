"""Hints: which zones (or nodes) an endpoint should serve, if the Service prefers traffic to stay close.

Upstream: `endpointslice/trafficdist/trafficdist.go` (`preferCloseHeuristic`), v1.36. Left out: the older
topology-aware hints, which spread endpoints over zones by CPU.
"""

from __future__ import annotations

from lifecycle.api.wire import Object

ZONES_ONLY = ("PreferClose", "PreferSameZone")


def hints_for(endpoint: Object, traffic_distribution: str | None) -> Object | None:
    """The `hints` of an endpoint; None: none. Endpoints that are not ready keep what they have."""
    if not endpoint["conditions"]["ready"]:
        found: Object | None = endpoint.get("hints")
        return found
    hints: Object = {}
    if traffic_distribution in (*ZONES_ONLY, "PreferSameNode") and "zone" in endpoint:
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if traffic_distribution == "PreferSameNode" and "nodeName" in endpoint:
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    return hints or None
