"""Cron expressions, judged as the library behind CronJobs judges them.

Upstream: `github.com/robfig/cron/v3/parser.go` (`ParseStandard`), used by
`pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lifecycle.api.schema.scalars import duration

_MONTHS = {
    name: index
    for index, name in enumerate(
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
}
_DAYS = {
    name: index
    for index, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
}
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_DESCRIPTORS = {
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
}


def location_problem(zone: str) -> str:
    """What is wrong with the name of a time zone, in Go's words; empty if nothing
    is.
    """
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"unknown time zone {zone}"
    return ""


def schedule_problem(schedule: str) -> str:
    """What is wrong with a schedule, in the parser's words; empty if nothing is."""
    if schedule.startswith(("TZ=", "CRON_TZ=")) and " " in schedule:
        zone, _, schedule = schedule.partition("=")[2].partition(" ")
        complaint = location_problem(zone)
        if complaint:
            return f"provided bad location {zone}: {complaint}"
        schedule = schedule.strip()
    if schedule.startswith("@"):
        if schedule in _DESCRIPTORS:
            return ""
        if schedule.startswith("@every "):
            try:
                duration(schedule.removeprefix("@every "))
            except ValueError as error:
                return f"failed to parse duration {schedule}: {error}"
            return ""
        return f"unrecognized descriptor: {schedule}"
    fields = schedule.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for field, bounds in zip(fields, _FIELDS):
            for part in filter(None, field.split(",")):
                _check_range(part, *bounds)
    except ValueError as error:
        return str(error)
    return ""


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    try:
        if "_" in text or text != text.strip():
            raise ValueError
        number = int(text)
    except ValueError:
        raise ValueError(
            f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid'
            " syntax"
        ) from None
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def _check_range(part: str, low: int, high: int, names: dict[str, int]) -> None:
    pieces = part.split("/")
    ends = pieces[0].split("-")
    if ends[0] in ("*", "?"):
        start, end = low, high
    else:
        start = end = _number(ends[0], names)
        if len(ends) == 2:
            end = _number(ends[1], names)
        elif len(ends) > 2:
            raise ValueError(f"too many hyphens: {part}")
    step = 1
    if len(pieces) == 2:
        step = _number(pieces[1], {})
        if len(ends) == 1:
            end = high
    elif len(pieces) > 2:
        raise ValueError(f"too many slashes: {part}")
    if start < low:
        raise ValueError(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise ValueError(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise ValueError(
            f"beginning of range ({start}) beyond end of range ({end}): {part}"
        )
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {part}")
