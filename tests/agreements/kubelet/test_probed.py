"""Probes: a real kubelet calls the same containers ready, started and dead, and says the same."""

from __future__ import annotations

from lifecycle.agreements.kubelet.probed import probe_agreement


def test_the_same_answers_come_to_the_same() -> None:
    table = probe_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 14
