"""Expressions that choose devices: which of them the real API server takes, and why it refuses the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.device_selectors import ANSWERS, SELECTORS, answers
from tests.differential.replayed import ask_ours

REAL: list[str] = json.loads(ANSWERS.read_text())
KNOWN = {
    "device.attributes['d'].list.exists(x, x == 'a')": "an attribute may be anything here, and can be gone through"
}
"""Where ours says something else, and why."""


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return ask_ours(answers)


@pytest.mark.parametrize("number", range(len(SELECTORS)), ids=SELECTORS)
def test_it_is_taken_or_refused_as_by_the_real_server(ours: list[str], number: int) -> None:
    assert (ours[number] == REAL[number]) == (SELECTORS[number] not in KNOWN), (ours[number], REAL[number])


def test_some_are_taken_some_have_a_slip_and_some_cost_too_much() -> None:
    assert sum(not each for each in REAL) > 20
    assert sum("compilation failed" in each for each in REAL) > 2
    assert sum("exceeds cost limit" in each for each in REAL) > 4
