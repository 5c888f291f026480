"""Every kept case, replayed against our server: it must answer what the real one answered."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from tests.differential.case import CASES, load
from tests.differential.replayed import disagreements

KEPT = sorted(CASES.glob("*.yaml"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_ours_answers_as_the_real_server_did(path: Any) -> None:
    case = load(path)
    found = run_virtual(disagreements((case.steps, case.answers)))
    if case.known:
        assert found, f"{path.name} agrees now: take out `known: {case.known}`"
    else:
        assert not found, "\n".join(found)


def test_there_are_cases() -> None:
    assert len(KEPT) >= 20
