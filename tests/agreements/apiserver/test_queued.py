"""Whose turn it is, at a real API server and at ours."""

from __future__ import annotations

import pytest

from lifecycle.agreements.apiserver.queued import queuing_agreement
from lifecycle.apiserver.filters.queue_set import Queue, QueueSet, seat_seconds

MILLISECONDS = seat_seconds(1, 0.05)
"""Of virtual time: how long a request is on its way differs by less from run to run."""


def test_whoever_is_let_in_was_let_in_by_the_real_server() -> None:
    table = queuing_agreement()
    assert [f"{step}{difference}" for step, difference in table.unexplained] == []
    assert len(table.computed) > 80
    assert sum("; not " in row.cluster for row in table.computed) > 3


def test_no_turn_hangs_on_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who came first decided, by far: asked again, the real server does the same."""
    leads = []
    real = QueueSet._next

    def listening(queues: QueueSet) -> Queue:
        ends = sorted(q.next_dispatch + q.waiting[0].total for q in queues.queues.values() if q.waiting)
        leads.extend(ends[1:2] and [ends[1] - ends[0]])
        return real(queues)

    monkeypatch.setattr(QueueSet, "_next", listening)
    queuing_agreement()
    assert len(leads) > 25
    assert min(leads) > MILLISECONDS
