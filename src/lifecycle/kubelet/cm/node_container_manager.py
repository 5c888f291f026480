"""What pods may have of a node: all of it, but for what is reserved, for what the
kubelet would evict them to keep free, and for memory that is set aside as huge pages.

Upstream: `pkg/kubelet/cm/node_container_manager_linux.go`
(`GetNodeAllocatableReservation`),
`pkg/kubelet/nodestatus/setters.go` (`MachineInfo`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.quantity import parse_quantity

MEMORY = "memory"
Quantities = Mapping[str, object]


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
