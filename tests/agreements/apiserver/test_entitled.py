"""What a node may do, at a real API server and at ours."""

from __future__ import annotations

from lifecycle.agreements.apiserver.entitled import entitled_agreement


def test_each_right_of_a_node_and_each_reason_is_that_of_the_real_server() -> None:
    table = entitled_agreement()
    assert [f"{row}{difference}" for row, difference in table.unexplained] == []
    assert len(table.computed) == 19
    assert sum(row.comparison.total for row in table.computed) > 1500
