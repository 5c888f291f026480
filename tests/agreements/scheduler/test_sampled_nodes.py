"""How many nodes are enough, for a real scheduler and for ours."""

from __future__ import annotations

from lifecycle.agreements.scheduler.sampled_nodes import sampled_nodes_agreement


def test_ours_stops_looking_when_the_real_one_did() -> None:
    table = sampled_nodes_agreement()
    assert [f"{pod}{difference}" for pod, difference in table.unexplained] == []
    assert len(table.computed) == 60
    assert sum(row.cluster == "100" for row in table.computed) < 30
