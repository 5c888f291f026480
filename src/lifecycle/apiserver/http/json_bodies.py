"""JSON in request bodies: `orjson` reads what is good, `lifecycle.api.go_json` what is
not.

To say what is wrong with a large body takes ten times as long as reading it, so that
happens beside the event loop, before anybody asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go_json.decode import unmarshal
from lifecycle.api.go_json.scanner import syntax_error_message
from lifecycle.api.wire import Handler, Request, Response

LARGE = 64 << 10
"""Bytes of a text that is complained of beside the event loop."""

_ahead: ContextVar[tuple[bytes, Any] | None] = ContextVar(
    "JSON read ahead", default=None
)


def read_json(body: bytes) -> Any:
    """The text as data. Raises ValueError with Go's complaint."""
    ahead = _ahead.get()
    if ahead is not None and ahead[0] is body:
        if isinstance(ahead[1], ValueError):
            raise ahead[1]
        _ahead.set(None)  # whoever reads may change what was read
        return ahead[1]
    try:
        return fast_json.loads(body)
    except fast_json.JSONDecodeError:
        if complaint := syntax_error_message(body):
            raise ValueError(complaint) from None
        return unmarshal(body)  # JSON to Go, if not to a stricter reader


def reading_json_ahead(serve: Handler) -> Handler:
    """A handler whose large JSON bodies have been read before anybody asks, in a thread
    if something is wrong with them.
    """

    async def after_reading(request: Request) -> Response:
        body: Any
        try:
            body = fast_json.loads(request.body)
        except fast_json.JSONDecodeError:
            try:
                body = await asyncio.to_thread(read_json, request.body)
            except ValueError as error:
                body = error
        token = _ahead.set((request.body, body))
        try:
            return await serve(request)
        finally:
            _ahead.reset(token)

    def handler(request: Request) -> Awaitable[Response]:
        if len(request.body) > LARGE and "json" in request.headers.get(
            "content-type", "json"
        ):
            return after_reading(request)
        return serve(request)

    return handler
