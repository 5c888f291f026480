"""Leases in Kubernetes: each flanneld writes its own Node's annotations and watches
everybody's.

It needs no client of its own: give it the events of a watch of nodes, and send the
patch it asks for.

Upstream: flannel v0.28, `pkg/subnet/kube/kube.go` (`kubeSubnetManager`: `AcquireLease`,
`handleAddLeaseEvent`, `handleUpdateLeaseEvent`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lifecycle.cni.errors import CNIError
from lifecycle.cni.overlay.lease import (
    ADDED,
    REMOVED,
    Lease,
    LeaseAttrs,
    LeaseEvent,
    LeaseWatcher,
    Subnet,
    lease_annotations,
    node_to_lease,
    pod_subnet,
)


class Backend(Protocol):
    """Turns leases into routes, or whatever carries packets."""

    def handle(self, events: list[LeaseEvent]) -> None:
        """Make the kernel agree with what changed."""
        ...


def acquire_lease(
    node: Mapping[str, Any], attrs: LeaseAttrs, network: Subnet
) -> tuple[Lease, dict[str, Any] | None]:
    """A host's own lease, and the patch of its Node's status that announces it (None:
    it is announced already). Raises CNIError.
    """
    subnet = pod_subnet(node)
    if not subnet.subnet_of(network):
        name = node["metadata"]["name"]
        raise CNIError(
            f'subnet "{network}" specified in the flannel net config doesn\'t contain'
            f' "{subnet}" PodCIDR of the "{name}" node'
        )
    annotations = lease_annotations(attrs)
    present = node["metadata"].get("annotations") or {}
    changed = {
        key: value for key, value in annotations.items() if present.get(key) != value
    }
    return Lease(subnet, attrs), (
        {"metadata": {"annotations": changed}} if changed else None
    )


@dataclass(slots=True)
class NodeLeases:
    """Events of nodes → events of leases. A node that changed without changing its
    lease says nothing.
    """

    own: Subnet
    _watcher: LeaseWatcher = field(init=False)
    _leases: dict[str, Lease] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._watcher = LeaseWatcher(self.own)

    def node_event(self, kind: str, node: Mapping[str, Any]) -> list[LeaseEvent]:
        """`kind` as in a watch: ADDED, MODIFIED, DELETED. Nodes without a readable
        lease are passed over.
        """
        name = node["metadata"]["name"]
        try:
            lease = node_to_lease(node)
        except CNIError:
            return []
        if lease is None:
            return []
        if kind == "DELETED":
            self._leases.pop(name, None)
            return self._watcher.update(LeaseEvent(REMOVED, lease))
        if self._leases.get(name) == lease:
            return []
        self._leases[name] = lease
        return self._watcher.update(LeaseEvent(ADDED, lease))


async def run(
    events: AsyncIterator[Mapping[str, Any]], own: Subnet, backend: Backend
) -> None:
    """flanneld's loop: from a watch of nodes, `{type, object}` each, to the kernel,
    until the watch ends.
    """
    leases = NodeLeases(own)
    async for event in events:
        batch = leases.node_event(event["type"], event["object"])
        if batch:
            backend.handle(batch)
