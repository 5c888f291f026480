"""Spans of the real code path.

A stage wraps its work in `span("authorization", ...)`. Nobody listening: the call costs
a global look-up. `lifecycle.trace` listens by registering a sink; it learns the start,
the end, the nesting and the attributes (above all `uid`, `owner_uid`, `key`) of every
stage that touched a request.

Upstream: `component-base/tracing` (OpenTelemetry spans in the API server and kubelet).
Ours stay in the process, so the plain `contextvars` nesting is all that is needed;
`lifecycle.trace` can export them as OpenTelemetry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Any


@dataclass(slots=True)
class Span:
    """One piece of work: `start` and `end` are `time.perf_counter()` seconds, `parent`
    the enclosing span's id (0: none).
    """

    id: int
    parent: int
    component: str
    name: str
    start: float
    end: float = 0.0
    attributes: dict[str, Any] = field(default_factory=dict)


Sink = Callable[[Span], None]

_sinks: list[Sink] = []
_ids = count(1)
_current: ContextVar[int] = ContextVar("lifecycle_span", default=0)
_NOBODY: AbstractContextManager[None] = nullcontext()


def span(
    component: str, name: str, **attributes: Any
) -> AbstractContextManager[Span | None]:
    """Time a piece of work of a component. Yields the span, or None when nobody
    listens.
    """
    if not _sinks:
        return _NOBODY
    return _recorded(component, name, attributes)


def heard() -> bool:
    """Whether anybody listens: lets a hot loop leave its spans out altogether."""
    return bool(_sinks)


@contextmanager
def _recorded(component: str, name: str, attributes: dict[str, Any]) -> Iterator[Span]:
    mine = Span(
        next(_ids),
        _current.get(),
        component,
        name,
        time.perf_counter(),
        attributes=attributes,
    )
    token = _current.set(mine.id)
    try:
        yield mine
    finally:
        _current.reset(token)
        mine.end = time.perf_counter()
        for sink in list(_sinks):
            sink(mine)


@contextmanager
def listening(sink: Sink) -> Iterator[None]:
    """Hand every span finished in the block to `sink`."""
    _sinks.append(sink)
    try:
        yield
    finally:
        _sinks.remove(sink)
