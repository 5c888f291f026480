"""Answers that the embedded cluster was given are marked, and what it worked out is not."""

from __future__ import annotations

import pytest

from lifecycle.cluster.agree import agreement_with
from lifecycle.cluster.given import PAST, PLANTED, PUBLISHED, mark_given
from lifecycle.compare import AgreementTable, compare
from lifecycle.inspector import open_recording


@pytest.mark.parametrize(("scenario", "reason"), [("objects", PLANTED), ("discovery", PUBLISHED)])
def test_what_was_planted_or_published_is_no_evidence(scenario: str, reason: str) -> None:
    table = agreement_with(open_recording(), scenario)
    assert {row.given for row in table.given} == {reason}
    assert len(table.given) > len(table.computed) > 0
    assert table.total == sum(row.comparison.total for row in table.computed)


def test_created_objects_lists_of_them_and_refusals_are_worked_out() -> None:
    recording = open_recording()
    exchanges = recording.exchanges("storage")
    table = AgreementTable("t", "ours", "theirs")
    for exchange in exchanges:
        table.add("storage", f"{exchange.method} {exchange.path}", "", "", compare(1, 1))
    mark_given(table, recording, exchanges)
    assert {row.given for row in table.given} == {PAST}
    assert len(table.given) == 1
