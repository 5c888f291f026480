"""Nodes by zone, so that a search that stops early has seen every zone.

Upstream: `pkg/scheduler/backend/cache/node_tree.go` (`nodeTree`),
`component-helpers/node/topology/helpers.go` (`GetZoneKey`), v1.36.
"""

from __future__ import annotations

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


def zone_key(labels: dict[str, str]) -> str:
    """Region and zone as one value; empty if the node has neither. Upstream:
    `node.GetZoneKey`.
    """
    region, zone = labels.get(REGION, ""), labels.get(ZONE, "")
    return f"{region}:\x00:{zone}" if region or zone else ""


class NodeTree:
    """Nodes by zone, listed one from each zone in turn, so that a search that stops
    early has seen every zone.
    """

    def __init__(self) -> None:
        self._zones: dict[str, list[str]] = {}

    def add_node(self, name: str, zone: str) -> None:
        """Add a node to its zone."""
        names = self._zones.setdefault(zone, [])
        if name not in names:
            names.append(name)

    def remove_node(self, name: str, zone: str) -> None:
        """Remove a node; a zone without nodes disappears."""
        names = self._zones.get(zone, [])
        if name in names:
            names.remove(name)
        if not names:
            self._zones.pop(zone, None)

    def list(self) -> list[str]:
        """All names, round robin over the zones."""
        zones = list(self._zones.values())
        if len(zones) == 1:
            return list(zones[0])
        longest = max((len(names) for names in zones), default=0)
        return [names[i] for i in range(longest) for names in zones if i < len(names)]
