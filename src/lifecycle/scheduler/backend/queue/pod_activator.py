"""Bringing a waiting pod back at once, whatever the hints say.

Frameworks are made before the queue that asks them, so a plugin cannot hold the queue.
It holds this, which is made first; the queue subscribes.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/interface.go` (`PodActivator`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable


class PodActivator:
    """Passes on which pods are to come back, by `namespace/name`."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[str], None]] = []

    def subscribe(self, activate: Callable[[str], None]) -> None:
        """Hear of each pod from now on."""
        self._subscribers.append(activate)

    def activate(self, key: str) -> None:
        """The pod is to be tried again."""
        for subscriber in self._subscribers:
            subscriber(key)
