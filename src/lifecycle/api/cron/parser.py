"""What a cron expression means.

Five fields – minute, hour, day of month, month, day of week – or a descriptor such as
`@hourly`, perhaps with a zone in front (`TZ=Asia/Tokyo 0 9 * * *`). A field is a list
of ranges, a range may have a step, and a star is a range that remembers that it
restricts nothing. It remembers only while it is whole: `*/2` is a restriction like any
other.

Upstream: `github.com/robfig/cron/v3/parser.go` (`ParseStandard`, `getField`,
`getRange`, `parseDescriptor`), v3.0.1.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.api.cron.location import load_location
from lifecycle.api.cron.schedule import (
    ConstantDelaySchedule,
    Field,
    Schedule,
    SpecSchedule,
)
from lifecycle.api.go.duration import parse_duration
from lifecycle.api.go.strconv import atoi

DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
EVERY = "@every "


class Bounds(NamedTuple):
    """What a field's numbers may be, and the words for them."""

    low: int
    high: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        """A number or its name. Raises ValueError."""
        word = text.lower()
        if word in self.names:
            return self.low + self.names.index(word)
        return _number(text)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"
BOUNDS = (
    Bounds(0, 59),
    Bounds(0, 23),
    Bounds(1, 31),
    Bounds(1, 12, tuple(_MONTHS.split())),
    Bounds(0, 6, tuple(_WEEKDAYS.split())),
)


def parse_standard(spec: str) -> Schedule:
    """The schedule of an expression. Raises ValueError in the library's words."""
    location = load_location("")
    if spec.startswith(("TZ=", "CRON_TZ=")) and " " in spec:
        zone, _, spec = spec.partition("=")[2].partition(" ")
        try:
            location = load_location(zone)
        except ValueError as error:
            raise ValueError(f"provided bad location {zone}: {error}") from None
        spec = spec.strip()
    if spec.startswith(EVERY):
        try:
            period = parse_duration(spec.removeprefix(EVERY))
        except ValueError as error:
            raise ValueError(f"failed to parse duration {spec}: {error}") from None
        return ConstantDelaySchedule(max(1, int(period)))
    if spec.startswith("@") and spec not in DESCRIPTORS:
        raise ValueError(f"unrecognized descriptor: {spec}")
    texts = DESCRIPTORS.get(spec, spec).split()
    if len(texts) != len(BOUNDS):
        found = f"found {len(texts)}: [{' '.join(texts)}]"
        raise ValueError(f"expected exactly {len(BOUNDS)} fields, {found}")
    minute, hour, day_of_month, month, day_of_week = map(_field, texts, BOUNDS)
    return SpecSchedule(minute, hour, day_of_month, month, day_of_week, location)


def _field(text: str, bounds: Bounds) -> Field:
    values: set[int] = set()
    star = False
    for expr in filter(None, text.split(",")):
        numbers, unrestricted = _range(expr, bounds)
        values.update(numbers)
        star = star or unrestricted
    return Field(frozenset(values), star)


def _range(expr: str, bounds: Bounds) -> tuple[range, bool]:
    """Its numbers, and whether it is a star. Raises ValueError."""
    range_and_step = expr.split("/")
    low_and_high = range_and_step[0].split("-")
    star = low_and_high[0] in ("*", "?")
    if star:
        start, end = bounds.low, bounds.high
    elif len(low_and_high) > 2:
        bounds.number(low_and_high[0])
        raise ValueError(f"too many hyphens: {expr}")
    else:
        start, end = bounds.number(low_and_high[0]), bounds.number(low_and_high[-1])
    step = 1
    if len(range_and_step) > 2:
        raise ValueError(f"too many slashes: {expr}")
    if len(range_and_step) == 2:
        step = _number(range_and_step[1])
        if len(low_and_high) == 1:  # from here to the end
            end = bounds.high
    _check(expr, bounds, start, end, step)
    return range(start, end + 1, step), star and step == 1


def _check(expr: str, bounds: Bounds, start: int, end: int, step: int) -> None:
    low, high = bounds.low, bounds.high
    if start < low:
        raise ValueError(f"beginning of range ({start}) below minimum ({low}): {expr}")
    if end > high:
        raise ValueError(f"end of range ({end}) above maximum ({high}): {expr}")
    if start > end:
        raise ValueError(
            f"beginning of range ({start}) beyond end of range ({end}): {expr}"
        )
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {expr}")


def _number(text: str) -> int:
    try:
        number = atoi(text)
    except ValueError as error:
        raise ValueError(f"failed to parse int from {text}: {error}") from None
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number
