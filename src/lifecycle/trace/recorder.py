"""Listening to the spans of the real code path.

Upstream: an OpenTelemetry span processor. Ours keeps everything in memory, for as long
as the `with` block lasts.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

from lifecycle.api.tracing import Span, listening
from lifecycle.trace.journey import Journey, journey_of


class SpanRecorder:
    """Collects every span that ends inside the block; `limit` bounds memory, the oldest
    are let go first.
    """

    def __init__(self, limit: int = 200_000) -> None:
        self.spans: list[Span] = []
        self._limit = limit
        self._listening: AbstractContextManager[None] | None = None

    def __enter__(self) -> SpanRecorder:
        self._listening = listening(self._take)
        self._listening.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._listening:
            self._listening.__exit__(kind, error, trace)
            self._listening = None

    def _take(self, span: Span) -> None:
        self.spans.append(span)
        if len(self.spans) > self._limit:
            del self.spans[: self._limit // 10]

    def journey(self, uid: str, *, title: str = "") -> Journey:
        """The journey of the object with this uid and of everything it came to own."""
        return journey_of(self.spans, uid, title=title)
