"""The smaller control loops, held against a real controller manager: budgets for
disruptions, volumes and claims, roles that are the sum of others, pods that find an
owner or lose one, events that are told again and again, addresses of two families.

A real API server and a real controller manager were told step by step what there is,
and what came of it was looked at a little later. Ours are told the same, at the same
pace, on virtual time. Compared are whole answers.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_control_plane import CONTROLLERS, put_to_control_plane
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def small_loops_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *small-loops*."""
    return put_to_control_plane(
        recording,
        "small-loops",
        "Smaller control loops",
        _opening,
        tamper,
        beside=CONTROLLERS,
    )


def _opening(table: AgreementTable) -> str:
    looks = sum(row.input.startswith("GET") for row in table.computed)
    return (
        "Budgets, volumes, roles and owners are made and changed, and somebody looks"
        f" {looks} times at what the smaller control loops have made of it. Asked of a"
        f" real controller manager's cluster and of ours, {table.outcome('answers')}."
    )
