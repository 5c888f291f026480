"""The page of the articles names every text that a claim of the ledger comes from, and says what is not known of it."""

from __future__ import annotations

import re

from lifecycle.compare.claims import load_claims
from tests.conftest import ROOT

PAGE = (ROOT / "book" / "the-articles.md").read_text()
LEDGER = load_claims(ROOT / "book" / "claims.yaml")


def test_every_text_of_the_ledger_is_named() -> None:
    told = {article for claim in LEDGER for article in claim.articles}
    listed = set(re.findall(r"^\| `(\S+\.txt)` \|", PAGE, re.M))
    assert told == listed
    assert len(told) == 4


def test_a_state_of_a_repository_is_named_by_its_whole_commit() -> None:
    states = re.findall(r"https://github\.com/[\w-]+/[\w-]+/blob/(\w+)/", PAGE)
    assert len(states) == 4
    assert [state for state in states if len(state) != 40] == []
