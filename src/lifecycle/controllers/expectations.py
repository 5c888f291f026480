"""What a controller has asked for and not yet seen.

A controller reads from a cache that runs behind its own writes. Having created three
pods, it may look again before the watch has told it of them, see none, and create three
more. So it writes down what to expect – three creations – and does nothing further for
that key until they have been seen, or five minutes have passed (an event that never
comes must not block it for ever).

Deletions are expected by pod key, not by number: a pod's deletion is seen twice, when
it is marked and when it is gone.

Upstream: `pkg/controller/controller_utils.go` (`ControllerExpectations`,
`UIDTrackingControllerExpectations`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lifecycle.api.loop.clock import Clock

EXPECTATIONS_TIMEOUT = 300.0


@dataclass(slots=True)
class _Expected:
    created_at: float
    adds: int = 0
    deletions: set[str] = field(default_factory=set)


class ControllerExpectations:
    """Expectations per controller key."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expected: dict[str, _Expected] = {}

    def expect_creations(self, key: str, count: int) -> None:
        """`count` creations are about to happen."""
        self._expected[key] = _Expected(self._clock.now(), adds=count)

    def expect_deletions(self, key: str, deleted: Iterable[str]) -> None:
        """These objects (by their own keys) are about to be deleted."""
        self._expected[key] = _Expected(self._clock.now(), deletions=set(deleted))

    def expect(self, key: str, *, creations: int, deletions: Iterable[str]) -> None:
        """Both at once. Upstream: `SetExpectations`."""
        self._expected[key] = _Expected(
            self._clock.now(), adds=creations, deletions=set(deletions)
        )

    def creation_observed(self, key: str) -> None:
        """One of them was seen, or will not happen after all."""
        expected = self._expected.get(key)
        if expected is not None:
            expected.adds -= 1

    def deletion_observed(self, key: str, deleted: str) -> None:
        """That object was seen marked for deletion or gone, or will not be deleted
        after all. Seeing it twice does no harm.
        """
        expected = self._expected.get(key)
        if expected is not None:
            expected.deletions.discard(deleted)

    def satisfied(self, key: str) -> bool:
        """Whether the cache can be trusted again. Upstream: `SatisfiedExpectations`."""
        expected = self._expected.get(key)
        if expected is None:
            return True
        if expected.adds <= 0 and not expected.deletions:
            return True
        return self._clock.now() - expected.created_at > EXPECTATIONS_TIMEOUT

    def delete_expectations(self, key: str) -> None:
        """The controller object is gone."""
        self._expected.pop(key, None)
