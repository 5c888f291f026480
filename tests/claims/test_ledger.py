"""Every check in the ledger agrees with the ledger's verdicts: over the recordings, and over what we rebuilt."""

from __future__ import annotations

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.compare import claims
from lifecycle.compare.ledger_page import load_reasons, where_told
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS, ROOT

EVIDENCE = {"v1.36": Recording(RECORDINGS / "kind-1.36.2"), "v1.20": Recording(RECORDINGS / "bare-1.20.2")}


@pytest.fixture(scope="module")
def matrix() -> claims.ClaimsMatrix:
    claims.import_checks(claim_checks)
    return claims.ClaimsMatrix(claims.load_claims(ROOT / "book" / "claims.yaml"), EVIDENCE)


def test_no_check_contradicts_the_ledger(matrix):
    assert matrix.contradicted == []


def test_every_check_says_something(matrix):
    silent = [
        claim.id
        for claim in matrix.claims
        if claim not in matrix.unchecked and all(matrix.cells[claim.id, c].seen is None for c in ("rebuilt", *EVIDENCE))
    ]
    assert silent == []


def test_every_claim_is_checked_or_says_why_not(matrix):
    reasons = load_reasons(ROOT / "book" / "unchecked.yaml")
    assert {claim.id for claim in matrix.unchecked} == set(reasons)
    assert len(reasons) < len(matrix.ledger) // 5


def test_every_claim_has_a_paragraph_to_link_to(matrix):
    told = where_told(ROOT / "book")
    assert [claim.id for claim in matrix.ledger if claim.id not in told] == []
