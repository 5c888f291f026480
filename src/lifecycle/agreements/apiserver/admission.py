"""Admission held against a recorded cluster: every object as it came out, and every
refusal, word for word.

Two scenarios. *admission* provokes each plugin in turn: namespaces with limits, quotas
and security levels, pods that break them, pods that are only completed. *corpus* posts
ninety manifests, whose answers show each object after defaulting and admission. Both
are put to a cluster of ours that started like the recorded one, its controllers
included: an account for a new namespace and the first count of a quota are theirs to
write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from lifecycle.agreements.asked_again import Tamper, asked_again
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording

SCENARIOS = ("admission", "corpus")


def admission_agreement(
    recording: Recording,
    *,
    without: Collection[str] = (),
    more: Collection[Plugin] = (),
    scenarios: Collection[str] = SCENARIOS,
) -> AgreementTable:
    """One row per request. `without` leaves plugins out by name, `more` adds others:
    how a reader's own plugin gets in.
    """
    tamper = chain_with(without, more)
    tables = [
        asked_again(recording, scenario, "Admission", tamper, _opening)
        for scenario in scenarios
    ]
    for table in tables[1:]:
        tables[0].extend(table)
    return tables[0]


def _opening(table: AgreementTable) -> str:
    refused = sum(row.cluster[:1] in ("4", "5") for row in table.computed)
    return (
        f"{len(table.computed)} requests that admission plugins change or refuse, sent"
        f" to a real API server and to ours; the real one refused {refused}:"
        f" {table.outcome('answers')}, down to the default that was added and the word"
        " that refuses."
    )


def chain_with(without: Collection[str], more: Collection[Plugin]) -> Tamper:
    """Changes a server's plugins. Raises ValueError for a name that no plugin has."""

    def tamper(server: GenericAPIServer) -> None:
        chain = server.config.admission
        unknown = set(without) - {plugin.name for plugin in chain.plugins}
        if unknown:
            raise ValueError(f"no such plugin: {', '.join(sorted(unknown))}")
        chain.use(
            [*(plugin for plugin in chain.plugins if plugin.name not in without), *more]
        )

    return tamper


def added(posted: Any, answered: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """What an answer has that was not posted: paths and values, deepest maps first.
    Lists are compared by position.
    """
    if isinstance(posted, dict) and isinstance(answered, dict):
        for key, value in answered.items():
            where = f"{path}.{key}" if path else key
            if key not in posted:
                yield where, value
            else:
                yield from added(posted[key], value, where)
    elif isinstance(posted, list) and isinstance(answered, list):
        for index, value in enumerate(answered):
            if index >= len(posted):
                yield f"{path}[{index}]", value
            else:
                yield from added(posted[index], value, f"{path}[{index}]")
    elif posted != answered:
        yield path, answered


def moment(recording: Recording, note: str) -> tuple[Object, Object]:
    """What was posted at a moment of the recorded scenario, and what came back."""
    exchange = next(
        exchange
        for exchange in recording.exchanges("admission")
        if exchange.moment == note
    )
    return exchange.body, exchange.response
