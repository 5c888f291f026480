"""The scheduling queue put to the recorded scheduler's log: every pod that had to wait is where the real queue put it."""

from __future__ import annotations

import pytest

from lifecycle.agreements.scheduler.scheduling_queue import STAYS, recorded_moves, scheduling_queue_agreement
from lifecycle.inspector import open_recording
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.events import POD_ADDED
from lifecycle.scheduler.framework.plugins.node_resources_fit import NodeResourcesFit
from lifecycle.scheduler.framework.types import always

WAITED = {
    "too-big", "selector-none", "affinity-absent", "port-3", "want-cp", "web-3", "cache-none", "gated", "bad-pvc", "preemptor",
}  # fmt: skip


def test_every_pod_that_waited_is_moved_as_recorded() -> None:
    table = scheduling_queue_agreement(open_recording())
    assert {row.input for row in table.rows} == WAITED
    assert table.equal, table.unexplained[:3]


def test_the_second_cluster_agrees_but_for_the_pod_whose_victim_was_still_being_deleted() -> None:
    """There the deletion was heard of before the preemption had ended, and a plugin kept the preemptor out for that long."""
    table = scheduling_queue_agreement(open_recording("kind-1.36.2-again"))
    assert {row.input for row in table.rows} == WAITED
    assert [row.input for row in table.rows if not row.equal] == ["preemptor"]


def test_the_log_has_every_place_and_many_events_that_help_nobody() -> None:
    moves = [move for each in recorded_moves(open_recording()).values() for move in each]
    assert {move.place for move in moves} == {"Active", "Backoff", "Unschedulable", STAYS}
    assert sum(move.place == STAYS for move in moves) > 80


def test_a_hint_that_always_says_yes_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    events = NodeResourcesFit.events_to_register

    def yes(self: NodeResourcesFit) -> object:
        return {**dict.fromkeys(events(self), always), POD_ADDED: always}

    monkeypatch.setattr(NodeResourcesFit, "events_to_register", yes)
    table = scheduling_queue_agreement(open_recording())
    assert "too-big" in {row.input for row in table.rows if not row.equal}


def test_without_a_back_off_the_preemptor_would_be_active_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SchedulingQueue, "backoff_duration", lambda self, queued: 0.0)
    table = scheduling_queue_agreement(open_recording())
    assert [row.input for row in table.rows if not row.equal] == ["preemptor"]
