"""Priority and fairness held against a real API server: which flow schema each of some
forty requests belongs to.

The answer says it itself, in a header: the uid of the schema. Users are played by
impersonation, which is done before a request is classified. To the schemas that every
server makes for itself come five of the scenario's own, with rules of every sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_server import on_bare_server
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Exchange, Recording
from lifecycle.inspector.runner import run_scenario
from lifecycle.inspector.scenario import load_scenario

SCENARIO = "flow-control"
HEADER = "x-kubernetes-pf-flowschema-uid"


def flow_control_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario."""
    theirs = recording.exchanges(SCENARIO)
    ours = on_bare_server(
        lambda target: run_scenario(target, load_scenario(SCENARIO)), tamper
    )
    table = AgreementTable(
        "Priority and fairness",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(theirs)} requests of users, controllers and nodes, sent to a real"
            " API server and to ours, and each answer says by which flow schema it was"
            f" let in: {table.outcome('answers')}."
        ),
    )
    named = [_named(side) for side in (ours, theirs)]
    for exchange, *answers in zip(theirs, *named, strict=True):
        who = exchange.moment or "an administrator"
        table.add(
            who,
            f"{exchange.method} {exchange.path.partition('?')[0]}",
            answers[0]["schema"],
            answers[1]["schema"],
            compare(*answers),
        )
    return table


def _named(exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    """Of each answer its code, and the name of the schema that it points to."""
    schemas = {
        item["metadata"]["uid"]: item["metadata"]["name"]
        for exchange in exchanges
        if exchange.method == "GET" and exchange.path.endswith("/flowschemas")
        for item in exchange.response["items"]
    }
    return [
        {
            "code": exchange.status,
            "schema": schemas.get(exchange.headers.get(HEADER, ""), "none"),
        }
        for exchange in exchanges
    ]
