"""Timeout: nobody waits for an answer for ever.

Every request that is not a watch or a stream has a deadline: the server's own (60 s), or a shorter or longer one that the client names
with `?timeout=`, never more than the server's. When it passes, the work is cancelled and the client gets a 504.

Upstream: `apiserver/pkg/server/filters/timeout.go` (`WithTimeoutForNonLongRunningRequests`) and
`endpoints/filters/request_deadline.go` (`WithRequestDeadline`), v1.36.
"""

from __future__ import annotations

import asyncio
import re

from lifecycle.api.status import bad_request, failure
from lifecycle.api.wire import Handler, Request, Response
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.filters.request_info import is_long_running

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)")
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_PART.pattern})+)")


def parse_duration(text: str) -> float:
    """Seconds of a Go duration such as `1m30s`. Raises ValueError with Go's own message."""
    if not text or not _DURATION.fullmatch(text):
        missing_unit = re.fullmatch(r"[+-]?\d+\.?\d*", text)
        what = "missing unit in duration" if missing_unit else "invalid duration"
        raise ValueError(f'time: {what} "{text}"')
    seconds = sum(float(number) * UNITS[unit] for number, unit in _PART.findall(text))
    return -seconds if text.startswith("-") else seconds


def with_timeout(handler: Handler, request_timeout: float) -> Handler:
    """Give every request that should end soon `request_timeout` seconds at most."""

    async def timeout(request: Request) -> Response:
        info = request.info
        if info is not None and is_long_running(info):
            return await handler(request)
        seconds = request_timeout
        if "timeout" in request.query:
            try:
                asked = parse_duration(request.query["timeout"][0])
            except ValueError as error:
                return refuse(bad_request(f"invalid timeout specified in the request URL - {error}"))
            if asked > 0:
                seconds = min(asked, request_timeout)
        try:
            async with asyncio.timeout(seconds):
                return await handler(request)
        except TimeoutError:
            message = "Timeout: request did not complete within the allotted timeout"
            return refuse(failure(504, "Timeout", message, {}))

    return timeout
