"""Who has a say in questions that are only answered: webhooks have, policies have not, as the real API server does it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.admitted_reviews import ANSWERS, PLUGINS, REVIEWS, answers
from tests.differential.answers import differences
from tests.differential.replayed import ask_ours

REAL: list[Any] = json.loads(ANSWERS.read_text())
ASKED = [f"{plugin}: {what}" for plugin in PLUGINS for what in ("configmaps", *(path for path, _ in REVIEWS))]


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return ask_ours(answers)


@pytest.mark.parametrize("number", range(len(ASKED)), ids=ASKED)
def test_it_is_answered_as_the_real_server_did(ours: list[Any], number: int) -> None:
    found = list(differences(REAL[number], ours[number]))
    assert not found, "\n".join(map(str, (ASKED[number], *found)))


def test_each_plugin_refuses_what_it_sees_and_policies_see_no_questions() -> None:
    each = len(REVIEWS) + 1
    codes = [[answer["status"] for answer in REAL[at : at + each]] for at in range(0, len(REAL), each)]
    assert all(first >= 400 for first, *_ in codes)
    assert [sum(code == 201 for code in rest) for _, *rest in codes] == [0, 0, 6, 6]
