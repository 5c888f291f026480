"""Our answers to what a bare API server was asked in the scenario *versions*."""

from __future__ import annotations

from lifecycle.agreements.apiserver.conversion import conversion_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = conversion_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("versions")) > 40


def test_what_the_stored_version_does_not_know_is_lost() -> None:
    shirts = [row for row in conversion_agreement(open_recording(BARE)).rows if row.stage == "a shirt by v1beta1"]
    assert len(shirts) == 2
    stored = open_recording(BARE).exchanges("versions")
    assert [e.response["spec"] for e in stored if e.moment == "a shirt by v1beta1"] == [{"color": "blue"}] * 2
