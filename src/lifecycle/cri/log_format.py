"""The lines of a container's log file, as CRI fixes them: `TIME STREAM TAG TEXT`.

The time is RFC 3339 with nanoseconds, the stream `stdout` or `stderr`, the tag `F` for
a line that is complete and `P` for a piece of one that goes on in the next entry of the
same stream (long lines are cut, and what a program writes without a line break is not
held back for ever). The kubelet reads these files; the runtime writes them.

Upstream: `kubernetes/design-proposals/node/kubelet-cri-logging.md`,
`cri-api/pkg/apis/runtime/v1/constants.go` (`LogTag…`), containerd
`internal/cri/io/logger.go` (`redirectLogs`, lines are cut at 16 KiB).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import gmtime, strftime

MAX_LINE = 16 * 1024
"""Bytes of text in one entry. Upstream: containerd's `max_container_log_line_size`."""


@dataclass(slots=True, frozen=True)
class LogEntry:
    """One line of a file. `time` in nanoseconds; `complete` is tag F; `text` without
    the line break.
    """

    time: int
    stream: str
    complete: bool
    text: bytes


def rfc3339_nano(nanoseconds: int) -> str:
    """Nine digits after the point always: the files line up."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{rest:09d}Z"


def format_entry(time: int, stream: str, complete: bool, text: bytes) -> bytes:
    """One line of the file, with its line break."""
    return (
        f"{rfc3339_nano(time)} {stream} {'F' if complete else 'P'} ".encode()
        + text
        + b"\n"
    )


def split_output(
    data: bytes, limit: int = MAX_LINE
) -> tuple[list[tuple[bool, bytes]], bytes]:
    """Cut what a program wrote into (complete, text) pieces; and what is left, shorter
    than a line.
    """
    *lines, rest = data.split(b"\n")
    pieces: list[tuple[bool, bytes]] = []
    for line in lines:
        while len(line) > limit:
            pieces.append((False, line[:limit]))
            line = line[limit:]
        pieces.append((True, line))
    while len(rest) > limit:
        pieces.append((False, rest[:limit]))
        rest = rest[limit:]
    return pieces, rest


def parse_entries(data: bytes) -> Iterator[LogEntry]:
    """Entries of a file. Raises ValueError on a line of another shape; a last line
    without its end is left alone.
    """
    for line in data.split(b"\n")[:-1]:
        when, stream, tags, text = line.split(b" ", 3)
        if stream not in (b"stdout", b"stderr"):
            raise ValueError(
                f"unexpected stream type {stream.decode(errors='replace')!r}"
            )
        date, _, fraction = when.decode().rstrip("Z").partition(".")
        seconds = int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())
        time = seconds * 1_000_000_000 + int(fraction.ljust(9, "0") or 0)
        yield LogEntry(time, stream.decode(), tags.split(b":")[0] == b"F", text)
