"""Being put off, held against a real kubectl: a server says 429 or 5xx, with and
without `Retry-After`, or hangs up; how often is it asked, and how far apart?

The real one typed `kubectl version` at a server that answers by a script. Ours sends
one request through its own throttle to the same script, on virtual time.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers, newest_programs
from lifecycle.inspector.opening import recordings_directory
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.request.throttling import RetryTransport, TokenBucket

QPS, BURST = 50.0, 300
"""Of a kubectl, if nobody says otherwise."""
BROKEN = {
    0: ("EOF", "eof"),
    -1: ("read: connection reset by peer", "eof"),
    -2: ('malformed HTTP status code "morning"', "malformed"),
}
"""A server that hangs up, resets the connection, or talks nonsense: what our transport
says of it, and of which kind that is.
"""


class _Scripted:
    """Answers one after the other, and when each was asked for."""

    def __init__(self, script: list[tuple[int, str]]) -> None:
        self._script = list(script)
        self.times: list[float] = []

    async def round_trip(self, request: Request) -> Response:
        """Raises ConnectionFailed where the script has no answer."""
        self.times.append(asyncio.get_running_loop().time())
        code, after = self._script.pop(0)
        if code in BROKEN:
            raise ConnectionFailed(*BROKEN[code], "127.0.0.1:1")
        return Response(code, {"retry-after": after} if after else {}, obj={})

    async def close(self) -> None:
        """See `Transport`."""


async def _asked(method: str, script: list[tuple[int, str]]) -> Object:
    inner = _Scripted(script)
    transport: Any = RetryTransport(inner, TokenBucket(QPS, BURST))
    request = Request(method, "/version", {}, {}, b"")
    try:
        succeeded = (await transport.round_trip(request)).status < 400
    except ConnectionFailed:
        succeeded = False
    pauses = [b - a for a, b in zip(inner.times, inner.times[1:], strict=False)]
    return {
        "requests": len(inner.times),
        "pauses": [int(pause + 0.2) for pause in pauses],
        "succeeded": succeeded,
    }


def retries_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each script. `programs`: what the real one did; None: as recorded."""
    if programs is None:
        programs = newest_programs(recordings_directory())
    asked = [e for name, e in programs.answers.items() if name.startswith("retries/")]
    table = AgreementTable(
        "Being put off",
        "lifecycle",
        f"{asked[0].program}, asked directly",
        lambda table: (
            f"{len(asked)} servers that put a kubectl off, each in its own way: how"
            " often the real one asks again and ours does, after how many seconds,"
            f" and what comes of it: {table.outcome('rows')}."
        ),
    )
    for each in asked:
        case = each.answer
        ours = on_virtual_time(_asked(case.get("method", "GET"), case["script"]))
        theirs = {key: each.answer[key] for key in ours}
        here, there = (f"{side['requests']} requests" for side in (ours, theirs))
        what = each.question.partition("/")[2]
        table.add("retries", what, here, there, compare(ours, theirs))
    return table
