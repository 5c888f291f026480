"""When a schedule is next due.

If both day fields are restricted, either one will do; that is cron's oldest surprise.
Times are those of the schedule's zone. Hours and minutes are counted as they pass, not
as the wall clock names them: an hour that summer time skips never comes, and one that
it repeats comes twice.

Upstream: `github.com/robfig/cron/v3/spec.go` (`SpecSchedule.Next`, `dayMatches`),
`constantdelay.go`, v3.0.1.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, Protocol

HORIZON = 5
"""How many years ahead the search goes: the 30th of February never comes."""


class Schedule(Protocol):
    """Knows when it is due."""

    def next(self, after: float) -> float | None:
        """From seconds since 1970 to the next due time after it; None: never."""


class ConstantDelaySchedule(NamedTuple):
    """Every so many seconds, at least one."""

    delay: int

    def next(self, after: float) -> float:
        """See `Schedule`."""
        return float(int(after) + self.delay)


class Field(NamedTuple):
    """The numbers that match, and whether a star stands for them."""

    values: frozenset[int]
    star: bool = False


class SpecSchedule(NamedTuple):
    """The five fields, and the zone whose clock they are read from."""

    minute: Field
    hour: Field
    day_of_month: Field
    month: Field
    day_of_week: Field
    location: tzinfo = UTC

    def next(self, after: float) -> float | None:
        """See `Schedule`."""
        t = datetime.fromtimestamp(int(after) // 60 * 60, self.location)
        t = _later(t, timedelta(minutes=1))
        last_year = t.year + HORIZON
        while t.year <= last_year:
            if t.month not in self.month.values:
                first = datetime(t.year + t.month // 12, t.month % 12 + 1, 1)
                t = _at(first, self.location)
            elif not self.day_matches(t):
                following = datetime(t.year, t.month, t.day) + timedelta(days=1)
                t = _midnight(_at(following, self.location))
            elif t.hour not in self.hour.values:
                t = _later(t, timedelta(hours=1) - timedelta(minutes=t.minute))
            elif t.minute not in self.minute.values:
                t = _later(t, timedelta(minutes=1))
            else:
                return t.timestamp()
        return None

    def day_matches(self, t: datetime) -> bool:
        """Both day fields if one of them is a star, else either of them."""
        by_date = t.day in self.day_of_month.values
        by_weekday = t.isoweekday() % 7 in self.day_of_week.values
        if self.day_of_month.star or self.day_of_week.star:
            return by_date and by_weekday
        return by_date or by_weekday


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
