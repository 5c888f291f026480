"""Webhooks that answer oddly, name other kinds and places, or say nothing: what is made of it is what the real API server makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.answering_webhooks import ANSWERS, ASKED, answers
from tests.differential.answers import differences
from tests.differential.replayed import ask_ours

REAL: list[Any] = json.loads(ANSWERS.read_text())


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return ask_ours(answers)


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[" ".join(asked) for asked in ASKED])
def test_it_is_answered_as_the_real_server_did(ours: list[Any], number: int) -> None:
    found = list(differences(REAL[number], ours[number]))
    assert not found, "\n".join(map(str, (ASKED[number], *found)))


def test_no_webhook_puts_an_object_elsewhere() -> None:
    said = dict(zip(ASKED, REAL, strict=True))
    for what in ("gives-another-namespace", "gives-another-kind", "gives-a-version-that-is-none"):
        assert said["mutating", "Fail", what]["status"] >= 400
