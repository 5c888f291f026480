"""How long an owner of many pods waits between two counts of them.

Each event of a pod would cause a count of all pods of its owner. The pods of a small
owner are counted at once. A large one waits a while, so that one count is for many
events. It waits for its own pods, and for those of every other large owner that waits:
all are counted by the same processor. So counting takes the same part of its time,
however many owners there are.

Ours. Upstream's clients may write only so often (`--kube-api-qps`, 20 a second), which
has the same effect.
"""

from __future__ import annotations

LARGE = 200
"""Up to so many pods are counted at once."""


class CountingPauses:
    """Of one controller. `per_pod`: seconds."""

    def __init__(self, per_pod: float) -> None:
        self._per_pod = per_pod
        self._waiting: dict[str, int] = {}
        self._pods = 0

    def before(self, key: str, pods: int) -> float:
        """In how many seconds to count the pods of an owner that has about so many."""
        if pods <= LARGE:
            return 0.0
        self._pods += pods - self._waiting.get(key, 0)
        self._waiting[key] = pods
        return self._pods * self._per_pod

    def over(self, key: str) -> None:
        """The pods are counted now: whatever happens from here on is for the next
        count.
        """
        self._pods -= self._waiting.pop(key, 0)
