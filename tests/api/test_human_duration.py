"""How long ago, for people; cases along upstream's steps (`duration_test.go` has the same borders)."""

from __future__ import annotations

import pytest

from lifecycle.api.human_duration import age, human_duration, since

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-2, "<invalid>"), (-1.9, "0s"), (-0.5, "0s"), (0, "0s"), (0.9, "0s"), (1, "1s"), (119.9, "119s"),
        (2 * MINUTE, "2m"), (2 * MINUTE + 1, "2m1s"), (10 * MINUTE - 1, "9m59s"), (10 * MINUTE, "10m"),
        (10 * MINUTE + 59, "10m"), (3 * HOUR - 1, "179m"), (3 * HOUR, "3h"), (3 * HOUR + MINUTE, "3h1m"),
        (8 * HOUR - 1, "7h59m"), (8 * HOUR, "8h"), (8 * HOUR + 59 * MINUTE, "8h"), (48 * HOUR - 1, "47h"),
        (2 * DAY, "2d"), (2 * DAY + HOUR, "2d1h"), (8 * DAY - 1, "7d23h"), (8 * DAY, "8d"), (8 * DAY + 23 * HOUR, "8d"),
        (2 * YEAR - 1, "729d"), (2 * YEAR, "2y"), (2 * YEAR + 23 * HOUR, "2y"), (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR - 1, "7y364d"), (8 * YEAR, "8y"), (8 * YEAR + 364 * DAY, "8y"),
    ],
)  # fmt: skip
def test_the_longer_ago_the_less_exactly_it_is_said(seconds: float, said: str) -> None:
    assert human_duration(seconds) == said


def test_an_age_counts_from_the_creation_and_is_unknown_without_one() -> None:
    assert since("1970-01-01T00:01:00Z", 90.0) == "30s"
    assert since(None, 90.0) == since("", 90.0) == "<unknown>"
    assert age({"metadata": {"creationTimestamp": "1970-01-01T00:00:10Z"}}, 20.0) == "10s"
    assert age({"metadata": {}}, 20.0) == "<unknown>"
