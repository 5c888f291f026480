"""What is to be written for one Service and one family of addresses, and what stays as
it is.

Upstream: `endpointslice/topologycache/sliceinfo.go` (`SliceInfo`),
`topologycache/event.go` (`EventBuilder`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lifecycle.api.http.wire import Object


class Event(NamedTuple):
    """Something to tell about the Service: `Normal` or `Warning`, a reason, a
    message.
    """

    type: str
    reason: str
    message: str


@dataclass(slots=True)
class Changes:
    """Slices to create, to update (copies, which may be changed further), to delete;
    and those left alone, which are the cache's own.
    """

    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    unchanged: list[Object] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def written(self) -> Iterator[Object]:
        """The slices that will be written, new ones first."""
        yield from self.create
        yield from self.update


def endpoints_of(endpoint_slice: Object) -> list[Object]:
    """Its endpoints; an empty slice has none."""
    return endpoint_slice.get("endpoints") or []


def is_endpoint_ready(endpoint: Object) -> bool:
    """Whether the condition says so; a missing one does not. Upstream:
    `EndpointReady`.
    """
    return (endpoint.get("conditions") or {}).get("ready") is True
