"""The small print of the API server, held against a real one: what most requests never
meet.

Updates of what is not there, or not the same any more; fields that two appliers want;
addresses that are taken; a Binding too many; tokens that end with what they are bound
to; quotas that say no; events in both their forms.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import put_to_bare_server, refusals
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def small_print_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *small-print*."""
    return put_to_bare_server(
        recording, "small-print", "The small print", _opening, tamper
    )


def _opening(table: AgreementTable) -> str:
    return (
        f"{len(table.computed)} requests about rules that most requests never touch,"
        f" sent to a real API server and to ours. The real one refused"
        f" {refusals(table)}. Down to the words: {table.outcome('answers')}."
    )
