"""The audit log, written again: full agreement with the recorded one, and a chain in another order is found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lifecycle.agreements.apiserver.handler_chain import handler_chain_agreement, recorded_events
from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.apiserver.filters.audit import with_audit
from lifecycle.apiserver.filters.audit_init import with_audit_init
from lifecycle.apiserver.filters.authentication import with_authentication
from lifecycle.apiserver.filters.authorization import with_authorization
from lifecycle.apiserver.filters.request_info import with_request_info
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from lifecycle.inspector import open_recording


def test_every_recorded_event_is_written_again() -> None:
    recording = open_recording()
    table = handler_chain_agreement(recording)
    assert table.equal, table.unexplained[:3]
    assert len(table.rows) == len(recorded_events(recording)) == 1749


def audit_inside_authorization(handler: Handler, config: ChainConfig) -> Handler:
    """Refusals are not audited."""
    handler = with_authorization(with_audit(handler, config.audit), config.authorizer)
    handler = with_authentication(handler, config.authenticator)
    return with_audit_init(with_request_info(handler, config.request_info), config.names)


def forgets_the_id(handler: Handler, config: ChainConfig) -> Handler:
    """An audit id of its own for each request."""
    inner = default_build_handler_chain(handler, config)

    async def forget(request: Request) -> Response:
        request.headers.pop("audit-id", None)
        return await inner(request)

    return forget


@pytest.mark.parametrize("wrong", [audit_inside_authorization, forgets_the_id])
def test_a_wrong_chain_turns_rows_red(wrong: Callable[[Handler, ChainConfig], Handler]) -> None:
    table = handler_chain_agreement(open_recording(), wrong)
    assert len(table.unexplained) > 500
