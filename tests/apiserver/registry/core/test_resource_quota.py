"""Amounts of a quota are whole thousandths: what is less is rounded up, wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.registry.core.resource_quota import STRATEGY


@pytest.mark.parametrize(
    ("said", "amount"),
    [("100u", "1m"), ("1500u", "2m"), ("1", "1"), ("1k", "1k"), ("0", "0"), ("1n", "1m"), ("2m", "2m")],
)
@pytest.mark.parametrize(("part", "field"), [("spec", "hard"), ("status", "hard"), ("status", "used")])
def test_less_than_a_thousandth_is_one(part: str, field: str, said: str, amount: str) -> None:
    quota: dict[str, Any] = {"metadata": {"name": "q"}, part: {field: {"cpu": said, "pods": "3"}}}
    STRATEGY.set_defaults(quota)
    assert quota[part] == {field: {"cpu": amount, "pods": "3"}}


@pytest.mark.parametrize("quota", [{}, {"spec": None, "status": None}, {"spec": {}, "status": {"hard": None}}])
def test_nothing_stays_nothing(quota: dict[str, Any]) -> None:
    before = dict(quota)
    STRATEGY.set_defaults(quota)
    assert quota == before
