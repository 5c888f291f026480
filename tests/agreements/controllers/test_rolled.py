"""Roll-outs set up by hand: the real controller's answers, and ours."""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.controllers.rolled import rolled_agreement


def test_our_controller_goes_on_as_far_as_the_real_one_does() -> None:
    table = rolled_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(asked(None, "rolled")) > 30
