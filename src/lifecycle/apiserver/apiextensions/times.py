"""Days, times and spans of time, as a format in a schema means them.

Each is laxer than its name: of a time only the first `T` counts, and any character may
stand before the fraction of a second; a span may say `3 days` in the midst of other
words.

Upstream: `kube-openapi/pkg/validation/strfmt/{date,time,duration}.go`, v1.36.
"""

from __future__ import annotations

import re
from datetime import date

from lifecycle.api.go.duration import parse_nanoseconds
from lifecycle.api.go.format import go_quote

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME_OF_DAY = re.compile(
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
)
_RFC_3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:[.,]([0-9]+))?(?:Z|[+-]([0-9]{2}):([0-9]{2}))"
)
_DAYS_OF_400_YEARS = 146_097
_SPAN = re.compile(r"(?<![0-9])([0-9]++)[\t\n\f\r ]*+([A-Za-zµ]++)")
"""A number is looked at once, from its first digit: a text may have a million."""
_UNITS = (
    (("ns",), "nano", 1),
    (("us", "µs"), "micro", 1_000),
    (("ms",), "milli", 1_000_000),
    (("s",), "sec", 1_000_000_000),
    (("m",), "min", 60_000_000_000),
    (("h", "hr"), "hour", 3_600_000_000_000),
    (("d",), "day", 86_400_000_000_000),
    (("w", "wk"), "week", 604_800_000_000_000),
)
"""How units are called, how their longer names begin, and their nanoseconds."""
_MOST = str(2**63 - 1)


def is_date(text: str) -> bool:
    """A day that there is, such as `2024-02-29`."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def seconds_until(day: str) -> int:
    """From 1970 until a day of which `is_date` is true; the year may be 0."""
    year, month, rest = (int(part) for part in day.split("-"))
    days = date(year or 400, month, rest).toordinal()
    days -= 0 if year else _DAYS_OF_400_YEARS
    return (days - date(1970, 1, 1).toordinal()) * 86_400


def is_date_time(text: str) -> bool:
    """A day and a time of it, with how far it is from Greenwich."""
    day, *times = text.lower().split("t")
    return bool(times) and is_date(day) and _TIME_OF_DAY.fullmatch(times[0]) is not None


def parse_date_time(text: str) -> tuple[int, int]:
    """Seconds since 1970 and nanoseconds of a text of which `is_date_time` is true.

    Raises ValueError, as the last of Go's layouts that were tried says it.
    """
    match = _RFC_3339.fullmatch(text)
    if match is None or int(match[6] or 0) > 24 or int(match[7] or 0) > 60:
        raise ValueError(f"parsing time {go_quote(text)}{_as_local_time(text)}")
    hour, minute, second = (int(match[group]) for group in (2, 3, 4))
    east = 60 * int(match[6] or 0) + int(match[7] or 0)
    minutes = 60 * hour + minute - (-east if match[0][-6] == "-" else east)
    nanoseconds = int((match[5] or "")[:9].ljust(9, "0"))
    return seconds_until(match[1]) + 60 * minutes + second, nanoseconds


def _as_local_time(text: str) -> str:
    """Why it is none without a zone."""
    if text[10] != "T":
        return f' as "2006-01-02T15:04:05": cannot parse {go_quote(text[10:])} as "T"'
    rest = re.sub("^[.,][0-9]+", "", text[19:])
    return f": extra text: {go_quote(rest)}"


def is_duration(text: str) -> bool:
    """What Go takes for one, or a text in which a number and a unit are found."""
    try:
        parse_span(text)
    except ValueError:
        return False
    return True


def parse_span(text: str) -> int:
    """Nanoseconds, which wrap around at 64 bits. Raises ValueError."""
    try:
        return parse_nanoseconds(text)
    except ValueError:
        pass
    found = []
    for number, word in _SPAN.findall(text):
        digits = number.lstrip("0")
        if (len(digits), digits) > (len(_MOST), _MOST):
            raise ValueError(f"parsing {go_quote(number)}: value out of range")
        found += [int(digits or 0) * length for length in _lengths(word.lower())]
    if not found:
        raise ValueError(f"unable to parse {text} as duration")
    return (sum(found) + 2**63) % 2**64 - 2**63


def _lengths(unit: str) -> list[int]:
    return [
        length
        for names, stem, length in _UNITS
        if unit in names or unit.startswith(stem)
    ]
