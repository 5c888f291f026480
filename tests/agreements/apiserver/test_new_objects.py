"""Our answers about objects that are new, in the scenario *new-objects*."""

from __future__ import annotations

from lifecycle.agreements.apiserver.new_objects import new_object_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = new_object_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("new-objects")) > 190
