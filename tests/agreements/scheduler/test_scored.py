"""What nodes are worth, to a real scheduler and to ours."""

from __future__ import annotations

from lifecycle.agreements.scheduler.scored import scored_agreement


def test_each_score_and_each_refusal_is_that_of_the_real_one() -> None:
    table = scored_agreement()
    assert [f"{case}{difference}" for case, difference in table.unexplained] == []
    assert len(table.computed) > 50
    assert any(row.cluster.startswith("0/") for row in table.computed)
