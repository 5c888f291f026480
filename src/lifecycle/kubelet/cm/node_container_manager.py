"""What pods may have of a node: all of it, but for what is reserved, for what the
kubelet would evict them to keep free, and for memory that is set aside as huge pages.

Upstream: `pkg/kubelet/cm/node_container_manager_linux.go`
(`GetNodeAllocatableReservation`, `hardEvictionReservation`),
`pkg/kubelet/nodestatus/setters.go` (`MachineInfo`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.quantity import Format, Quantity, parse_quantity
from lifecycle.kubelet.eviction.thresholds import (
    EPHEMERAL_STORAGE,
    MEMORY,
    Threshold,
)

RESERVED_BY = {"memory.available": MEMORY, "nodefs.available": EPHEMERAL_STORAGE}
"""The signals that a resource is kept back for."""

Quantities = Mapping[str, object]


def hard_eviction_reservation(
    thresholds: Sequence[Threshold], capacity: Quantities
) -> dict[str, str]:
    """What is kept free by evicting, by resource."""
    reserved = {}
    for threshold in thresholds:
        name = RESERVED_BY.get(threshold.signal, "")
        if name in capacity:
            whole = parse_quantity(str(capacity[name])).value()
            amount = Quantity(threshold.amount(whole), 0, Format.BINARY_SI)
            reserved[name] = str(amount)
    return reserved


def node_allocatable(
    capacity: Quantities,
    *,
    kube_reserved: Quantities | None = None,
    system_reserved: Quantities | None = None,
    eviction_hard: Quantities | None = None,
) -> dict[str, str]:
    """What is left for pods, as the node's status says it. `eviction_hard` by resource:
    `memory`, `ephemeral-storage`.
    """
    left = {name: parse_quantity(str(text)) for name, text in capacity.items()}
    for reserved in (kube_reserved, system_reserved, eviction_hard):
        for name, amount in (reserved or {}).items():
            if name in left:
                left[name] -= parse_quantity(str(amount))
    for name, text in capacity.items():
        if name.startswith("hugepages-") and MEMORY in left:
            left[MEMORY] -= parse_quantity(str(text))
    return {name: str(q) if q.sign >= 0 else "0" for name, q in left.items()}
