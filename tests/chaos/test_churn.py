"""A few short hours of comings and goings; a day of them is `make churn`."""

from __future__ import annotations

from dataclasses import replace

from tests.chaos.churn import WARM, Sample, churn, growth

SHORT = 900.0


def test_nothing_is_left_open_and_nobody_still_waits() -> None:
    samples = churn(3, length=SHORT)
    assert [sample.hour for sample in samples] == [1, 2, 3]
    assert all(sample.stored for sample in samples)  # events, at least
    assert growth(samples) == []
    assert samples[0].tasks == samples[-1].tasks
    assert samples[-1].unread == 0
    assert samples[-1].changes <= samples[0].changes * 1.5


def test_what_grows_is_named() -> None:
    first = Sample(1, 100_000, 100_000, 10, 300, 5)
    flat = [replace(first, hour=hour) for hour in range(1, WARM + 3)]
    assert growth(flat) == []
    assert growth([*flat, replace(first, hour=99, tasks=301)]) == ["tasks: 300 after 1 hours, 301 after 99"]
    assert growth([*flat, replace(first, hour=99, kilobytes=104_000)]) == [
        f"kilobytes: 100000 after {WARM} hours, 104000 after 99"
    ]
    assert growth([first, replace(first, hour=2, kilobytes=200_000)]) == []  # caches fill
