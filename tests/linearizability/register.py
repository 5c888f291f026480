"""What one key should be: a register whose writes are conditional on the revision that they are based on."""

from __future__ import annotations

from collections.abc import Iterable

from tests.linearizability.operations import Operation, Outcome, State

NOBODY_KNOWS = -1
"""The revision of a write whose answer was lost and whose value nobody has read: nobody can have based anything on it."""


class Register:
    """`step` says what an operation does to a state. Each value is written by one operation only.

    A write without an answer has the revision under which its value was read by anybody.
    """

    def __init__(self, history: Iterable[Operation]) -> None:
        self._revisions = {
            operation.state[0]: operation.state[1] for operation in history if operation.state is not None
        }

    def step(self, state: State, operation: Operation) -> tuple[bool, State]:
        """Whether the operation may come next, and the state after it."""
        if operation.what == "get":
            return state == operation.state, state
        met = _is_met(state, operation)
        if operation.outcome is Outcome.REFUSED:
            return not met, state
        if not met:
            return False, state
        if operation.what == "delete":
            return True, None
        revision = operation.revision or self._revisions.get(operation.value, NOBODY_KNOWS)
        return True, (operation.value, revision)


def _is_met(state: State, operation: Operation) -> bool:
    if operation.what == "create":
        return state is None
    return state is not None and operation.expected in (0, state[1])
