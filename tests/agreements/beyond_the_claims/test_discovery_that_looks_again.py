"""A resource that is not in the kept discovery is looked for once more."""

from __future__ import annotations

import io
from contextlib import suppress

from lifecycle.agreements.claim_checks.discovery import cached, filled_home
from lifecycle.agreements.remembering_server import RememberingServer, now
from lifecycle.client.rest import Client
from lifecycle.kubectl.failures import NoMatchError
from lifecycle.kubectl.session import Session


def _looked_for_again() -> list[int]:
    """How many requests discovery has cost after a command has asked for what was kept,
    for what is only there since then, and for that once more.
    """
    with filled_home() as (home, _):
        server = RememberingServer()
        session = Session(
            Client(server, "kubectl"),
            io.StringIO(),
            io.StringIO(),
            discovery=cached(server, home),
        )
        asked = []
        for name in ("deployments", "roles", "roles"):
            with suppress(NoMatchError):
                [target] = now(session.targets([f"{name}/x"]))
                assert target.resource.plural == name
                asked.append(len(server.discovered))
        return asked


def test_what_is_not_kept_is_looked_for_once() -> None:
    assert _looked_for_again() == [0, 2, 2]
