"""Schedules: when they are next due, in their zone, across summer time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lifecycle.api.cron.parser import parse_standard


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("*/15 * * * *", "2027-01-01T00:07", "2027-01-01T00:15"),
        ("0 9 * * mon-fri", "2027-01-01T10:00", "2027-01-04T09:00"),
        ("0 0 13 * 5", "2027-01-01T01:00", "2027-01-08T00:00"),  # the 13th or any Friday
        (
            "0 0 */2 * 1",
            "2027-01-01T01:00",
            "2027-01-03T00:00",
        ),  # an odd date or any Monday: a step takes the star away
        ("0 0 *-5 * 1", "2027-01-01T01:00", "2027-01-04T00:00"),  # a star stays a star, whatever follows its hyphen
        ("0 0 */1 * 1", "2027-01-01T01:00", "2027-01-04T00:00"),  # every day, and so every Monday
        ("0 0 28,* * 6", "2027-01-28T01:00", "2027-01-30T00:00"),  # one star in a list is enough
        ("0,,5 0 1,, * *", "2027-01-01T00:00", "2027-01-01T00:05"),
        ("5/20 * * * *", "2027-01-01T00:06", "2027-01-01T00:25"),
        ("0 0 1 feb,JUN *", "2027-02-02T00:00", "2027-06-01T00:00"),
        ("@monthly", "2027-01-31T00:00", "2027-02-01T00:00"),
        ("0 0 29 2 *", "2025-03-01T00:00", "2028-02-29T00:00"),
        ("0 0 30 2 *", "2027-01-01T00:00", None),
        ("@every 1h30m", "2027-01-01T00:07", "2027-01-01T01:37"),
        ("@every 90s", "2027-01-01T00:00", "2027-01-01T00:01"),
        ("@every -5m", "2027-01-01T00:00:59", "2027-01-01T00:01"),  # a second, the shortest there is
        ("TZ=Asia/Tokyo 0 9 * * *", "2027-01-01T00:00", "2027-01-02T00:00"),
        ("CRON_TZ=Asia/Tokyo  @daily", "2027-01-01T00:00", "2027-01-01T15:00"),
    ],
)
def test_when_a_schedule_is_due(expression: str, after: str, expected: str | None) -> None:
    found = parse_standard(expression).next(seconds(after + "+00:00"))
    assert (found and datetime.fromtimestamp(found, UTC).strftime("%Y-%m-%dT%H:%M")) == expected


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        # In New York the hour from two to three did not exist on 11 March 2012 ...
        ("0 * * * *", "2012-03-11T01:00:00-05:00", "2012-03-11T03:00:00-04:00"),
        ("30 2 * * *", "2012-03-11T00:00:00-05:00", "2012-03-12T02:30:00-04:00"),
        # ... and the one from one to two came twice on 4 November.
        ("0 * * * *", "2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00"),
        ("0 1 * * *", "2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00"),
        ("0 3 * * *", "2012-11-04T00:00:00-04:00", "2012-11-04T03:00:00-05:00"),
    ],
)
def test_summer_time_skips_runs_and_doubles_them(expression: str, after: str, expected: str) -> None:
    found = parse_standard(f"TZ=America/New_York {expression}").next(seconds(after))
    assert found == seconds(expected)
