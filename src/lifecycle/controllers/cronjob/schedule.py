"""When a cron expression is next due.

Five fields – minute, hour, day of month, month, day of week – or a descriptor such as `@hourly`. If both day fields
are restricted, either one will do; that is cron's oldest surprise. Times are those of the CronJob's `timeZone`, UTC
without one.

Upstream: `github.com/robfig/cron/v3/spec.go` (`SpecSchedule.Next`, `dayMatches`), `parser.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from lifecycle.api.schema.scalars import duration

_NAMES = {
    3: {
        name: i
        for i, name in enumerate(
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
        )
    },
    4: {name: i for i, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])},
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
_HORIZON = timedelta(days=5 * 366)
"""How far ahead the search goes: the 30th of February never comes."""


def next_after(expression: str, zone: tzinfo = UTC) -> Callable[[float], float | None]:
    """A function from seconds since 1970 to the next due time after it; None: never. The expression must be a valid one."""
    if expression.startswith("@every "):
        period = max(1, int(duration(expression.removeprefix("@every "))))
        return lambda after: float(int(after) + period)
    fields = _DESCRIPTORS.get(expression, expression).split()
    minutes, hours, days, months, weekdays = (_values(text, at) for at, text in enumerate(fields))
    either = fields[2][0] not in "*?" and fields[4][0] not in "*?"

    def day_matches(t: datetime) -> bool:
        by_date, by_weekday = t.day in days, t.isoweekday() % 7 in weekdays
        return (by_date or by_weekday) if either else (by_date and by_weekday)

    def following(after: float) -> float | None:
        t = datetime.fromtimestamp(after, UTC).astimezone(zone).replace(second=0, microsecond=0, tzinfo=None)
        t += timedelta(minutes=1)
        end = t + _HORIZON
        while t < end:
            if t.month not in months:
                t = (t.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0)
            elif not day_matches(t):
                t = t.replace(hour=0, minute=0) + timedelta(days=1)
            elif t.hour not in hours:
                t = t.replace(minute=0) + timedelta(hours=1)
            elif t.minute not in minutes:
                t += timedelta(minutes=1)
            else:
                return t.replace(tzinfo=zone).timestamp()
        return None

    return following


def _values(text: str, at: int) -> set[int]:
    low, high = _BOUNDS[at]
    names = _NAMES.get(at, {})

    def number(word: str) -> int:
        return names[word.lower()] if word.lower() in names else int(word)

    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if first in ("*", "?"):
            start, end = low, high
        else:
            start = number(first)
            end = number(last) if last else (high if step else start)
        found.update(range(start, end + 1, int(step or 1)))
    return found
