"""What clients asked and what they were told, in the order in which it happened."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from enum import Enum

State = tuple[str, int] | None
"""What a key holds: a value, and the revision that wrote it; None: nothing."""

NEVER = 1 << 62
"""When an operation returned whose answer never came."""


class Outcome(Enum):
    """How an operation ended."""

    DONE = "done"
    REFUSED = "refused"
    """Its condition was not met: what was to be created is there, what was to be changed is another one or gone."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Operation:
    """`called` and `returned` are places in the order of all calls and returns. `expected`: the revision that an update or a delete
    was based on (0: a delete of whatever is there). `revision`: what a write was told that it made. `state`: what a read was told.
    """

    client: int
    what: str
    key: str
    called: int
    returned: int = NEVER
    value: str = ""
    expected: int = 0
    outcome: Outcome = Outcome.UNKNOWN
    revision: int = 0
    state: State = None

    def __str__(self) -> str:
        asked = " ".join([self.what, self.key, self.value, f"if {self.expected}" if self.expected else ""])
        told: object = self.outcome.value
        if self.outcome is Outcome.DONE:
            told = self.state if self.what == "get" else self.revision or told
        ended = self.returned if self.returned < NEVER else "…"
        return f"[{self.called}, {ended}] client {self.client}: {' '.join(asked.split())} → {told}"


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of all keys: one picture at one revision."""

    client: int
    called: int
    returned: int
    revision: int
    items: dict[str, tuple[str, int]]


@dataclass
class History:
    """What clients note. An operation that definitely did nothing and says nothing (a read without an answer, a write that was
    turned away) is not in it.
    """

    operations: list[Operation] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    _order: itertools.count[int] = field(default_factory=itertools.count)

    def now(self) -> int:
        """The next place in the order."""
        return next(self._order)

    def note(self, operation: Operation, outcome: Outcome, revision: int = 0, state: State = None) -> None:
        """It has ended just now. One without an answer never does."""
        returned = NEVER if outcome is Outcome.UNKNOWN else self.now()
        self.operations.append(replace(operation, returned=returned, outcome=outcome, revision=revision, state=state))

    def by_key(self) -> dict[str, list[Operation]]:
        """A history for each key. A list is a read of each key that anybody wrote."""
        keys: dict[str, list[Operation]] = {}
        for operation in self.operations:
            keys.setdefault(operation.key, []).append(operation)
        for listing in self.listings:
            for key, operations in keys.items():
                state = listing.items.get(key)
                asked = Operation(listing.client, "get", key, listing.called, listing.returned)
                operations.append(replace(asked, outcome=Outcome.DONE, state=state))
        return keys
