"""Server-side apply of lists, sets and maps by several managers, held against a real
API server.

A list may be known by a key, by two, by one that has a default; or be a set, or one
value. What two appliers share, what one gives up, what is a conflict and in which
words, and who owns what afterwards: all of it follows from the schema. Compared are
whole answers, the bookkeeping among them.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import put_to_bare_server
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def keyed_list_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *keyed-lists*."""
    return put_to_bare_server(
        recording, "keyed-lists", "Lists that several apply", _opening, tamper
    )


def _opening(table: AgreementTable) -> str:
    conflicts = sum(row.cluster.startswith("409") for row in table.computed)
    return (
        f"{len(table.computed)} requests to objects that several managers apply parts"
        f" of; {conflicts} of them are conflicts. Which items there are then, in which"
        f" order, and whose they are: {table.outcome('answers')}."
    )
