"""Our controllers' decisions beside the real controller manager's."""

from __future__ import annotations

import pytest

from lifecycle.agreements.controllers.decisions import mirroring_agreement, scaling_agreement


@pytest.mark.parametrize(("agreement", "rows"), [(scaling_agreement, 19), (mirroring_agreement, 11)])
def test_the_real_one_decided_the_same(agreement, rows) -> None:  # type: ignore[no-untyped-def]
    table = agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == rows
