"""Our kubectl before servers that put it off."""

from __future__ import annotations

from lifecycle.agreements.kubectl.retries import retries_agreement


def test_ours_asks_again_as_often_as_the_real_one() -> None:
    table = retries_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 16
