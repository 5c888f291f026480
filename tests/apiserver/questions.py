"""What all scenes need that are put to a real server and, when its answers are kept, to ours: to ask, to wait, and to keep."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from tests.differential.answers import settled
from tests.differential.player import Target
from tests.differential.servers import ask_real_server

MERGE = {"Content-Type": "application/merge-patch+json"}
HEADERS = {"Content-Type": "application/json", "User-Agent": "differential"}


class Asker:
    """Asks a server in JSON."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def __call__(self, method: str, path: str, document: Any = None) -> Any:
        """The answer, without what differs from one run to the next. A patch is a merge patch."""
        body = b"" if document is None else json.dumps(document).encode()
        headers = HEADERS | (MERGE if method == "PATCH" else {})
        return settled(*await self._target.request(method, path, headers, body), body.decode())


async def in_turn(target: Target, asked: Iterable[tuple[str, str, Any]]) -> list[Any]:
    """The answers to requests (a method, a path, a document), one after the other."""
    ask = Asker(target)
    return [await ask(*one) for one in asked]


async def until(heard_of: Callable[[], Awaitable[bool]]) -> None:
    """Until something has been heard of: a real server's informers take a moment."""
    for _ in range(600):
        if await heard_of():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it is not heard of")


def keep(path: Path, answers: Callable[[Target], Awaitable[list[Any]]]) -> None:
    """Asks a real server, and writes down what it says."""
    path.write_text("[\n" + ",\n".join(map(json.dumps, ask_real_server(answers))) + "\n]\n")
