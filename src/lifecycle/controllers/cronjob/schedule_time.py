"""Which run is due, and how long to sleep until the next.

A controller that was away may have missed many runs. Only the last of them is made up
for, and it is found without walking through all: the distance between two runs tells
about how many fit in between.

Upstream: `pkg/controller/cronjob/utils.go` (`mostRecentScheduleTime`,
`nextScheduleTime`, `nextScheduleTimeDuration`), v1.36.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.api.cron.schedule import Schedule
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time

NEXT_SCHEDULE_DELTA = 0.1
"""Seconds after the due time at which the controller looks: never a moment too
early.
"""
TOO_MANY_MISSED = 100


class InvalidScheduleError(Exception):
    """A schedule that never comes, or comes without a pause."""


class MostRecent(NamedTuple):
    """`at`: the last run that is due and was not started, if there is one; `missed`:
    about how many there are.
    """

    since: float
    at: float | None
    missed: int


def most_recent_schedule_time(
    cron_job: Object, now: float, schedule: Schedule, *, within_deadline: bool = True
) -> MostRecent:
    """Runs due since the last one started (since the creation if there was none), or
    within the starting deadline.

    Raises InvalidScheduleError.
    """
    last = (cron_job.get("status") or {}).get("lastScheduleTime")
    since = float(parse_time(last or cron_job["metadata"]["creationTimestamp"]))
    deadline = cron_job["spec"].get("startingDeadlineSeconds")
    if within_deadline and deadline is not None:
        since = max(since, now - deadline)
    first = schedule.next(since)
    second = schedule.next(first) if first is not None else None
    if first is None:
        raise InvalidScheduleError(
            "time difference between two schedules is less than 1 second"
        )
    if now < first:
        return MostRecent(since, None, 0)
    if second is None:
        raise InvalidScheduleError(
            "time difference between two schedules is less than 1 second"
        )
    if now < second:
        return MostRecent(since, first, 0)
    period = round(second - first)
    missed = int(now - first) // period + 1
    # one period further back than it seems, since the distance need not be the same
    # every time
    at = _last_until(now, schedule, first + (missed - 2) * period)
    return MostRecent(since, at, missed)


def _last_until(now: float, schedule: Schedule, start: float) -> float | None:
    """The last run that is due after `start`, at `now` or before; None if none is.

    Mostly they are two or three. But a distance of half a year may be followed by half
    a year of runs every minute, so after a while the last is found by halving: it
    follows each moment before it, and no moment after.
    """
    last, at = None, schedule.next(start)
    for _ in range(TOO_MANY_MISSED):
        if at is None or at > now:
            return last
        last, at = at, schedule.next(at)
    if at is None or at > now:
        return last
    early, late = int(at), int(now) + 1
    while late - early > 1:
        middle = (early + late) // 2
        following = schedule.next(float(middle))
        if following is not None and following <= now:
            early = middle
        else:
            late = middle
    following = schedule.next(float(early))
    return following if following is not None and following <= now else at


def next_schedule_delay(cron_job: Object, now: float, schedule: Schedule) -> float:
    """Seconds until the controller has to look again. Upstream:
    `nextScheduleTimeDuration`.
    """
    try:
        since, at, missed = most_recent_schedule_time(
            cron_job, now, schedule, within_deadline=False
        )
    except InvalidScheduleError:
        start: float | None = now
    else:
        start = at if at is not None else now if missed else since
    following = schedule.next(start if start is not None else now)
    return (
        max(0.0, following - now) + NEXT_SCHEDULE_DELTA
        if following is not None
        else NEXT_SCHEDULE_DELTA
    )
