"""Days, times and spans of time, as a format in a schema means them.

Each is laxer than its name: of a time only the first `T` counts, and any character may
stand before the fraction of a second; a span may say `3 days` in the midst of other
words.

Upstream: `kube-openapi/pkg/validation/strfmt/{date,time,duration}.go`, v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.go_duration import parse_duration

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME_OF_DAY = re.compile(
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
)
_SPAN = re.compile(r"(?<![0-9])([0-9]++)[\t\n\f\r ]*+([A-Za-zµ]++)")
"""A number is looked at once, from its first digit: a text may have a million."""
_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_STEMS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
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


def is_date_time(text: str) -> bool:
    """A day and a time of it, with how far it is from Greenwich."""
    day, *times = text.lower().split("t")
    return bool(times) and is_date(day) and _TIME_OF_DAY.fullmatch(times[0]) is not None


def is_duration(text: str) -> bool:
    """What Go takes for one, or a text in which a number and a unit are found."""
    try:
        parse_duration(text)
        return True
    except ValueError:
        pass
    found = False
    for number, word in _SPAN.findall(text):
        digits = number.lstrip("0")
        if (len(digits), digits) > (len(_MOST), _MOST):
            return False
        unit = word.lower()
        found = found or unit in _UNITS or unit.startswith(_STEMS)
    return found
