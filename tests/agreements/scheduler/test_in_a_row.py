"""Where our scheduler puts pods of a kind that come in a row."""

from __future__ import annotations

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.scheduler.in_a_row import in_a_row_agreement
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = in_a_row_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("in-a-row")) > 140
