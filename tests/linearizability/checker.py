"""The search for an order that explains all answers.

Calls and returns stand in a list, in the order in which they happened. The search takes a call out of it – and its return – if the
operation may come next, and begins at the front again. Whoever meets a return first has left out an operation that ended before anything
else could begin: the last one taken goes back to its place, and the search goes on behind it. What was tried is remembered as the set of
operations taken and the state they led to: two ways to the same configuration have the same future.

An operation without an answer has no return. It need not be taken at all, so it is taken only where it changes something, and
the search has succeeded as soon as no return is left.

After G. Lowe, "Testing for linearizability" (2017), algorithm and figure 3, and porcupine's `checker.go` (`checkSingle`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.linearizability.operations import NEVER, Operation, State

Step = Callable[[State, Operation], tuple[bool, State]]

MOST = 200_000
"""Configurations that are tried before the search gives up."""


class UndecidedError(Exception):
    """There were too many configurations."""


class _Entry:
    """A call (`match` is its return, if there is one) or a return."""

    __slots__ = ("after", "before", "bit", "is_call", "match", "operation")

    def __init__(self, operation: Operation, bit: int, is_call: bool) -> None:
        self.operation, self.bit, self.is_call = operation, bit, is_call
        self.match: _Entry | None = None
        self.before: _Entry | None = None
        self.after: _Entry | None = None

    def take(self) -> None:
        """Out of the list, and the return with it."""
        for each in (self, self.match):
            if each is not None:
                assert each.before is not None
                each.before.after = each.after
                if each.after is not None:
                    each.after.before = each.before

    def put_back(self) -> None:
        """The other way round."""
        for each in (self.match, self):
            if each is not None:
                assert each.before is not None
                each.before.after = each
                if each.after is not None:
                    each.after.before = each


def _listed(operations: Sequence[Operation]) -> _Entry:
    """The list's head, which is neither call nor return."""
    events: list[tuple[int, _Entry]] = []
    for number, operation in enumerate(operations):
        call = _Entry(operation, 1 << number, True)
        events.append((operation.called, call))
        if operation.returned < NEVER:
            call.match = _Entry(operation, 1 << number, False)
            events.append((operation.returned, call.match))
    head = last = _Entry(Operation(-1, "", "", -1), 0, True)
    for _, entry in sorted(events, key=lambda event: event[0]):
        last.after, entry.before = entry, last
        last = entry
    return head


def unexplained(operations: Sequence[Operation], step: Step, state: State = None, most: int = MOST) -> Operation | None:
    """None if there is an order; else the operation that the search could never get past. Raises UndecidedError."""
    head = _listed(operations)
    entry, taken = head.after, 0
    tried: set[tuple[int, State]] = set()
    way: list[tuple[_Entry, State]] = []
    farthest, obstacle = -1, None
    while entry is not None:
        if entry.is_call:
            legal, then = step(state, entry.operation)
            if legal and (taken | entry.bit, then) not in tried:
                if len(tried) >= most:
                    raise UndecidedError(f"more than {most} configurations of {len(operations)} operations")
                taken |= entry.bit
                tried.add((taken, then))
                way.append((entry, state))
                state = then
                entry.take()
                entry = head.after
            else:
                entry = entry.after
            continue
        if entry.operation.returned > farthest:
            farthest, obstacle = entry.operation.returned, entry.operation
        if not way:
            return obstacle
        entry, state = way.pop()
        taken &= ~entry.bit
        entry.put_back()
        entry = entry.after
    return None
