"""All that is wrong with a history."""

from __future__ import annotations

from tests.linearizability.checker import unexplained
from tests.linearizability.operations import History, Operation
from tests.linearizability.register import Register
from tests.linearizability.revisions import broken_promises

SHOWN = 40


def problems(history: History) -> list[str]:
    """Empty if it is linearizable and keeps the promises about revisions. Raises UndecidedError."""
    found = list(broken_promises(history))
    for key, operations in sorted(history.by_key().items()):
        obstacle = unexplained(operations, Register(operations).step)
        if obstacle is not None:
            found.append(f"{key}: no order explains {obstacle}{_around(obstacle, operations)}")
    return found


def _around(obstacle: Operation, operations: list[Operation]) -> str:
    """The last that happened to the key until then."""
    before = sorted((each for each in operations if each.called <= obstacle.returned), key=lambda each: each.called)
    return "".join(f"\n    {each}" for each in before[-SHOWN:])
