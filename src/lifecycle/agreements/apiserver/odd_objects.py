"""Objects that are not quite right, held against a real API server.

Pods, templates, Services, custom objects, expressions and roles with something wrong,
or nearly; what namespaces with a level let in; who may give away which rights; and what
objects with much to tell look like in a table. Most are only asked about, as a dry run.
The kubelet, the scheduler and the controllers have no part in it: here is what an API
server thinks of an object before anybody else sees it.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import put_to_bare_server, refusals
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def odd_objects_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *odd-objects*."""
    return put_to_bare_server(
        recording, "odd-objects", "Objects with something odd", _opening, tamper
    )


def _opening(table: AgreementTable) -> str:
    return (
        f"{len(table.computed)} objects with something odd, shown to a real API server"
        f" and to ours. The real one refused {refusals(table)}, and said why: which"
        f" field, which rule, in which order. Down to the words:"
        f" {table.outcome('answers')}."
    )
