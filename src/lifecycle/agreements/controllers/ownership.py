"""Who goes with whom, held against a real garbage collector.

Owners were deleted in the background, in the foreground and so that they leave orphans;
their dependents block, hold, or have a second owner; some owners never were, are
elsewhere, or are of another kind. A real API server and a real controller manager were
told so, and each object was looked at afterwards. Compared are whole answers: whether
it is still there, whose it is, and what it waits for.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_control_plane import CONTROLLERS, put_to_control_plane
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def ownership_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *ownership*."""
    return put_to_control_plane(
        recording,
        "ownership",
        "Who goes with whom",
        _opening,
        tamper,
        beside=CONTROLLERS,
    )


def _opening(table: AgreementTable) -> str:
    looks = [row for row in table.computed if row.input.startswith("GET")]
    gone = sum(row.cluster.startswith("404") for row in looks)
    return (
        "Objects own each other, and then some are deleted. Somebody looked"
        f" {len(looks)} times at what is left; {gone} times there was nothing any more."
        f" Asked of a real garbage collector's cluster and of ours,"
        f" {table.outcome('answers')}."
    )
