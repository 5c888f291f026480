"""Which headers an added server gets, as a real API server sent them."""

from __future__ import annotations

from lifecycle.agreements.apiserver.forwarded import forwarded_agreement


def test_every_request_says_the_same_of_who_asks() -> None:
    table = forwarded_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 10
