"""A watch of a store that hands out something else than lies in the store behind it:
other keys (`prefixed`), or values that can be read (encryption at rest).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from lifecycle.etcd.store import Bell, Event, KeyValue, Watch


class TransformedWatch:
    """Implements `store.Watch`: every state in its events goes through `transform`."""

    def __init__(self, inner: Watch, transform: Callable[[KeyValue], KeyValue]) -> None:
        self._inner, self._transform = inner, transform

    @property
    def bells(self) -> Sequence[Bell]:
        """See `Watch`."""
        return self._inner.bells

    @bells.setter
    def bells(self, bells: Sequence[Bell]) -> None:
        self._inner.bells = bells

    async def __aiter__(self) -> AsyncIterator[list[Event]]:
        async for events in self._inner:
            yield self._transformed(events)

    def take(self) -> list[Event]:
        """See `Watch`."""
        return self._transformed(self._inner.take())

    async def close(self) -> None:
        """See `Watch`."""
        await self._inner.close()

    def _transformed(self, events: Sequence[Event]) -> list[Event]:
        return [
            event._replace(
                kv=self._transform(event.kv),
                prev=self._transform(event.prev) if event.prev is not None else None,
            )
            for event in events
        ]
