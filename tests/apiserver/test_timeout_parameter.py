"""How long a request may take is what its sender says, who may say it at length."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lifecycle.api.wire import Request, Response
from lifecycle.api.worker import LARGE
from lifecycle.apiserver.filters import timeout


@pytest.mark.parametrize(
    ("text", "status", "where"),
    [
        ("1h", 200, "MainThread"),
        ("1h" * LARGE, 200, "worker"),
        ("x", 400, "MainThread"),
        ("1h" * LARGE + "x", 400, "worker"),
    ],
)
def test_a_long_timeout_is_read_beside_the_loop(
    text: str, status: int, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, parse = [], timeout.parse_duration

    def noted(text: str) -> float:
        read.append(threading.current_thread().name.partition("_")[0])
        return parse(text)

    async def answer(request: Request) -> Response:
        return Response(200)

    monkeypatch.setattr(timeout, "parse_duration", noted)
    request = Request("GET", "/version", query={"timeout": [text]})
    assert asyncio.run(timeout.with_timeout(answer, 60)(request)).status == status  # type: ignore[arg-type]
    assert read == [where]
