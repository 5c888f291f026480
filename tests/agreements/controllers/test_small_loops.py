"""What our smaller control loops make of the scenario *small-loops*."""

from __future__ import annotations

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.controllers.small_loops import small_loops_agreement
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = small_loops_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("small-loops")) > 120
