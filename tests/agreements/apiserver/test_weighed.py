"""How many seats a request is taken for."""

from __future__ import annotations

from lifecycle.agreements.apiserver.weighed import work_estimate_agreement


def test_ours_gives_as_many_seats_as_the_real_one() -> None:
    table = work_estimate_agreement()
    assert [f"{row}{difference}" for row, difference in table.unexplained] == []
    assert {row.cluster for row in table.computed} >= {"1", "2", "10"}
