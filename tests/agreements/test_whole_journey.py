"""One command, followed through our cluster, beside the recorded cluster's."""

from __future__ import annotations

from lifecycle.agreements.whole_journey import whole_journey_agreement
from lifecycle.inspector import open_recording


def test_ours_goes_the_same_way() -> None:
    table = whole_journey_agreement(open_recording())
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert [row.comparison.total > 0 for row in table.computed] == [True] * 3
