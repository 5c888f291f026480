"""What the kubelet of each version could run pods with: two runtimes it knew by heart,
then any that speaks CRI, and Docker through `dockershim` until that was dropped.
"""

from __future__ import annotations

from collections.abc import Mapping

SUPPORTED: Mapping[str, tuple[int, int | None]] = {
    "docker, in the kubelet": (0, 4),
    "docker, through dockershim": (5, 23),
    "rkt, in the kubelet": (3, 10),
    "any runtime that speaks CRI": (5, None),
}
"""First and last minor version 1.x in which the kubelet could use it; None: still."""


def supported(minor: int) -> list[str]:
    """What the kubelet of 1.`minor` could run pods with."""
    return [
        name
        for name, (first, last) in SUPPORTED.items()
        if first <= minor and (last is None or minor <= last)
    ]
