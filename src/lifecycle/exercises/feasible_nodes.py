"""At scale: how many nodes does the scheduler look for, and where does it begin?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.scheduler.schedule_pod import num_feasible_nodes_to_find

CONTRACT = """\
enough(nodes, percentage) -> int

nodes:      how many there are.
percentage: of percentageOfNodesToScore, 0 if nobody has set it.
Returns how many fitting nodes are enough: the scheduler stops looking when it has found
so many. With fewer than 100 nodes it is all of them. Otherwise it is the percentage of
the nodes, rounded down, and at least 100. If there is none, the percentage is 50, less
one for every full 125 nodes, and at least 5."""

STARTER = '''\
def enough(nodes, percentage):
    """So many are enough."""
    return nodes * percentage // 100
'''

SEED = 36
SIZES = (0, 1, 99, 100, 101, 124, 125, 199, 200, 201, 250, 1000, 2499, 2500, 5000)
LARGE = (5624, 5625, 5626, 5749, 5750, 6000, 15_000, 150_000)


def cases() -> Iterator[Case]:
    """Clusters at the edges, and at random."""
    for nodes in SIZES + LARGE:
        yield _case("no percentage", nodes, 0)
    for percentage in (1, 5, 10, 33, 50, 99, 100):
        for nodes in SIZES:
            yield _case("a percentage", nodes, percentage)
    chance = Random(SEED)
    for _ in range(60):
        nodes = chance.randrange(20_000)
        yield _case("at random", nodes, chance.choice((0, 0, chance.randint(1, 100))))


def _case(group: str, nodes: int, percentage: int) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(nodes, percentage)  # noqa: E731
    label = f"{nodes:,} nodes" + (f", {percentage} %" if percentage else "")
    question = {"nodes": nodes, "percentage": percentage}
    expected = num_feasible_nodes_to_find(nodes, percentage)
    return Case(group, label, expected, ask, None, question)


def ours() -> Attempt:
    """The book's."""
    return num_feasible_nodes_to_find


EXERCISE = Exercise(
    "feasible-nodes",
    "How many nodes are enough",
    CONTRACT,
    STARTER,
    "the book's own scheduler",
    cases,
    ours,
    ("at-scale",),
)
