"""What a webhook is told of each kind of request, subresources and options too: what the real API server tells it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.admission_reviews import ANSWERS, STEPS, answers
from tests.differential.answers import differences
from tests.differential.replayed import ask_ours

REAL: list[Any] = json.loads(ANSWERS.read_text())


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return ask_ours(answers)


@pytest.mark.parametrize("number", range(len(STEPS)), ids=[f"{method} {path}" for method, path, *_ in STEPS])
def test_a_webhook_is_told_what_the_real_server_tells_it(ours: list[Any], number: int) -> None:
    real, mine = REAL[number], ours[number]
    assert (mine["status"], len(mine["reviews"])) == (real["status"], len(real["reviews"]))
    pairs = zip(real["reviews"], mine["reviews"], strict=True)
    found = [line for pair in pairs for line in differences(*({"status": 200, "body": body} for body in pair))]
    assert not found, "\n".join(map(str, found))


def test_a_webhook_is_told_of_a_scale_as_a_scale() -> None:
    paths = [path for _, path, *_ in STEPS]
    [review] = REAL[paths.index("/apis/apps/v1/namespaces/default/deployments/d/scale", 20)]["reviews"]
    assert (review["request"]["subResource"], review["request"]["object"]["kind"]) == ("scale", "Scale")
