"""What an update carries over, drops or forbids: Services of each type become each other, pods and jobs say one thing after another.

What Kubernetes' own API server answered is in `answers_to_transitions.jsonl.gz`; `python -m tests.differential.record transitions`
asks it again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.kept import read
from tests.differential.replayed import found_otherwise

KEPT = read(Path(__file__).parent / "answers_to_transitions.jsonl.gz")


@pytest.mark.parametrize("name", KEPT)
def test_one_state_after_another_is_answered_as_the_real_server_did(name: str) -> None:
    found = found_otherwise(KEPT[name])
    assert not found, "\n".join(found[:20])


def test_there_are_many_and_few_are_left_to_chance() -> None:
    answers = [answer for _, told in KEPT.values() for answer in told]
    assert len(answers) > 4_000
    assert answers.count(None) < len(answers) / 50
