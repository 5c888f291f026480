"""Reading a container's log as `kubectl logs` wants it: the last lines, since when,
with times, and on.

The file has a line for each piece that the program wrote, with the time and the stream.
Reading it back is: find where to begin, drop what is too old, put pieces of one line
together again, and stop after so many bytes. To *follow* is to wait at the end until
the file has grown, or until the container has ended and there will be no more.

Upstream: `cri-client/pkg/logs/logs.go` (`ReadLogs`, `NewLogOptions`, `parseCRILog`),
`logs/tail.go` (`findTailLineStartIndex`), v1.36. Left out: the JSON lines of
dockershim's days.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import parse_time
from lifecycle.cri.log_format import LogEntry, parse_entries, rfc3339_nano

BLOCK_SIZE = 64 * 1024
"""Bytes that are read at once, some milliseconds of work. Upstream: 1024, with
goroutines beside it.
"""

ALL_STREAMS, STREAMS = "All", ("Stdout", "Stderr")


@dataclass(slots=True, frozen=True)
class LogOptions:
    """What is wanted. `since`: nanoseconds since 1970, 0 for all. `tail`, `limit`: None
    for all.
    """

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since: int = 0
    tail: int | None = None
    limit: int | None = None
    stream: str = ALL_STREAMS


class InvalidLogOptions(Exception):
    """Numbers that are none of lines, bytes or seconds. Upstream:
    `ValidatePodLogOptions`.
    """


def log_options(request: Request, now: float) -> LogOptions:
    """From the query; `now` in seconds. Raises ValueError for what is not a number or a
    time, InvalidLogOptions.
    """

    def flag(name: str) -> bool:
        return bool(bool_parameter(request.query, name))

    def number(name: str) -> int | None:
        text = request.param(name)
        return int(text) if text else None

    since, seconds, moment = 0, number("sinceSeconds"), request.param("sinceTime")
    if moment:
        since = int(parse_time(moment) * 1_000_000_000)
    tail, limit = number("tailLines"), number("limitBytes")
    if request.param("tail"):  # as the parameter was called once
        tail = None if request.param("tail") == "all" else number("tail")
    stream = request.query.get("stream", [ALL_STREAMS])[0]
    if (
        (seconds is not None and (seconds < 1 or moment))
        or (tail is not None and (tail < 0 or stream in STREAMS))
        or (limit is not None and limit < 1)
        or stream not in (ALL_STREAMS, *STREAMS)
    ):
        raise InvalidLogOptions
    if seconds is not None:
        since = int((now - seconds) * 1_000_000_000)
    return LogOptions(
        flag("follow"), flag("previous"), flag("timestamps"), since, tail, limit, stream
    )


class LogFile(Protocol):
    """A log file that grows."""

    def read(self, offset: int = 0, size: int = -1) -> bytes:
        """From there, at most `size` bytes; -1: to the end. Raises
        FileNotFoundError.
        """
        ...

    def size(self) -> int:
        """Bytes. Raises FileNotFoundError."""
        ...

    async def grown(self, size: int) -> None:
        """Return when the file is longer than that, or may be."""
        ...


def tail_start(data: bytes, lines: int) -> int:
    """Where the last `lines` lines begin; 0 if there are no more. A last line without
    its end does not count.
    """
    position = len(data)
    for _ in range(lines + 1):
        position = data.rfind(b"\n", 0, position)
        if position < 0:
            return 0
    return position + 1


async def find_tail_line_start_index(file: LogFile, lines: int | None) -> int:
    """Where the last `lines` lines of a file begin, looked for from its end. Upstream:
    `findTailLineStartIndex`.
    """
    right = file.size() if lines is not None else 0
    while right > 0:
        assert lines is not None
        left = max(right - BLOCK_SIZE, 0)
        block = file.read(left, right - left)
        ends = block.count(b"\n")
        if ends > lines:
            return left + tail_start(block, lines)
        lines -= ends
        right = left
        await asyncio.sleep(0)
    return 0


def format_entry(
    entry: LogEntry, options: LogOptions, at_line_start: bool = True
) -> bytes:
    """What a reader sees of an entry. Only the first piece of a line gets a time."""
    text = entry.text + (b"\n" if entry.complete else b"")
    return (
        rfc3339_nano(entry.time).encode() + b" " + text
        if options.timestamps and at_line_start
        else text
    )


async def read_logs(
    file: LogFile,
    options: LogOptions,
    still_running: Callable[[], bool],
    ended: asyncio.Event | None = None,
) -> AsyncIterator[bytes]:
    """The log, block by block. `ended` is set when the container ends: a follower then
    reads what is left and is done.
    """
    offset = await find_tail_line_start_index(file, options.tail)
    size = BLOCK_SIZE
    left = options.limit
    line_start = {"stdout": True, "stderr": True}
    while True:
        if offset > file.size():
            offset = 0  # rotated: the file begins anew
        block = file.read(offset, size)
        complete = block[: block.rfind(b"\n") + 1]
        if len(block) == size and not complete:
            size *= 2  # a line longer than that
            continue
        size = BLOCK_SIZE
        offset += len(complete)
        pieces = bytearray()
        for entry in parse_entries(complete):
            if entry.time < options.since:
                continue
            pieces += format_entry(entry, options, line_start[entry.stream])
            line_start[entry.stream] = entry.complete
            if left is not None and len(pieces) >= left:
                break
        if left is not None:
            del pieces[left:]
            left -= len(pieces)
        if pieces:
            yield bytes(pieces)
        if left == 0:
            return
        if complete:
            await asyncio.sleep(0)  # a log may be long: others have their turn
        elif not options.follow or not still_running():
            return
        else:
            await _wait(file, offset, ended)


async def _wait(file: LogFile, size: int, ended: asyncio.Event | None) -> None:
    """Until there is more, or will be no more."""
    waiting = [asyncio.ensure_future(file.grown(size))]
    if ended is not None:
        waiting.append(asyncio.ensure_future(_set(ended)))
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _set(event: asyncio.Event) -> None:
    await event.wait()
