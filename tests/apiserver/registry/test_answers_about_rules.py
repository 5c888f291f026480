"""Fields that do not go together, in objects that are good without: answered as Kubernetes' own API server answered.

What it answered is in `answers_about_rules.jsonl.gz`; `python -m tests.differential.record rules` asks it again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.kept import read
from tests.differential.replayed import found_otherwise

KEPT = read(Path(__file__).parent / "answers_about_rules.jsonl.gz")


@pytest.mark.parametrize("kind", KEPT)
def test_what_does_not_go_together_is_refused_as_by_the_real_server(kind: str) -> None:
    found = found_otherwise(KEPT[kind])
    assert not found, "\n".join(found[:20])


def test_each_kind_begins_with_one_that_is_good() -> None:
    assert {kind: answers[0]["status"] for kind, (_, answers) in KEPT.items()} == dict.fromkeys(KEPT, 201)


def test_most_are_refused_and_few_are_left_to_chance() -> None:
    answers = [answer for _, told in KEPT.values() for answer in told]
    assert answers.count(None) < len(answers) / 50
    assert sum(answer["status"] == 422 for answer in answers if answer) > len(answers) / 2
