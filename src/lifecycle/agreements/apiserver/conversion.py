"""Versions held against a real API server: objects written in one version and read in
another.

Autoscalers and Events, which have two versions, kinds of one's own with two, and one
whose webhook does not answer; and the hashes by which discovery says in which version
a kind is stored.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import put_to_bare_server, refusals
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def conversion_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *versions*."""
    return put_to_bare_server(recording, "versions", "Conversion", _opening, tamper)


def _opening(table: AgreementTable) -> str:
    return (
        f"{len(table.computed)} times an object was written or read in one of its"
        " versions, on a real API server and on ours, and"
        f" {refusals(table)} times refused: {table.outcome('answers')}, field by field."
    )
