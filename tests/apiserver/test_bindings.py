"""Bindings with another uid or another revision, to the old collection, to a leaving pod: as the real API server answered them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.bindings import ANSWERS, ASKED, answers
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


def test_some_are_refused_and_some_are_not() -> None:
    codes = [answer["status"] for answer in REAL]
    assert codes.count(409) >= 8
    assert codes.count(201) >= 12
