"""Parameters of admission policies, those that are not there too: what is done with them is what the real API server does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.policy_parameters import ANSWERS, ASKED, answers
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


def test_parameters_of_custom_kinds_are_found() -> None:
    said = dict(zip(ASKED, REAL, strict=True))
    path = "/api/v1/namespaces/default/configmaps"
    assert "it is low" in said["validating", "a-custom-kind", path]["body"]["message"]
    assert said["mutating", "all-of-a-custom-kind", path]["body"]["metadata"]["labels"] == {"it": "low"}
