"""Resizing at the door, held against a real API server: what may be changed of a pod
that is there.

Pods of every quality of service, with sidecars and init containers, for a node that
tells what a container has and for one that does not.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import put_to_bare_server, refusals
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def resize_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *resize*."""
    return put_to_bare_server(recording, "resize", "Resize", _opening, tamper)


def _opening(table: AgreementTable) -> str:
    return (
        f"{len(table.computed)} requests about pods and their resources, sent to a real"
        f" API server and to ours; the real one refused {refusals(table)}:"
        f" {table.outcome('answers')}, words included."
    )
