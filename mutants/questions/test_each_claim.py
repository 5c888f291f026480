"""The ledger, claim by claim: whoever breaks a line asks only the claims whose checks run it.

`tests/claims/test_ledger.py` asks all of them at once, which says the same and takes as long for one claim as for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.compare import claims
from lifecycle.compare.program_answers import recorded_programs
from lifecycle.inspector import Recording
from mutants.workshop import CHECKOUT

RECORDINGS = CHECKOUT / "recordings"
claims.import_checks(claim_checks)
LEDGER = claims.load_claims(CHECKOUT / "book" / "claims.yaml")
RECORDED = {"v1.36": Recording(RECORDINGS / "kind-1.36.2"), "v1.20": Recording(RECORDINGS / "bare-1.20.2")}
WITNESSES: dict[str, tuple[Mapping[str, claims.Check], Mapping[str, Any]]] = {
    claims.RECORDED: (claims.checks(), RECORDED),
    claims.LIVE: (claims.live_checks(), recorded_programs(RECORDINGS)),
}
REBUILT = [claim for claim in LEDGER if claim.id in claims.rebuilt_checks()]
WITNESSED = [
    (claim, version, kind)
    for claim in LEDGER
    for version, kinds in claim.evidence.items()
    for kind in kinds
    if kind in WITNESSES
]


@pytest.mark.parametrize("claim", REBUILT, ids=lambda claim: claim.id)
def test_our_component_does_what_the_ledger_says(claim: claims.Claim) -> None:
    """The column *rebuilt*."""
    cell = claims.rebuilt_cell(claim)
    assert cell.seen is not None
    assert not cell.contradicted


@pytest.mark.parametrize(
    ("claim", "version", "kind"), WITNESSED, ids=[f"{claim.id}-{version}-{kind}" for claim, version, kind in WITNESSED]
)
def test_the_evidence_says_what_the_ledger_says(claim: claims.Claim, version: str, kind: str) -> None:
    """The columns of the recordings and of the programs."""
    bound, evidence = WITNESSES[kind]
    cell = claims.Cell(claim.verdicts[version], claims.ask(bound[claim.id], evidence[version]))
    assert cell.seen is not None
    assert not cell.contradicted
