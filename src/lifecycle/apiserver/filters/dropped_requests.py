"""When to come again: the more a level has to turn away, the longer it asks to be left
in peace.

It starts with one second. If a level turned away three times as many requests as it
asked for seconds, the seconds double, up to 32; if it was fewer than seconds, there is
one second less. So many clients that all come back at once are spread out.

Upstream: `apiserver/pkg/util/flowcontrol/dropped_requests_tracker.go`
(`droppedRequestsStats`), v1.36.
"""

from __future__ import annotations

MAX_RETRY_AFTER = 32


class DroppedRequests:
    """What one level turned away. Times are whole seconds of one clock."""

    def __init__(self) -> None:
        self.retry_after = 1
        self._history: list[tuple[int, int]] = []
        self._second = self._count = 0
        self._raised: int | None = None

    def record(self, now: int) -> None:
        """One more."""
        if now == self._second and self._count:
            self._count += 1
            return
        if self._count:
            self._history.append((self._second, self._count))
        kept = min(2 * self.retry_after, MAX_RETRY_AFTER)
        self._history = [
            (second, count)
            for second, count in self._history
            if self._second - second <= kept
        ]
        self._second, self._count = now, 1
        self._update(now)

    def _update(self, now: int) -> None:
        """Judge by the last `retry_after` seconds; one rise must have had time to work
        before the next.
        """
        dropped = sum(
            count
            for second, count in self._history
            if now - self.retry_after <= second < now
        )
        rested = self._raised is None or now - self._raised >= self.retry_after
        if rested and dropped >= 3 * self.retry_after:
            self.retry_after = min(2 * self.retry_after, MAX_RETRY_AFTER)
            self._raised = now
        elif dropped < self.retry_after and self.retry_after > 1:
            self.retry_after -= 1
