"""Authentication held against a recorded cluster: the same credentials, good and bad,
shown to ours.

The recording holds what an administrator, a service account and strangers were told:
who they are, that they may not, or that nobody knows them. Ours is asked the same
through the whole handler chain, and the answers are compared whole.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Protocol

from lifecycle.agreements.asked_again import MASTER, OURS, ask_again, asked_again, who
from lifecycle.api.http.wire import Request
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.normalise import Normaliser
from lifecycle.inspector import Exchange, Recording

SCENARIO = "authn"
ABOUT_ITSELF = "/version"
"""An answer that names its own version differs between versions, and is no decision."""


class Judged(Protocol):
    """Somebody who authenticates requests, as `Authenticator` does."""

    async def authenticate_request(self, request: Request) -> Identity:
        """Who sent the request. Raises AuthenticationError."""
        ...


def authentication_agreement(
    recording: Recording, instead: Callable[[Authenticator], Judged] | None = None
) -> AgreementTable:
    """One row per request. `instead(ours)` makes an authenticator that is judged in
    place of ours.
    """

    def tamper(server: GenericAPIServer) -> None:
        if instead is not None:
            ours = server.config.authenticator
            judged = instead(copy.copy(ours))
            setattr(ours, "authenticate_request", judged.authenticate_request)  # noqa: B010 - a method of this one instance

    return asked_again(recording, SCENARIO, "Authentication", tamper, _opening)


def _opening(table: AgreementTable) -> str:
    strangers = sum(row.cluster.startswith("401") for row in table.computed)
    return (
        f"{len(table.computed)} requests with good, bad and no credentials, shown to a"
        f" real API server and to ours; the real one did not know {strangers} of the"
        f" callers: {table.outcome('answers')}."
    )


def authentication_then_and_now(recording: Recording) -> AgreementTable:
    """The outcomes of an older cluster beside ours: status and message, and nothing of
    how an answer is laid out.
    """
    table = AgreementTable(
        "Authentication, then and now",
        OURS,
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(table.computed)} requests that an older API server was sent, put to"
            f" ours of today: {table.outcome('outcomes')}."
        ),
    )
    recorded = recording.exchanges(SCENARIO)
    normaliser = Normaliser().learn(*(exchange.response for exchange in recorded))
    for mine, theirs in zip(
        ask_again(recording, SCENARIO, admin=MASTER), recorded, strict=True
    ):
        if theirs.path == ABOUT_ITSELF:
            continue
        sides = [normaliser.normalise(outcome(exchange)) for exchange in (mine, theirs)]
        question = f"{who(theirs)}: {theirs.method} {theirs.path}".removeprefix(": ")
        stage = f"{SCENARIO}: {theirs.moment}" if theirs.moment else f"{SCENARIO}:"
        table.add(
            stage, question, str(mine.status), str(theirs.status), compare(*sides)
        )
    return table


def outcome(exchange: Exchange) -> dict[str, object]:
    """What a client gets to know first: the code, and the sentence that goes with a
    refusal.
    """
    message = (
        exchange.response.get("message")
        if isinstance(exchange.response, dict)
        else None
    )
    return {"code": exchange.status} | (
        {"message": message} if message and exchange.status >= 400 else {}
    )
