"""Which recorded answers a cluster that was started like the recorded one has been
given, so that giving them back is no evidence.

A *planted* object came with uid and revision from the recording that is compared: as
long as both are the recorded ones, nobody has worked it out. And what a server serves
and how its objects look, ours says with the *published* documents of its version, which
are the recorded ones.

Reading a planted object through a table, a selector or a page is work, and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.cluster import like
from lifecycle.cluster.past_events import past_events
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Exchange, Recording

PLANTED = "these objects were planted as they had been recorded, uids and all"
PAST = "these events of the cluster's start were planted as this answer tells of them"
PUBLISHED = "the server answers from the published documents of its version"
DISCOVERY = (
    "APIGroup",
    "APIGroupList",
    "APIGroupDiscoveryList",
    "APIResourceList",
    "APIVersions",
)
OPENAPI = "/openapi/"


def mark_given(
    table: AgreementTable, recording: Recording, exchanges: Iterable[Exchange]
) -> None:
    """Mark the rows whose recorded answers our side was given. A question that was
    asked several times is given if each of its answers was.
    """
    exchanges = list(exchanges)
    planted = _planted(recording)
    past = {_identity(event) for _, event in past_events(exchanges)}
    reasons: dict[str, set[str]] = {}
    for exchange in exchanges:
        question = f"{exchange.method} {exchange.path}"
        reasons.setdefault(question, set()).add(_reason(exchange, planted, past))
    for row in table.rows:
        of_row = reasons.get(row.input, set())
        if len(of_row) == 1:
            row.given = next(iter(of_row))


def _planted(recording: Recording) -> set[tuple[str, str]]:
    """Uid and revision of every planted object."""
    return {_identity(obj) for _, obj in like.read(recording.path).objects}


def _reason(
    exchange: Exchange, planted: set[tuple[str, str]], past: set[tuple[str, str]]
) -> str:
    answer = exchange.response
    if exchange.method != "GET" or exchange.status != 200:
        return ""
    if exchange.path.startswith(OPENAPI):
        return PUBLISHED
    if not isinstance(answer, dict):
        return ""
    if answer.get("kind") in DISCOVERY:
        return PUBLISHED
    rows = [row["object"] for row in answer.get("rows") or ()]
    if rows and all(_identity(obj) in past for obj in rows):
        return PAST
    objects = list(_objects(answer)) if "?" not in exchange.path else []
    if objects and all(_identity(obj) in planted for obj in objects):
        return PLANTED
    return ""


def _objects(answer: Object) -> Iterator[Any]:
    if "items" in answer:
        yield from answer["items"]
    elif answer.get("kind") != "Table" and "metadata" in answer:
        yield answer


def _identity(obj: Any) -> tuple[str, str]:
    metadata = obj.get("metadata") or {}
    return metadata.get("uid", ""), metadata.get("resourceVersion", "")
