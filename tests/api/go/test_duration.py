"""Durations as Go reads them: in nanoseconds, of which there is an end."""

from __future__ import annotations

import pytest

from lifecycle.api.go.duration import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("1h30m", 5400.0), ("-200ms", -0.2), ("0", 0.0), ("2562047h", 9223369200.0)]
)
def test_what_go_reads(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["2562048h", "9223372037s", "1h" * 2_562_048, "9" * 400 + "s", "-2562048h"])
def test_more_than_292_years_are_no_duration(text: str) -> None:
    """As the real server said it of `?timeout=`."""
    with pytest.raises(ValueError, match=r"^time: invalid duration "):
        parse_duration(text)
