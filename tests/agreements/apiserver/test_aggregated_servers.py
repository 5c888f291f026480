"""Added servers that are not there: a real API server says the same of them."""

from __future__ import annotations

from lifecycle.agreements.apiserver.aggregated_servers import aggregation_agreement


def test_the_same_conditions_and_refusals_from_the_first_added_server_on() -> None:
    table = aggregation_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 8
