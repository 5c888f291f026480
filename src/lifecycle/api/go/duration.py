"""Spans of time as Go reads and writes them: `1m30s`.

Upstream: Go's `time.ParseDuration` and `time.Duration.String`.
"""

from __future__ import annotations

import re

from lifecycle.api.go.format import go_quote

UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST = 2**63
"""Nanoseconds, which Go's 64 bits only hold of what has a minus: 292 years."""
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([^.0-9]*)")


def parse_duration(text: str) -> float:
    """Seconds of `1h30m`, `1.5s`, `-200ms`. Raises ValueError in Go's words."""
    return parse_nanoseconds(text) / 1e9


def parse_nanoseconds(text: str) -> int:
    """The same, exactly. Raises ValueError."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    total, parts = 0, _PART.findall(rest)
    if not rest or "".join(number + unit for number, unit in parts) != rest:
        raise ValueError(f"time: invalid duration {go_quote(text)}")
    for number, unit in parts:
        if not unit:
            raise ValueError(f"time: missing unit in duration {go_quote(text)}")
        if unit not in UNITS:
            raise ValueError(
                f"time: unknown unit {go_quote(unit)} in duration {go_quote(text)}"
            )
        total += _nanoseconds(number, UNITS[unit])
    negative = text.startswith("-")
    if total > _LONGEST - (not negative):
        raise ValueError(f"time: invalid duration {go_quote(text)}")
    return -total if negative else total


def _nanoseconds(number: str, unit: int) -> int:
    """What is less than one is cut off. Of many digits the first say it is too long."""
    whole, _, fraction = number.partition(".")
    digits, fraction = whole.lstrip("0")[:20], fraction[:18]
    part = float(int(fraction or 0)) * (unit / float(10 ** len(fraction)))
    return int(digits or 0) * unit + int(part)


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
