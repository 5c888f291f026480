"""The kinds of attack that `benchmarks.prober` runs, one after the other.

Each sends what is allowed by size (3 MiB bodies, 1 MiB heads) and dear to answer, or asks for it again and again. They enter
themselves in `table.ATTACKS` when their modules are loaded; which modules there are is said here.
"""

from __future__ import annotations

from benchmarks.attacks import (
    by_amplification,
    by_backends,
    by_bodies,
    by_controllers,
    by_crowds,
    by_http,
    by_kinds,
    by_kubelets,
    by_multiplying,
    by_network,
    by_number,
    by_objects,
    by_owners,
    by_questions,
    by_rules,
    by_streams,
    by_wire,
    by_workloads,
)

__all__ = [
    "by_amplification",
    "by_backends",
    "by_bodies",
    "by_controllers",
    "by_crowds",
    "by_http",
    "by_kinds",
    "by_kubelets",
    "by_multiplying",
    "by_network",
    "by_number",
    "by_objects",
    "by_owners",
    "by_questions",
    "by_rules",
    "by_streams",
    "by_wire",
    "by_workloads",
]
