"""Sets of CPUs as Linux writes them: `0-3,8,10-11`.

Upstream: `k8s.io/utils/cpuset/cpuset.go` (`Parse`, `CPUSet.String`).
"""

from __future__ import annotations

from collections.abc import Iterable

CPUSet = frozenset[int]


def parse_cpu_set(text: str) -> CPUSet:
    """`0-2,5` → {0, 1, 2, 5}. Raises ValueError."""
    cpus: set[int] = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        begin, end = int(first), int(last) if dash else int(first)
        if begin > end:
            raise ValueError(f"invalid range {part!r} ({begin} > {end})")
        cpus.update(range(begin, end + 1))
    return frozenset(cpus)


def format_cpu_set(cpus: Iterable[int]) -> str:
    """The shortest list of ranges, in order."""
    parts: list[str] = []
    ordered = sorted(cpus)
    start = 0
    for i, cpu in enumerate(ordered):
        if i + 1 == len(ordered) or ordered[i + 1] != cpu + 1:
            parts.append(
                str(cpu) if ordered[start] == cpu else f"{ordered[start]}-{cpu}"
            )
            start = i + 1
    return ",".join(parts)
