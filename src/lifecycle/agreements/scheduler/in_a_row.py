"""Many pods of a kind in a row, held against a real scheduler: until there is no room,
and until there is again; one in each zone, beside somebody, evenly spread, on nodes by
name.

What a scheduler remembers from one pod to the next of its kind saves it most of its
work, and is worth nothing if it is out of date. So pods come and go, nodes grow and
labels change in between. The nodes differ, and each pod would rather be on one than on
another: there are no ties. Compared are whole answers.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_control_plane import SCHEDULER, put_to_control_plane
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def in_a_row_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *in-a-row*."""
    return put_to_control_plane(
        recording, "in-a-row", "Pods in a row", _opening, tamper, beside=SCHEDULER
    )


def _opening(table: AgreementTable) -> str:
    looks = sum(row.input.startswith("GET") for row in table.computed)
    return (
        "Pods of one kind come one after the other, and somebody looks"
        f" {looks} times where they are, or what they wait for. Asked of a real"
        f" scheduler's cluster and of ours, {table.outcome('answers')}."
    )
