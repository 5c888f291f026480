"""One command, followed through our cluster, beside the recorded cluster's."""

from __future__ import annotations

import json

from lifecycle.agreements.whole_journey import whole_journey_agreement
from lifecycle.inspector import open_recording
from lifecycle.trace.recorded import requests_of
from lifecycle.trace.writes import writes_of


def test_ours_goes_the_same_way() -> None:
    table = whole_journey_agreement(open_recording())
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert [row.comparison.total > 0 for row in table.computed] == [True] * 3


def test_its_sentence_counts_as_many_writes_as_the_journey_shows_one_by_one() -> None:
    recording = open_recording()
    log = [json.loads(line) for line in recording.text("audit/journey.jsonl").splitlines()]
    shown = len(list(writes_of(requests_of(log))))
    sentence = whole_journey_agreement(recording).headline
    assert f"a real cluster's {shown} writes" in sentence
