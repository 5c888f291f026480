"""What a real kubectl printed, and what ours prints."""

from __future__ import annotations

import pytest

from lifecycle.agreements.kubectl import printed
from lifecycle.agreements.kubectl.printed import NotOnTape, Player, printed_agreement
from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import run_virtual


def test_every_line_is_answered_as_by_the_real_one() -> None:
    table = printed_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 923


def test_ages_are_compared_where_something_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    real = printed.on_virtual_time
    monkeypatch.setattr(printed, "on_virtual_time", lambda lines, at: real(lines, at + 3600))
    red = [row.input for row in printed_agreement().rows if row.unexplained]
    assert "describe pod crashing" in red
    assert all(line.startswith("describe") for line in red)


def test_what_nobody_asked_for_then_is_not_answered() -> None:
    player = Player([("GET /api", 200, {}, "")])
    with pytest.raises(NotOnTape):
        run_virtual(player.round_trip(Request("GET", "/apis", {}, {}, b"")))
    assert player.strange == ["GET /apis"]
