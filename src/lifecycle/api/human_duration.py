"""How long ago, for people: `5m18s`, `3h`, `2y14d`; two or three digits that matter.

Upstream: `apimachinery/pkg/util/duration/duration.go` (`HumanDuration`),
`pkg/printers/internalversion/printers.go` (`translateTimestampSince`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time

_MINUTE, _HOUR = 60, 3600
_YEAR = 365 * 24


def human_duration(seconds: float) -> str:
    """A span of time with falling precision. Up to two seconds into the future count as
    now, more is `<invalid>`.
    """
    whole = int(seconds)  # towards zero, as Go converts
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    minutes, hours = whole // _MINUTE, whole // _HOUR
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 3 * 60:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 8 * 24:
        return _two(hours // 24, "d", hours % 24, "h")
    if hours < 2 * _YEAR:
        return f"{hours // 24}d"
    if hours < 8 * _YEAR:
        return _two(hours // _YEAR, "y", hours // 24 % 365, "d")
    return f"{hours // _YEAR}y"


def _two(big: int, unit: str, small: int, small_unit: str) -> str:
    return f"{big}{unit}{small}{small_unit}" if small else f"{big}{unit}"


def since(timestamp: str | None, now: float) -> str:
    """The time passed since a timestamp; `<unknown>` without one. Upstream:
    `translateTimestampSince`.
    """
    return human_duration(now - parse_time(timestamp)) if timestamp else "<unknown>"


def age(obj: Object, now: float) -> str:
    """The Age column: time since creation."""
    return since(obj["metadata"].get("creationTimestamp"), now)
