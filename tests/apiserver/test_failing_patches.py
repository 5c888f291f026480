"""What is said of a JSON patch of a webhook or policy that cannot be applied: which operation failed and why, as by the real API server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.failing_patches import ANSWERS, ASKED, answers
from tests.differential.answers import differences
from tests.differential.replayed import ask_ours

REAL: list[Any] = json.loads(ANSWERS.read_text())


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return ask_ours(answers)


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[f"{by}: {name}" for by, name in ASKED])
def test_it_is_answered_as_the_real_server_did(ours: list[Any], number: int) -> None:
    found = list(differences(REAL[number], ours[number]))
    assert not found, "\n".join(map(str, (ASKED[number], *found)))


def test_only_a_test_that_fails_calls_a_policy_off() -> None:
    codes = {f"{by}: {name}": answer["status"] for (by, name), answer in zip(ASKED, REAL, strict=True)}
    assert [asked for asked, code in codes.items() if code == 201] == [
        "webhook: nothing-to-replace",
        "policy: a-test-of-another-value",
        "policy: a-test-of-nothing",
        "policy: a-change-and-a-test-that-fails",
    ]
