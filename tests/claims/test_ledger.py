"""Every check in the ledger agrees with the ledger's verdicts: over the recordings, and over what we rebuilt."""

from __future__ import annotations

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.compare import claims
from lifecycle.compare.ledger_page import LedgerPage, load_reasons, pages_of_claims
from lifecycle.compare.program_answers import recorded_programs
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS, ROOT

EVIDENCE = {"v1.36": Recording(RECORDINGS / "kind-1.36.2"), "v1.20": Recording(RECORDINGS / "bare-1.20.2")}


@pytest.fixture(scope="module")
def matrix() -> claims.ClaimsMatrix:
    claims.import_checks(claim_checks)
    return claims.ClaimsMatrix(
        claims.load_claims(ROOT / "book" / "claims.yaml"), EVIDENCE, programs=recorded_programs(RECORDINGS)
    )


def test_no_check_contradicts_the_ledger(matrix):
    assert matrix.contradicted == []


def test_every_check_says_something(matrix):
    seen = {(claim_id, column) for (claim_id, column), cell in matrix.cells.items() if cell.seen is not None}
    silent = {
        "recorded": [each for each in claims.checks() if not {(each, version) for version in EVIDENCE} & seen],
        "live": [each for each in claims.live_checks() if (each, claims.live_column("v1.36")) not in seen],
        "rebuilt": [each for each in claims.rebuilt_checks() if (each, claims.REBUILT) not in seen],
    }
    assert silent == {"recorded": [], "live": [], "rebuilt": []}


@pytest.mark.parametrize("version", EVIDENCE)
def test_the_ledger_names_the_evidence_that_there_is(matrix, version):
    wrong = {
        claim.id: (claim.evidence[version], matrix.kinds(claim, version))
        for claim in matrix.ledger
        if claim.evidence[version] != matrix.kinds(claim, version)
    }
    assert wrong == {}


def test_every_verdict_of_the_newest_version_has_evidence(matrix):
    assert [claim.id for claim in matrix.ledger if not matrix.kinds(claim)] == []
    assert sum(matrix.counts.values()) == len(matrix.ledger)


def test_nothing_is_known_by_hearsay():
    ledger = (ROOT / "book" / "claims.yaml").read_text()
    assert [word for word in ("general knowledge", "No live cluster", "knowledge (") if word in ledger] == []


def test_what_is_only_read_in_source_says_why_and_where(matrix):
    reasons = load_reasons(ROOT / "book" / "unchecked.yaml")
    assert {claim.id for claim in matrix.read_in_source} == set(reasons)
    assert [claim.id for claim in matrix.read_in_source if not claim.sources] == []
    assert len(reasons) <= 30


def test_every_claim_has_a_paragraph_to_link_to(matrix):
    pages = pages_of_claims(ROOT / "book")
    assert [claim.id for claim in matrix.ledger if claim.id not in pages] == []


def test_the_page_counts_by_kind_of_evidence(matrix):
    page = LedgerPage(matrix, {}, load_reasons(ROOT / "book" / "unchecked.yaml"))._repr_html_()
    for kind, count in matrix.counts.items():
        assert count > 0, kind
        assert f"<b>{count}</b>" in page, kind
    assert page.count("read in source:") == matrix.counts["source"]
    assert page.count("<p>") == len(matrix.ledger)
