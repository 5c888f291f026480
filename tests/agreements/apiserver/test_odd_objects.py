"""Our answers to what a bare API server was asked in the scenario *odd-objects*."""

from __future__ import annotations

from lifecycle.agreements.apiserver.odd_objects import odd_objects_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = odd_objects_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("odd-objects")) > 180
