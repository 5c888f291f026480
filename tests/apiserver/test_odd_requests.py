"""Options that make no sense, methods that there are not, logs of pods without a node: as the real API server answered them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.odd_requests import ANSWERS, ASKED, answers
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


def test_there_are_answers_of_many_kinds() -> None:
    assert {answer["status"] for answer in REAL} >= {200, 201, 202, 204, 400, 405, 422}
