"""What half an hour on the machine's clock is measured by; the half hour is `make churn REAL=30`."""

from __future__ import annotations

import pytest

from tests.chaos.churn import Sample
from tests.chaos.churn_in_real_time import WARM, growth, main


def test_the_end_is_held_against_minute_five() -> None:
    samples = [Sample(minute, 100_000 + minute * 1000, 1, 9, 400, 5) for minute in range(1, 31)]
    assert growth(samples) == pytest.approx(130 / 105 - 1)


def test_there_is_nothing_to_compare_before_it_is_warm(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--minutes", str(WARM)])
    assert f"must be more than {WARM}" in capsys.readouterr().err
