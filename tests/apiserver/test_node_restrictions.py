"""A node that has all rights is still kept to what is its own: each request as the real API server answered it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.node_restrictions import ANSWERS, ASKED, answers
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


def test_most_is_refused_and_some_is_not() -> None:
    codes = [answer["status"] for answer in REAL]
    assert codes.count(403) > 15
    assert codes.count(201) >= 4
