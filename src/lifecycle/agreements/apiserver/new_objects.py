"""What a server makes of an object before it is one, held against a real API server.

Which fields a client may not set, of kinds that count generations and of those that do
not; which kinds and versions are taken for which; what is filled in; what a pod takes
over from its node; who may write without having looked; and whose an address is.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import put_to_bare_server, refusals
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def new_object_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *new-objects*."""
    return put_to_bare_server(recording, "new-objects", "New objects", _opening, tamper)


def _opening(table: AgreementTable) -> str:
    return (
        f"{len(table.computed)} requests, most of them for new objects that say too"
        " much, too little or something odd, sent to a real API server and to ours; the"
        f" real one refused {refusals(table)}: {table.outcome('answers')}."
    )
