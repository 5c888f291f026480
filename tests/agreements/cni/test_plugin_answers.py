"""What the real bridge and host-local made and printed, and what ours do."""

from __future__ import annotations

import pytest

from lifecycle.agreements.cni import plugin_answers
from lifecycle.agreements.cni.plugin_answers import plugins_agreement


def test_every_answer_is_the_recorded_one() -> None:
    table = plugins_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 25


def test_rules_in_another_order_of_words_are_the_same_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    real = plugin_answers.masquerade_rules
    monkeypatch.setattr(
        plugin_answers,
        "masquerade_rules",
        lambda *given: [(chain, rule[-4:] + rule[:-4]) for chain, rule in real(*given)],
    )
    assert plugins_agreement().equal
    monkeypatch.setattr(plugin_answers, "masquerade_rules", lambda *given: real(*given)[1:])
    assert {row.input for row in plugins_agreement().rows if row.unexplained} == {
        "masqueraded",
        "both families, the default gateway",
    }
