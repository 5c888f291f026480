"""Random requests in a row: objects are made, changed in four ways by several managers, read in every form, watched and deleted.

What Kubernetes' own API server answered is in `answers_to_scenes.jsonl.gz`; `python -m tests.differential.record scenes` asks it again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.kept import read
from tests.differential.replayed import found_otherwise

KEPT = list(read(Path(__file__).parent / "answers_to_scenes.jsonl.gz").values())
AT_ONCE = 25


@pytest.mark.parametrize("first", range(0, len(KEPT), AT_ONCE))
def test_requests_in_a_row_are_answered_as_the_real_server_did(first: int) -> None:
    found = found_otherwise(*KEPT[first : first + AT_ONCE])
    assert not found, "\n".join(found[:20])


def test_there_are_many_and_few_are_left_to_chance() -> None:
    answers = [answer for _, told in KEPT for answer in told]
    assert len(answers) > 1_500
    assert answers.count(None) < len(answers) / 20
