"""YAML that clients send: read as the real server reads it, and a large body beside the
event loop.

Upstream: `apimachinery/pkg/runtime/serializer/json/json.go` (`Decode`), v1.36. How YAML
is read at all is in `api/yaml_reader.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any

from lifecycle.api.wire import Handler, Request, Response
from lifecycle.api.yaml_reader import read_yaml

LARGE = 64 << 10
"""Bytes of YAML that are read beside the event loop: 400 kB take half a second, and
nobody else is to wait for them.
"""

_ahead: ContextVar[tuple[bytes, tuple[Any, list[str]] | ValueError] | None] = (
    ContextVar("read ahead", default=None)
)


def from_yaml(text: bytes) -> tuple[Any, list[str]]:
    """The first document as JSON values, and what is wrong with it that a lenient
    reader would not notice (keys given twice).

    Raises ValueError for a text that is not YAML, or cannot be said in JSON.
    """
    ahead = _ahead.get()
    if ahead is not None and ahead[0] is text:
        if isinstance(ahead[1], ValueError):
            raise ahead[1]
        return ahead[1]
    return read_yaml(text)


def reading_ahead(serve: Handler) -> Handler:
    """A handler whose large YAML bodies have been read, in a thread, before anybody
    asks for them.
    """

    async def after_reading(request: Request) -> Response:
        try:
            read: Any = await asyncio.to_thread(from_yaml, request.body)
        except ValueError as error:
            read = error
        token = _ahead.set((request.body, read))
        try:
            return await serve(request)
        finally:
            _ahead.reset(token)

    def handler(request: Request) -> Awaitable[Response]:
        if len(request.body) > LARGE and "yaml" in request.headers.get(
            "content-type", ""
        ):
            return after_reading(request)
        return serve(request)

    return handler
