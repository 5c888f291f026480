"""What a decision tells of itself: how many nodes were looked at, how many would have done, and what each was worth."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.scheduler import decide, node, pod
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.schedule_pod import NoNodesAvailable


@pytest.mark.parametrize(
    ("rooms", "evaluated", "feasible"),
    [
        (["4"], 1, 1),
        (["4", "0"], 2, 1),
        (["0", "0", "4"], 3, 1),
        (["4", "4"], 2, 2),
        (["4", "0", "4", "0", "4"], 5, 3),
    ],
)
def test_all_nodes_of_a_small_cluster_are_looked_at_and_those_that_fit_are_scored(
    rooms: list[str], evaluated: int, feasible: int
) -> None:
    """One that is the only one need not be worth anything. Upstream: `schedulePod`, `ScheduleResult`."""
    nodes = [node(str(number), cpu=cpu) for number, cpu in enumerate(rooms)]
    result = decide(nodes, [], pod("p", cpu="1"))
    assert (result.evaluated_nodes, result.feasible_nodes) == (evaluated, feasible)
    fitting = {str(number) for number, cpu in enumerate(rooms) if cpu != "0"}
    assert result.suggested_host in fitting
    assert {name for scores in result.scores.values() for name in scores} == (fitting if feasible > 1 else set())


def test_where_none_fits_each_has_its_reason_and_where_none_is_there_is_no_question() -> None:
    with pytest.raises(FitError) as unfit:
        decide([node("a", cpu="0"), node("b", cpu="0")], [], pod("p", cpu="1"))
    assert str(unfit.value).startswith("0/2 nodes are available: 2 Insufficient cpu.")
    with pytest.raises(NoNodesAvailable):
        decide([], [], pod("p"))
