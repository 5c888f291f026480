"""Everything that happened to a cluster's objects, in the order in which it happened: the watch on the whole store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.etcd.codec import decode_value
from lifecycle.etcd.keys import ROOT, resource_prefix
from lifecycle.etcd.store import Event, Store, prefix_end

ROWS = (
    "pods",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "controllerrevisions.apps",
    "jobs.batch",
    "services",
    "endpoints",
    "endpointslices.discovery.k8s.io",
    "poddisruptionbudgets.policy",
    "nodes",
    "namespaces",
    "ipaddresses.networking.k8s.io",
    "leases.coordination.k8s.io",
    "events",
)
"""What is looked at."""

WORKLOADS = ("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch")
HEARTBEATS = ("nodes", "leases.coordination.k8s.io", "events")
"""What goes on changing although nothing happens."""

TOO_MUCH = 20_000
"""Changes in one scenario; a thousand are usual."""

_PREFIXES = {resource_prefix(resource(name)): name for name in ROWS}
_PATHS = {resource(name).path(): name for name in WORKLOADS}


@dataclass(frozen=True, slots=True)
class Change:
    """One event. `obj` is the object afterwards (DELETED: as it was last), `before` what it was (None: it was not there).

    `revision` is the store's, `at` virtual seconds.
    """

    revision: int
    at: float
    kind: str
    row: str
    obj: Object
    before: Object | None

    @property
    def key(self) -> str:
        """`pods default/web-1`."""
        metadata = self.obj["metadata"]
        name = "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
        return f"{self.row} {name}"


@dataclass
class History:
    """All changes of `ROWS`, and `doubtful`: for each owner's uid how many pods may have been made for it without its controller
    being told.
    """

    changes: list[Change] = field(default_factory=list)
    doubtful: dict[str, int] = field(default_factory=dict)
    told: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    """For each row, when the controllers heard of which revision."""
    killed: dict[str, list[float]] = field(default_factory=dict)
    """For each component, when it died."""
    last_news: float = 0.0
    """When anything but a heartbeat was written last."""

    def take(self, events: Iterable[Event], at: float) -> None:
        """Write down."""
        for event in events:
            row = _row(event.kv.key)
            if row is None:
                continue
            before = decode_value(event.prev.value, event.prev.mod_revision) if event.prev is not None else None
            if event.type == "PUT":
                obj = decode_value(event.kv.value, event.kv.mod_revision)
                kind = "ADDED" if before is None else "MODIFIED"
            elif before is None:
                continue
            else:
                obj, kind = before, "DELETED"
            if row not in HEARTBEATS:
                self.last_news = at
            self.changes.append(Change(event.kv.mod_revision, at, kind, row, obj, before))

    def tell(self, path: str, at: float, obj: Object) -> None:
        """The controllers see this, a list or an object."""
        row = _PATHS.get(path)
        if row is not None:
            self.told.setdefault(row, []).append((at, int(obj["metadata"]["resourceVersion"])))

    async def follow(self, store: Store) -> None:
        """Write down all that happens from now on; returns when that is so much that something must be running away."""
        watch = store.watch(ROOT, prefix_end(ROOT), revision=1)
        loop = asyncio.get_running_loop()
        events: AsyncIterator[list[Event]] = aiter(watch)
        async for batch in events:
            self.take(batch, loop.time())
            if len(self.changes) > TOO_MUCH:
                return


def _row(key: str) -> str | None:
    parts = key.split("/")
    for length in (3, 4):
        name = _PREFIXES.get("/".join(parts[:length]) + "/")
        if name is not None:
            return name
    return None
