"""Back-off: what fails is tried again later and later.

Ten seconds after the first failure, doubled each time, at most five minutes; forgotten
after ten quiet ones. Used for containers that exit and images that cannot be pulled,
and, from one second to a quarter of an hour, for daemon pods that fail.

Upstream: `client-go/util/flowcontrol/backoff.go` (`Backoff`), `pkg/kubelet/kubelet.go`
(`MaxCrashLoopBackOff`, `initialNodeBackOff`), v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable

INITIAL_BACKOFF = 10.0
MAX_BACKOFF = 300.0


class Backoff:
    """Back-off periods by key, from `initial` to `longest`. Times are seconds of one
    clock.
    """

    __slots__ = ("_entries", "_initial", "_longest")

    def __init__(
        self, initial: float = INITIAL_BACKOFF, longest: float = MAX_BACKOFF
    ) -> None:
        self._initial, self._longest = initial, longest
        self._entries: dict[Hashable, tuple[float, float]] = {}

    def get(self, key: Hashable) -> float:
        """The key's period now, 0 if it has none."""
        entry = self._entries.get(key)
        return entry[0] if entry else 0.0

    def next(self, key: Hashable, now: float) -> None:
        """It was tried (again)."""
        entry = self._entries.get(key)
        if entry is None or now - entry[1] > 2 * self._longest:
            period = self._initial
        else:
            period = min(entry[0] * 2, self._longest)
        self._entries[key] = (period, now)

    def is_in_backoff_since(self, key: Hashable, event: float, now: float) -> bool:
        """Whether it is too soon after a failure (at `event`) to try again."""
        entry = self._entries.get(key)
        if entry is None or now - entry[1] > 2 * self._longest:
            return False
        return now - event < entry[0]

    def is_in_backoff(self, key: Hashable, now: float) -> bool:
        """Whether it is too soon after the last try."""
        entry = self._entries.get(key)
        return entry is not None and now - entry[1] < entry[0]

    def remaining(self, key: Hashable, since: float, now: float) -> float:
        """Seconds left of the key's period, counted from `since`."""
        return max(self.get(key) - (now - since), 0.0)

    def last_try(self, key: Hashable) -> float:
        """When `next` was last called for the key; 0 if never."""
        entry = self._entries.get(key)
        return entry[1] if entry else 0.0

    def forget(self, key: Hashable) -> None:
        """It is no more."""
        self._entries.pop(key, None)

    def forget_old(self, now: float) -> None:
        """What has been quiet for twice the longest period has nothing to make up for.
        Upstream: `GC`.
        """
        self._entries = {
            key: entry
            for key, entry in self._entries.items()
            if now - entry[1] <= 2 * self._longest
        }

    def forget_all(self, owner: Hashable) -> None:
        """None of the keys is any more that are tuples and begin with `owner`."""
        for key in list(self._entries):
            if isinstance(key, tuple) and key[0] == owner:
                del self._entries[key]
