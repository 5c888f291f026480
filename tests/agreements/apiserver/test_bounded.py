"""Values on both sides of their bounds, at a real API server and at ours."""

from __future__ import annotations

from lifecycle.agreements.apiserver.bounded import bounded_agreement, expanded


def test_ours_takes_what_the_real_one_takes_and_nothing_else() -> None:
    table = bounded_agreement()
    assert [f"{row}{difference}" for row, difference in table.unexplained] == []
    assert len(table.computed) > 60
    assert all(row.cluster[0] != row.cluster.split()[2] for row in table.computed if row.input == "containerPort")


def test_long_texts_are_recorded_in_short() -> None:
    assert expanded({"a": [{"repeat": ["ab", 2]}], "b": 1}) == {"a": ["abab"], "b": 1}
