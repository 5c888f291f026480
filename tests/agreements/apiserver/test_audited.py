"""What the audit log keeps: event by event what a real API server's keeps, under the same policies."""

from __future__ import annotations

from lifecycle.agreements.apiserver.audited import audit_agreement, short


def test_the_same_events_under_both_policies() -> None:
    table = audit_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 76
    assert 10 < sum(row.cluster == short([]) for row in table.computed) < 30
