"""An odd value in each field of each kind: a text with signs, a text without, a number too small, none, one too large, nothing at all.

What Kubernetes' own API server said to each – refusals word for word, and of what it took every field with its default – is in
`answers_of_fields.jsonl.gz`; `python -m tests.differential.record fields` asks it again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.kept import read
from tests.differential.replayed import found_otherwise

KEPT = read(Path(__file__).parent / "answers_of_fields.jsonl.gz")


@pytest.mark.parametrize("kind", KEPT)
def test_an_odd_value_in_each_field_is_answered_as_the_real_server_did(kind: str) -> None:
    found = found_otherwise(KEPT[kind])
    assert not found, "\n".join(found[:20])


def test_nearly_all_of_them_are_there_and_few_are_left_to_chance() -> None:
    answers = [answer for _, told in KEPT.values() for answer in told]
    assert len(KEPT) > 60
    assert len(answers) > 8_000
    assert answers.count(None) < len(answers) / 50
