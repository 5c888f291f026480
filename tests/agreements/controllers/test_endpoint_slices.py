"""Our answers about what became of pods and slices in the scenario *endpoints*."""

from __future__ import annotations

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.controllers.endpoint_slices import endpoint_slice_agreement
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = endpoint_slice_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("endpoints")) > 55
