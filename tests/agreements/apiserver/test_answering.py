"""Added servers that answer by a script."""

from __future__ import annotations

from lifecycle.agreements.apiserver.answering import answering_agreement


def test_ours_says_first_what_the_real_one_did() -> None:
    table = answering_agreement()
    assert [f"{row}{difference}" for row, difference in table.unexplained] == []
    assert {row.cluster for row in table.computed} == {"Passed", "FailedDiscoveryCheck"}
