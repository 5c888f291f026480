"""Leaves with a mind of their own: quantities, times, durations, bytes.

Their Go types decode and print themselves, so the server changes what it was given:
`cpu: "1000m"` comes back as `"1"`, a time with an offset as UTC. Each function takes
the JSON value and returns the canonical one, or raises ValueError with Go's words.

Upstream: `apimachinery/pkg/api/resource/quantity.go`,
`apimachinery/pkg/apis/meta/v1/{time,micro_time,duration}.go`, Go's `encoding/base64`
and `time.Parse`, v1.36.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.go.duration import go_duration, parse_duration
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.loop.clock import rfc3339

QUANTITY_FORMAT = (
    "quantities must match the regular expression"
    " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)"
)


@short_lru_cache(4096)
def _canonical_quantity(text: str) -> str:
    from lifecycle.api.quantity import parse_quantity

    return str(parse_quantity(text))


def quantity(value: Any) -> str:
    """A quantity in canonical form; a bare number is taken as its text."""
    if type(value) is not str:
        if type(value) in (int, float):
            value = repr(value)
        else:
            raise ValueError(QUANTITY_FORMAT)
    return _canonical_quantity(value.strip())


def time(value: Any) -> str | None:
    """`metav1.Time`: UTC, whole seconds."""
    if type(value) is not str:
        raise ValueError(wrong_type(value, "string"))
    return _canonical_time(value)


def micro_time(value: Any) -> str | None:
    """`metav1.MicroTime`: UTC, microseconds; all six digits must be there."""
    if type(value) is not str:
        raise ValueError(wrong_type(value, "string"))
    return _canonical_micro_time(value)


@short_lru_cache(4096)
def _canonical_time(text: str) -> str | None:
    """Remembered: what happens in one second carries one time, and is read again with
    each change of the object.
    """
    moment = _parse_time(text, micro=False)
    return None if moment is None else rfc3339(moment, "seconds")


@short_lru_cache(4096)
def _canonical_micro_time(text: str) -> str | None:
    moment = _parse_time(text, micro=True)
    return None if moment is None else rfc3339(moment, "microseconds")


def _parse_time(value: str, micro: bool) -> datetime | None:
    match = _RFC3339.fullmatch(value)
    if match is None or (micro and len(match[7] or "") != 6):
        raise ValueError(_time_error(value, micro))
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    if not 1 <= month <= 12:
        raise ValueError(f'parsing time "{value}": month out of range')
    if hour > 23 or minute > 59 or second > 59:
        what = "hour" if hour > 23 else "minute" if minute > 59 else "second"
        raise ValueError(f'parsing time "{value}": {what} out of range')
    try:
        moment = datetime(
            year,
            month,
            day,
            hour,
            minute,
            second,
            int((match[7] or "0")[:6].ljust(6, "0")),
            UTC,
        )
    except ValueError:
        raise ValueError(f'parsing time "{value}": day out of range') from None
    zone = match[8]
    if zone != "Z":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
        moment -= offset if zone[0] == "+" else -offset
    if moment == datetime(1, 1, 1, tzinfo=UTC):
        return None
    return moment


_STEPS = (
    (r"\d{4}", "2006"), ("-", "-"), (r"\d\d", "01"), ("-", "-"), (r"\d\d", "02"), ("T",
    "T"), (r"\d\d", "15"), (":", ":"),
    (r"\d\d", "04"), (":", ":"), (r"\d\d", "05"),
)  # fmt: skip
_FRACTION, _ZONE = (r"(?:[.,]\d+)?", "05"), (r"Z|[+-]\d\d:\d\d", "Z07:00")
_MICROSECONDS = (r"[.,]\d{6}", ".000000")


def _time_error(value: str, micro: bool) -> str:
    layout = (
        "2006-01-02T15:04:05.000000Z07:00" if micro else "2006-01-02T15:04:05Z07:00"
    )
    rest = value
    for pattern, name in (*_STEPS, _MICROSECONDS if micro else _FRACTION, _ZONE):
        match = re.match(pattern, rest)
        if match is None:
            if (
                name == ".000000"
                # Go has taken the seven characters before it sees that they are no
                # digits
            ):
                rest = rest[7:] if len(rest) >= 7 else rest
            return (
                f'parsing time {_quoted(value)} as "{layout}": cannot parse '
                f'{_quoted(rest)} as "{name}"'
            )
        rest = rest[match.end() :]
    return f"parsing time {_quoted(value)}: extra text: {_quoted(rest)}"


def _quoted(text: str) -> str:
    """A string as Go's `time` quotes it: byte by byte where it is not plain ASCII."""
    shown = "".join(
        f"\\{char}"
        if char in '"\\'
        else char
        if " " <= char < "\x7f"
        else "".join(f"\\x{byte:02x}" for byte in char.encode())
        for char in text
    )
    return f'"{shown}"'


def base64_bytes(value: Any) -> str:
    """`[]byte`: standard base64, line breaks allowed; comes back as Go writes it.
    Raises ValueError, also for a padding too many, which Python takes.
    """
    text = (
        value.replace("\n", "").replace("\r", "")
        if "\n" in value or "\r" in value
        else value
    )
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raw = None
    if raw is None or len(text) % 4:
        raise ValueError(f"illegal base64 data at input byte {_first_bad_byte(value)}")
    return base64.b64encode(raw).decode()


def _first_bad_byte(text: str) -> int:
    clean = 0
    for index, char in enumerate(text):
        if char in "\r\n":
            continue
        if char == "=":
            if clean % 4 < 2:
                return index
            if clean % 4 == 2:
                rest = text[index + 1 :].lstrip("\r\n")
                if not rest:
                    return len(text)
                if rest[0] != "=":
                    return text.index(rest[0], index + 1)
                return len(text) - len(rest) + 1
            return index + 1
        if not (char.isascii() and (char.isalnum() or char in "+/")):
            return index
        clean += 1
    return len(text) - clean % 4 if clean % 4 else len(text)


def duration(value: Any) -> str:
    """`metav1.Duration` as Go prints it: `90s` → `1m30s`."""
    if type(value) is not str:
        raise ValueError(wrong_type(value, "string"))
    return go_duration(parse_duration(value))
