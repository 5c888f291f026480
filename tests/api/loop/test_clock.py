"""How moments are written."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from lifecycle.api.loop.clock import format_micro_time, format_nano_time, format_time


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000000Z"),
        (1796083199.25, "2026-11-30T23:59:59.250000Z"),
        (1796083199.999999, "2026-11-30T23:59:59.999999Z"),
        (math.nextafter(1796083200.0, 0), "2026-12-01T00:00:00.000000Z"),
        (-0.5, "1969-12-31T23:59:59.500000Z"),
    ],
)
def test_a_micro_time_has_six_digits_and_rounds_into_the_next_second(seconds: float, text: str) -> None:
    assert format_micro_time(seconds) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"), (100_000_000, "1970-01-01T00:00:00.1Z"), (1, "1970-01-01T00:00:00.000000001Z"),
        (59_999_999_999, "1970-01-01T00:00:59.999999999Z"), (60_000_000_000, "1970-01-01T00:01:00Z"),
    ],
)  # fmt: skip
def test_a_time_with_nanoseconds_has_as_many_digits_as_it_takes(nanoseconds: int, text: str) -> None:
    assert format_nano_time(nanoseconds) == text


def test_a_micro_time_is_what_the_calendar_says() -> None:
    for step in range(5_000):
        seconds = 1_796_000_000 + step * 86_399.123_457
        assert format_micro_time(seconds) == datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_a_time_is_the_second_that_has_begun() -> None:
    assert [format_time(seconds) for seconds in (59.999, -0.001)] == ["1970-01-01T00:00:59Z", "1969-12-31T23:59:59Z"]
