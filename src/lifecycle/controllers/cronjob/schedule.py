"""When a cron expression is next due.

Five fields – minute, hour, day of month, month, day of week – or a descriptor such as
`@hourly`. If both day fields are restricted, either one will do; that is cron's oldest
surprise. Times are those of the CronJob's `timeZone`, UTC without one. Hours and
minutes are counted as they pass, not as the wall clock names them: an hour that summer
time skips never comes, and one that it repeats comes twice.

Upstream: `github.com/robfig/cron/v3/spec.go` (`SpecSchedule.Next`, `dayMatches`),
`parser.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from lifecycle.api.go_duration import parse_duration

Schedule = Callable[[float], float | None]
"""From seconds since 1970 to the next due time after it; None: never."""

_NAMES = {
    3: {
        name: i
        for i, name in enumerate(
            [
                "jan",
                "feb",
                "mar",
                "apr",
                "may",
                "jun",
                "jul",
                "aug",
                "sep",
                "oct",
                "nov",
                "dec",
            ],
            1,
        )
    },
    4: {
        name: i
        for i, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
    },
}
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_HORIZON = 5
"""How many years ahead the search goes: the 30th of February never comes."""


def next_after(expression: str, zone: tzinfo = UTC) -> Schedule:
    """The schedule that an expression means. It must be a valid one."""
    if expression.startswith("@every "):
        period = max(1, int(parse_duration(expression.removeprefix("@every "))))
        return lambda after: float(int(after) + period)
    fields = _DESCRIPTORS.get(expression, expression).split()
    minutes, hours, days, months, weekdays = (
        _values(text, at) for at, text in enumerate(fields)
    )
    either = fields[2][0] not in "*?" and fields[4][0] not in "*?"

    def day_matches(t: datetime) -> bool:
        by_date, by_weekday = t.day in days, t.isoweekday() % 7 in weekdays
        return (by_date or by_weekday) if either else (by_date and by_weekday)

    def following(after: float) -> float | None:
        t = _later(
            datetime.fromtimestamp(int(after) // 60 * 60, zone), timedelta(minutes=1)
        )
        last_year = t.year + _HORIZON
        while t.year <= last_year:
            if t.month not in months:
                t = _at(datetime(t.year + t.month // 12, t.month % 12 + 1, 1), zone)
            elif not day_matches(t):
                t = _midnight(
                    _at(datetime(t.year, t.month, t.day) + timedelta(days=1), zone)
                )
            elif t.hour not in hours:
                t = _later(t, timedelta(hours=1) - timedelta(minutes=t.minute))
            elif t.minute not in minutes:
                t = _later(t, timedelta(minutes=1))
            else:
                return t.timestamp()
        return None

    return following


def _later(t: datetime, by: timedelta) -> datetime:
    """So much later in time, whatever the clocks on the wall do meanwhile."""
    return (t.astimezone(UTC) + by).astimezone(t.tzinfo)


def _at(wall: datetime, zone: tzinfo) -> datetime:
    """When a clock in the zone shows this; if it never does, one of the two moments
    that come near. Upstream: Go's `time.Date`.
    """
    as_if = wall.replace(tzinfo=UTC)
    shift = as_if.astimezone(zone).utcoffset() or timedelta()
    moment = as_if - shift
    if moment.astimezone(zone).utcoffset() != shift:
        moment = as_if - (moment.astimezone(zone).utcoffset() or timedelta())
    return moment.astimezone(zone)


def _midnight(t: datetime) -> datetime:
    """Where summer time begins at midnight, a day starts at one o'clock or is reached
    an hour early.
    """
    return _later(t, timedelta(hours=24 - t.hour if t.hour > 12 else -t.hour))


def _values(text: str, at: int) -> set[int]:
    low, high = _BOUNDS[at]
    names = _NAMES.get(at, {})

    def number(word: str) -> int:
        return names[word.lower()] if word.lower() in names else int(word)

    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if first in ("*", "?"):
            start, end = low, high
        else:
            start = number(first)
            end = number(last) if last else (high if step else start)
        values.update(range(start, end + 1, int(step or 1)))
    return values
