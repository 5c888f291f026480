"""How one part of the kubelet tells another something without knowing it.

Upstream these are Go channels: of the pod sources, the PLEG's `Watch()` and the probe
results' `Updates()`, all read by one loop (`pkg/kubelet/kubelet.go`,
`syncLoopIteration`), v1.36. Here the reader is called at once: there is one event loop,
and a task that waits for messages would cost each of a thousand nodes one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class UpdateChannel(Generic[T]):
    """The stream: messages in order, one reader, which is called soon after something
    was put in.
    """

    def __init__(self) -> None:
        self._waiting: deque[T] = deque()
        self._reader: Callable[[T], None] | None = None
        self._reading = False

    def send(self, update: T) -> None:
        """Put a message in. Whoever reads sees it after all that was put in before,
        also from within a handler.
        """
        self._waiting.append(update)
        if self._reader is None or self._reading:
            return
        self._reading = True
        try:
            while self._waiting:
                self._reader(self._waiting.popleft())
        finally:
            self._reading = False

    def receive(self, reader: Callable[[T], None]) -> None:
        """From now on `reader` gets the messages, first those that wait already."""
        self._reader = reader
        while self._waiting and not self._reading:
            reader(self._waiting.popleft())
