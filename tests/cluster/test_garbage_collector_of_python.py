"""How often a process that serves a cluster lets Python look for garbage, and how much it looks at in one go."""

from __future__ import annotations

import gc
from unittest.mock import Mock

import pytest

from lifecycle.cluster.background import favour_throughput


def test_the_young_are_looked_at_in_portions_and_all_there_is_hardly_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    called = Mock()
    for name in ("collect", "freeze", "set_threshold"):
        monkeypatch.setattr(gc, name, getattr(called, name))
    favour_throughput()
    assert [name for name, *_ in called.mock_calls] == ["collect", "freeze", "set_threshold"]
    youngest, young, old = called.set_threshold.call_args.args
    assert youngest * young <= 200_000  # a few dozen milliseconds, for which nobody else has the interpreter
    assert youngest * young * old >= 5_000_000_000
