"""What came of thinking pods away, node by node.

Of two pods of one kind and priority, the second would find the same victims as the
first, wherever the node is as it was and kept for the same pods. So what was found is
remembered, by the node's position, until one of the two changes.
"""

from __future__ import annotations

from collections.abc import Hashable

from lifecycle.scheduler.framework.handle import Candidate, PodNominator
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.status import Status

Answer = Candidate | Status
"""Who would have to leave a node, or why that does not help."""

MAX_KINDS = 8
"""Kinds of pods for which dry runs are remembered; the one used longest ago goes."""


class KnownAnswers:
    """For pods of one kind. `by_position`: None for a node that was not tried, or has
    changed since. Of no use any more once the snapshot has other `places`.
    """

    def __init__(self, snapshot: SharedLister, nominator: PodNominator) -> None:
        self.by_position: list[Answer | None] = [None] * len(snapshot)
        self.places = snapshot.position
        self._copies = snapshot.changes.count
        self._nominations = nominator.changes.count

    def catch_up(self, snapshot: SharedLister, nominator: PodNominator) -> None:
        """Forget what may not be true any more."""
        for position in snapshot.changes.since(self._copies):
            self.by_position[position] = None
        for name in nominator.changes.since(self._nominations):
            if name in self.places:
                self.by_position[self.places[name]] = None
        self._copies = snapshot.changes.count
        self._nominations = nominator.changes.count


class DryRuns:
    """The answers for some kinds of pods."""

    def __init__(self) -> None:
        self._by_kind: dict[Hashable, KnownAnswers] = {}

    def of(
        self, kind: Hashable, snapshot: SharedLister, nominator: PodNominator
    ) -> KnownAnswers:
        """What is known for pods of a kind; None: of no kind, and what is found is not
        kept.
        """
        known = self._by_kind.pop(kind, None)
        if known is None or known.places is not snapshot.position:
            known = KnownAnswers(snapshot, nominator)
        else:
            known.catch_up(snapshot, nominator)
        if kind is not None:
            self._by_kind[kind] = known
        if len(self._by_kind) > MAX_KINDS:
            del self._by_kind[next(iter(self._by_kind))]
        return known
