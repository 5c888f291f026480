"""Where our scheduler puts pods after news, and what it tells those that wait, as a real one did in the scenario *news*."""

from __future__ import annotations

import pytest

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.scheduler.news import news_agreement
from lifecycle.inspector import open_recording
from lifecycle.scheduler.framework.plugins import taint_toleration


def test_every_answer_is_the_recorded_one() -> None:
    table = news_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("news")) > 100


def test_a_scheduler_without_wishes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taint_toleration.TaintToleration, "score", lambda *_: 0)
    red = {row.stage for row in news_agreement(open_recording(BARE)).rows if row.unexplained}
    assert "with none that it minds" in red or "with one taint" in red
