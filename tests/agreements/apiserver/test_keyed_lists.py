"""Our answers about what several managers applied in the scenario *keyed-lists*."""

from __future__ import annotations

from lifecycle.agreements.apiserver.keyed_lists import keyed_list_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = keyed_list_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("keyed-lists")) > 110
