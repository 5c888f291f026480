"""A check that cannot fail proves nothing: break what a claim is about in our component, and its check must refuse.

To refuse is to contradict the ledger, or an assertion of the check's own. A check that falls over in what was broken has refused
nothing: it would fall over as well if the claim were true, so that is a failure of this test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.agreements.forgetting import forget_scenes
from lifecycle.compare import claims
from tests.claims.broken import BREAKAGES
from tests.claims.broken.breakage import Breakage
from tests.conftest import ROOT

LEDGER = {claim.id: claim for claim in claims.load_claims(ROOT / "book" / "claims.yaml")}


@pytest.fixture(autouse=True)
def _fresh_scenes() -> Iterator[None]:
    claims.import_checks(claim_checks)
    forget_scenes()
    yield
    forget_scenes()


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.what)
def test_a_broken_component_is_refused(breakage: Breakage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logging.Logger.handle", lambda *_: None)  # what is broken may complain
    breakage.apply(monkeypatch)
    assert [claim_id for claim_id in breakage.reddens if not claims.rebuilt_cell(LEDGER[claim_id]).contradicted] == []


def test_every_check_of_our_components_has_a_breakage() -> None:
    reddened = {claim_id for breakage in BREAKAGES for claim_id in breakage.reddens}
    assert sorted(set(claims.rebuilt_checks()) ^ reddened) == []


def test_a_breakage_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(breakage.what for breakage in BREAKAGES).items() if count > 1] == []
