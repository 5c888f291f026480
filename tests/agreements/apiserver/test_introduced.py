"""Whom a server takes somebody for if somebody else says it."""

from __future__ import annotations

from lifecycle.agreements.apiserver.introduced import introduced_agreement


def test_ours_takes_everybody_for_whom_the_real_one_does() -> None:
    table = introduced_agreement()
    assert [f"{row}{difference}" for row, difference in table.unexplained] == []
    assert {row.cluster for row in table.computed} >= {"jane", "joe", "201, 201, 401"}
