"""Events: they go after an hour, and both groups' are stored as `v1`.

Upstream: `pkg/registry/core/event/storage/storage.go` (`TTLFunc`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apis.event_versions import to_core
from lifecycle.apiserver.registry.store import ResourceStore

EVENT_TTL = 3600
"""Seconds that an Event lives: `--event-ttl`."""


class CoreEventStore(ResourceStore):
    """Events of the older group."""

    ttl = EVENT_TTL


class EventStore(CoreEventStore):
    """Events of the newer group."""

    @property
    def internal_group(self) -> str:
        return ""

    def to_storage(self, obj: Object) -> Object:
        return to_core(obj)
