"""Checks are called from tests, from a command, and from a page that has a loop of its own: none may start a second one there."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

MODULES = sorted((ROOT / "src" / "lifecycle" / "agreements" / "claim_checks").glob("*.py"))
ELSEWHERE = {"on_a_loop.py"}  # does it in a thread, for all others


@pytest.mark.parametrize("module", [path for path in MODULES if path.name not in ELSEWHERE], ids=lambda path: path.stem)
def test_a_check_leaves_loops_to_on_a_loop(module) -> None:
    text = module.read_text()
    assert [call for call in ("asyncio.run(", "run_until_complete(", "asyncio.Runner(") if call in text] == []
