"""Our answers about what was charged, refused and given back in the scenario *quotas*."""

from __future__ import annotations

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.controllers.quotas import quota_agreement
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = quota_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("quotas")) > 130
