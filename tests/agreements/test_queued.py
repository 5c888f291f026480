"""Whose turn it is, at a real API server and at ours."""

from __future__ import annotations

from lifecycle.agreements.queued import queuing_agreement


def test_whoever_is_let_in_was_let_in_by_the_real_server() -> None:
    table = queuing_agreement()
    assert [f"{step}{difference}" for step, difference in table.unexplained] == []
    assert len(table.computed) > 80
    assert sum("; not " in row.cluster for row in table.computed) > 3
