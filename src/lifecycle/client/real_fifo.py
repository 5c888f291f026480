"""The queue between reflector and informer: what happened, in the order it happened.

The reflector writes changes in at one end, the informer takes them out at the other.
Nothing is merged: two updates of one object are two deltas. A relist is
written as the difference it makes: `DELETED` for keys the server no longer has, then
`REPLACED` for everything it has.

Older client-go kept one growing list of deltas per key (`DeltaFIFO`); since 1.33 the
default is this plain queue (feature `InOrderInformers`), which also keeps the order
*between* keys.

Upstream: `client-go/tools/cache/the_real_fifo.go` (`RealFIFO`), `delta_fifo.go`
(`DeltaType`), v1.36. Left out: locks, resync deltas (no informer here asks for a
resync), `AtomicFIFO`'s single `ReplacedAll` delta.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.client.store import Store, meta_namespace_key

ADDED, UPDATED, DELETED, REPLACED = "Added", "Updated", "Deleted", "Replaced"


class Delta(NamedTuple):
    """One change: what, under which key, and the object (for `DELETED` the last known
    one).
    """

    type: str
    key: str
    object: Object


def nobody() -> None:
    """Nobody is told that there are deltas."""


class RealFIFO:
    """Deltas in order. `known_objects` is the informer's store; `on_pending` is called
    when an empty queue gets its first delta.
    """

    def __init__(
        self, known_objects: Store, on_pending: Callable[[], None] = nobody
    ) -> None:
        self._known = known_objects
        self.on_pending = on_pending
        self._queue: deque[Delta] = deque()
        self._populated = False
        self._initial = 0

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def has_synced(self) -> bool:
        """True once the first list was written in and all of it has been popped."""
        return self._populated and self._initial == 0

    def add(self, obj: Object) -> None:
        """The server said ADDED."""
        self._put(Delta(ADDED, meta_namespace_key(obj), obj))

    def update(self, obj: Object) -> None:
        """The server said MODIFIED."""
        self._put(Delta(UPDATED, meta_namespace_key(obj), obj))

    def delete(self, obj: Object) -> None:
        """The server said DELETED."""
        self._put(Delta(DELETED, meta_namespace_key(obj), obj))

    def replace(self, objects: Iterable[Object]) -> None:
        """The server listed these and nothing else."""
        listed = {meta_namespace_key(obj): obj for obj in objects}
        last: dict[str, Object | None] = {
            key: self._known.get_by_key(key)
            for key in self._known.keys()  # noqa: SIM118 - a store, not a dict
        }
        for delta in self._queue:  # what is still queued will have happened by then
            last[delta.key] = None if delta.type == DELETED else delta.object
        deltas = [
            Delta(DELETED, key, obj)
            for key, obj in last.items()
            if obj is not None and key not in listed
        ]
        deltas += [Delta(REPLACED, key, obj) for key, obj in listed.items()]
        if not self._populated:
            self._populated = True
            self._initial = len(self._queue) + len(deltas)
        was_empty = not self._queue
        self._queue.extend(deltas)
        if was_empty:
            self.on_pending()

    def pop(self) -> Delta:
        """The oldest delta. Raises IndexError if there is none."""
        if self._initial:
            self._initial -= 1
        return self._queue.popleft()

    def _put(self, delta: Delta) -> None:
        self._queue.append(delta)
        if len(self._queue) == 1:
            self.on_pending()
