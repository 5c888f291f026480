"""What pods may have of a node: all of it, but for what the kubelet would evict them to
keep free, and for memory that is set aside as huge pages.

Upstream: `pkg/kubelet/cm/node_container_manager_linux.go`
(`GetNodeAllocatableReservation`, `hardEvictionReservation`),
`pkg/kubelet/nodestatus/setters.go` (`MachineInfo`), v1.36. Left out: what is reserved
for the system and for the kubelet itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.kubelet.eviction.thresholds import (
    EPHEMERAL_STORAGE,
    MEMORY,
    Threshold,
)

RESERVED_BY = {"memory.available": MEMORY, "nodefs.available": EPHEMERAL_STORAGE}
"""The signals that a resource is kept back for."""


def node_allocatable(
    capacity: Mapping[str, str], eviction_hard: Sequence[Threshold]
) -> dict[str, str]:
    """By resource, as a node's status has it."""
    reserved: dict[str, int] = {}
    for threshold in eviction_hard:
        name = RESERVED_BY.get(threshold.signal, "")
        if name in capacity:
            whole = parse_quantity(str(capacity[name])).value()
            reserved[name] = threshold.amount(whole)
    for name, text in capacity.items():
        if name.startswith("hugepages-"):
            pages = parse_quantity(str(text)).value()
            reserved[MEMORY] = reserved.get(MEMORY, 0) + pages
    allocatable = {}
    for name, text in capacity.items():
        if not reserved.get(name):
            allocatable[name] = str(text)
            continue
        known = parse_quantity(str(text))
        left = max(known.value() - reserved[name], 0)
        allocatable[name] = str(Quantity(left, 0, known.format))
    return allocatable
