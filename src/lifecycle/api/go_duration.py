"""Spans of time as Go reads and writes them: `1m30s`.

Upstream: Go's `time.ParseDuration` and `time.Duration.String`.
"""

from __future__ import annotations

import re

from lifecycle.api.go_format import go_quote

UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
LONGEST = 2**63 / 1e9
"""Seconds, of which there are too many for Go's nanoseconds: 292 years."""
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([^.0-9]*)")


def parse_duration(text: str) -> float:
    """Seconds of `1h30m`, `1.5s`, `-200ms`. Raises ValueError in Go's words."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    seconds, parts = 0.0, _PART.findall(rest)
    if not rest or "".join(number + unit for number, unit in parts) != rest:
        raise ValueError(f"time: invalid duration {go_quote(text)}")
    for number, unit in parts:
        if not unit:
            raise ValueError(f"time: missing unit in duration {go_quote(text)}")
        if unit not in UNITS:
            raise ValueError(
                f"time: unknown unit {go_quote(unit)} in duration {go_quote(text)}"
            )
        seconds += float(number) * UNITS[unit]
    if seconds >= LONGEST:
        raise ValueError(f"time: invalid duration {go_quote(text)}")
    return -seconds if text.startswith("-") else seconds


def go_duration(seconds: float) -> str:
    """Go's way to write it: `612.5ms`, `1.25s`, `2m0.5s`, `1h0m0s`."""
    if seconds < 0:
        return "-" + go_duration(-seconds)
    nanoseconds = round(seconds * 1e9)
    if nanoseconds < 1e9:
        for size, unit in ((1_000_000, "ms"), (1_000, "µs"), (1, "ns")):
            if nanoseconds >= size:
                return f"{_plain(nanoseconds / size)}{unit}"
        return "0s"
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_plain(rest / 1e9)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


def _plain(number: float) -> str:
    return f"{number:.9f}".rstrip("0").rstrip(".")
