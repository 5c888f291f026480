"""Evictions of pods of all kinds, with budgets of all kinds: as the real API server answered them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.evictions import ANSWERS, ASKED, answers
from tests.differential.answers import differences
from tests.differential.replayed import ask_ours

REAL: list[Any] = json.loads(ANSWERS.read_text())


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return ask_ours(answers)


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[f"{method} {path}" for method, path, _ in ASKED])
def test_it_is_answered_as_the_real_server_did(ours: list[Any], number: int) -> None:
    found = list(differences(REAL[number], ours[number]))
    assert not found, "\n".join(map(str, (ASKED[number], *found)))


def test_some_go_some_have_to_stay_and_some_have_two_budgets() -> None:
    codes = [answer["status"] for answer, (_, path, _) in zip(REAL, ASKED, strict=True) if "eviction" in path]
    assert codes.count(201) >= 30
    assert codes.count(429) >= 10
    assert codes.count(500) >= 5
