"""Events in the order in which they were written, the newest of them kept.

Upstream: `kubectl/pkg/cmd/events/events.go` (`--watch`).
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.playground.chapters import chapter_of_event

MOST = 500


class EventStream:
    """`seen` is how many there have been; an event that is counted up is one more."""

    def __init__(self) -> None:
        self.seen = 0
        self._kept: list[dict[str, Any]] = []

    def append(self, at: float, event: Object) -> None:
        """An event was written, or counted up, at that virtual second."""
        involved = event.get("involvedObject") or {}
        source = event.get("source") or {}
        reporter = source.get("component") or event.get("reportingComponent") or ""
        reason = event.get("reason", "")
        self._kept.append(
            {
                "at": at,
                "type": event.get("type", "Normal"),
                "reason": reason,
                "about": f"{involved.get('kind', '')}/{involved.get('name', '')}",
                "by": reporter,
                "message": event.get("message", ""),
                "count": (event.get("series") or event).get("count") or 1,
                "chapter": chapter_of_event(reason, reporter),
            }
        )
        self.seen += 1
        del self._kept[:-MOST]

    def since(self, seen: int) -> list[dict[str, Any]]:
        """Those after the first `seen`, as far as they are kept."""
        return self._kept[max(0, len(self._kept) - (self.seen - seen)) :]
