"""How many fitting nodes a scheduler looks for before it has seen enough."""

from __future__ import annotations

import pytest

from lifecycle.scheduler.schedule_pod import num_feasible_nodes_to_find


@pytest.mark.parametrize(
    ("percentage", "nodes", "enough"),
    [
        # nobody says: half of a small cluster, a twentieth of a large one, a hundred at least
        (0, 1, 1), (0, 10, 10), (0, 99, 99), (0, 100, 100), (0, 101, 100), (0, 200, 100), (0, 250, 120), (0, 1000, 420),
        (0, 2000, 680), (0, 5000, 500), (0, 5500, 330), (0, 5625, 281), (0, 5750, 287), (0, 6000, 300), (0, 10000, 500),
        # somebody does
        (40, 10, 10), (40, 99, 99), (40, 200, 100), (40, 1000, 400), (40, 6000, 2400), (1, 1000, 100), (3, 6000, 180),
        (100, 1000, 1000), (100, 100, 100), (99, 101, 100), (70, 201, 140),
    ],
)  # fmt: skip
def test_the_more_nodes_there_are_the_smaller_a_share_is_enough(percentage: int, nodes: int, enough: int) -> None:
    """Upstream: `schedule_one.go` (`numFeasibleNodesToFind`) and its table, `TestNumFeasibleNodesToFind`."""
    assert num_feasible_nodes_to_find(nodes, percentage) == enough
