"""Custom kinds that ask for a format: which texts are of it, and what is said of the others and of formats that nobody checks.

What Kubernetes' own API server answered is in `answers_about_formats.jsonl.gz`; `python -m tests.differential.record formats` asks it
again.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lifecycle.apiserver.apiextensions.formats import is_of_format
from tests.differential.kept import read
from tests.differential.odd_texts import FORMED, FORMS
from tests.differential.replayed import found_otherwise

KEPT = read(Path(__file__).parent / "answers_about_formats.jsonl.gz")


@pytest.mark.parametrize("form", KEPT)
def test_a_text_is_of_a_format_where_the_real_server_says_so(form: str) -> None:
    found = found_otherwise(KEPT[form], definitions=(FORMED,))
    assert not found, "\n".join(found[:20])


def test_every_format_takes_some_texts_and_refuses_others() -> None:
    assert set(FORMS) < set(KEPT)
    for form in set(FORMS) - {"password", "quantity", "UUID", "int32", "x-made-up"}:
        steps, answers = KEPT[form]
        asked = sum(len(texts) for step in steps for texts in step.body.values() if isinstance(texts, list))
        causes = [
            cause for answer in answers if answer["status"] == 422 for cause in answer["body"]["details"]["causes"]
        ]
        refused = sum(cause["field"] != "<nil>" for cause in causes)
        assert 0 < refused < asked, form


PIECES = ("1", "a ", "a@b, ", "(", "\\", '" ', "a.", "0.", ":0", "%25", "=?x?q?", "1 ", "-1", "[", "aT", "µ")


@pytest.mark.parametrize("form", FORMS)
def test_no_format_takes_longer_than_its_text_is_long(form: str) -> None:
    start = time.process_time()
    for piece in PIECES:
        many = piece * (200_000 // len(piece))
        for text in (many, f"G: {many}", f"http://{many}@"):
            is_of_format(text, form)
    assert time.process_time() - start < 20  # of one that is quadratic, each text would take minutes
