"""Pods made by hand: the real controller's answers, and ours."""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.controllers.chosen import chosen_agreement


def test_our_controller_chooses_whom_the_real_one_chose() -> None:
    table = chosen_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 2 * len(asked(None, "chosen")) > 30
