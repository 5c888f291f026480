"""Evidence counts only if other evidence would have counted against: a check must refuse a recording that is otherwise in one point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.agreements.forgetting import forget_scenes
from lifecycle.compare import claims
from tests.claims.tampered import TAMPERS
from tests.claims.tampered.tamper import Tamper
from tests.claims.test_checks_can_fail import LEDGER
from tests.conftest import RECORDINGS


@pytest.fixture(autouse=True)
def _checks() -> Iterator[None]:
    claims.import_checks(claim_checks)
    yield
    forget_scenes()  # what was remembered of a recording that is gone


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.what)
def test_tampered_evidence_is_refused(tamper: Tamper, tmp_path: Path) -> None:
    recording = tamper.of(RECORDINGS / "kind-1.36.2", tmp_path / "kind-1.36.2")
    checks = claims.checks()
    seen = {
        claim_id: claims.Cell(LEDGER[claim_id].verdicts["v1.36"], claims.ask(checks[claim_id], recording))
        for claim_id in tamper.reddens
    }
    assert [claim_id for claim_id, cell in seen.items() if not cell.contradicted] == []


def test_every_check_of_evidence_has_a_tampering() -> None:
    reddened = {claim_id for tamper in TAMPERS for claim_id in tamper.reddens}
    assert sorted(set(claims.checks()) ^ reddened) == []


def test_a_tampering_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(tamper.what for tamper in TAMPERS).items() if count > 1] == []
