"""Our answers about what became of owners and their dependents in the scenario *ownership*."""

from __future__ import annotations

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.controllers.ownership import ownership_agreement
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = ownership_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("ownership")) > 150
