"""A live witness counts only if another answer would have counted against: a check must refuse answers that are otherwise in one point."""

from __future__ import annotations

from collections import Counter

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.compare import claims
from tests.claims.tampered.programs import OTHER_ANSWERS, OtherAnswer
from tests.claims.test_checks_can_fail import LEDGER
from tests.conftest import RECORDINGS


@pytest.fixture(autouse=True)
def _checks() -> None:
    claims.import_checks(claim_checks)


@pytest.mark.parametrize("other", OTHER_ANSWERS, ids=lambda other: other.what)
def test_another_answer_is_refused(other: OtherAnswer) -> None:
    answers, checks = other.of(RECORDINGS / "programs-1.36.2"), claims.live_checks()
    cells = {
        claim_id: claims.Cell(LEDGER[claim_id].verdicts["v1.36"], claims.ask(checks[claim_id], answers))
        for claim_id in other.reddens
    }
    assert [claim_id for claim_id, cell in cells.items() if not cell.contradicted] == []


def test_every_check_of_programs_has_another_answer() -> None:
    reddened = {claim_id for other in OTHER_ANSWERS for claim_id in other.reddens}
    assert sorted(set(claims.live_checks()) ^ reddened) == []


def test_another_answer_stands_here_once() -> None:
    assert [what for what, count in Counter(other.what for other in OTHER_ANSWERS).items() if count > 1] == []
