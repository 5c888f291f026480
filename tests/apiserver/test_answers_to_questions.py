"""Access reviews that cannot be read in part, what a kubelet may not say of its pods, addresses, and odd custom objects.

What Kubernetes' own API server answered is in `answers_to_questions.jsonl.gz`; `python -m tests.differential.record questions` asks it
again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.definitions import DEFINITIONS
from tests.differential.kept import read
from tests.differential.replayed import found_otherwise

KEPT = read(Path(__file__).parent / "answers_to_questions.jsonl.gz")


@pytest.mark.parametrize("case", KEPT)
def test_a_question_is_answered_as_the_real_server_did(case: str) -> None:
    found = found_otherwise(KEPT[case], definitions=DEFINITIONS)
    assert not found, "\n".join(found[:20])


def test_there_are_many_and_none_is_left_to_chance() -> None:
    answers = [answer for _, told in KEPT.values() for answer in told]
    assert len(answers) > 2_000
    assert None not in answers
