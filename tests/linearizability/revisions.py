"""What the one counter of revisions promises about all keys together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tests.linearizability.operations import History, Listing, Operation, Outcome


def broken_promises(history: History) -> Iterator[str]:
    """One sentence for each."""
    yield from _later_is_higher(history)
    writes: dict[str, list[tuple[int, str]]] = {}
    for operation in history.operations:
        if operation.revision:
            writes.setdefault(operation.key, []).append((operation.revision, operation.value))
    for rows in writes.values():
        rows.sort()
    for listing in history.listings:
        for key, rows in writes.items():
            why = _torn(listing, key, rows, history.operations)
            if why:
                yield f"the list at {listing.revision} of client {listing.client}: {why}"


def _later_is_higher(history: History) -> Iterator[str]:
    """Who asks after a write was acknowledged is told of a higher revision, or, as a reader, of none that is lower."""
    events: list[tuple[int, int, int, bool]] = []  # called, returned, revision, whether it writes
    events += [(each.called, each.returned, each.revision, True) for each in history.operations if each.revision]
    events += [(each.called, each.returned, each.revision, False) for each in history.listings]
    events.sort(key=lambda event: event[1])
    returned = [event[1] for event in events]
    highest: list[int] = []
    for event in events:
        highest.append(max(event[2], highest[-1] if highest else 0))
    for called, _, revision, writes in events:
        before = bisect_right(returned, called)
        if before and revision < highest[before - 1] + writes:
            kind = "a write" if writes else "a list"
            yield f"{kind} called at {called} has revision {revision}, though {highest[before - 1]} was told before"


def _torn(listing: Listing, key: str, rows: list[tuple[int, str]], operations: list[Operation]) -> str:
    """Why the list cannot be the picture at its revision. `rows`: the acknowledged writes of the key, in order."""
    item = listing.items.get(key)
    until = bisect_right(rows, (listing.revision, "\uffff"))
    last = rows[until - 1][0] if until else 0
    if item is not None and item[1] > listing.revision:
        return f"{key} is of {item[1]}, which is later"
    if item is not None and item[1] < last:
        return f"{key} is of {item[1]}, though it was written at {last}"
    if item is None and last and not any(_may_have_deleted(each, key, last) for each in operations):
        return f"{key} is missing, though it was written at {last} and nobody deleted it"
    return ""


def _may_have_deleted(operation: Operation, key: str, revision: int) -> bool:
    """A write without an answer may have come in between; then it was that which somebody deleted."""
    if operation.key != key or operation.outcome is Outcome.REFUSED:
        return False
    deletes = operation.what == "delete" and operation.expected in (0, revision)
    return deletes or operation.outcome is Outcome.UNKNOWN
