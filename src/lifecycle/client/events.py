"""Telling people what was done: the event recorder.

`recorder.event(obj, "Normal", "ScalingReplicaSet", "Scaled up …")` returns at once. The
event goes through the correlator and is written in the background, in order, by one
task per recorder. Losing an event is allowed; holding up a controller for one is not.

What the recorded components write are core/v1 Events with `count` and timestamps (also
the scheduler's, in this version), named after the object and the time in nanoseconds.

Upstream: `client-go/tools/record/event.go` (`recorderImpl`, `recordToSink`),
`client-go/tools/reference/ref.go` (`GetReference`), v1.36. Left out: `events.k8s.io/v1`
series, watchers of the broadcaster.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from zlib import crc32

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.event_correlator import EventCorrelator
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client

log = logging.getLogger(__name__)

MAX_TRIES_PER_EVENT = 12
MAX_QUEUED_EVENTS = 1000
SLEEP_SECONDS = 10.0


def object_reference(obj: Object, field_path: str = "") -> Object:
    """An `ObjectReference` to an object, with the revision it was seen at. Upstream:
    `ref.GetReference`.
    """
    meta = obj["metadata"]
    reference = {
        "kind": obj["kind"],
        "namespace": meta.get("namespace", ""),
        "name": meta["name"],
        "uid": meta.get("uid", ""),
        "apiVersion": obj["apiVersion"],
        "resourceVersion": meta.get("resourceVersion", ""),
        "fieldPath": field_path,
    }
    return {key: value for key, value in reference.items() if value}


class EventRecorder:
    """Writes events of one component (`host` for kubelets). Needs a running loop when
    `event` is called.
    """

    def __init__(
        self, client: Client, component: str, *, clock: Clock, host: str = ""
    ) -> None:
        self._client = client
        self._component = component
        self._host = host
        self._clock = clock
        self._correlator = EventCorrelator()
        self._queue: deque[Object] = deque()
        self._task: asyncio.Task[None] | None = None
        self._rng = random.Random(f"{component}/{host}")
        # Two components may speak of one object in the same instant of virtual time;
        # this keeps the names apart.
        self._offset = crc32(f"{component}/{host}".encode()) % 1_000_000
        self._last_nanos = 0

    def event(
        self,
        obj: Object,
        event_type: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
    ) -> None:
        """Record that something happened to `obj`. `event_type` is `Normal` or
        `Warning`.

        `obj` may also be an ObjectReference-like dict with `kind`, `apiVersion` and
        `metadata`.
        """
        now = self._clock.now()
        self._last_nanos = max(
            self._last_nanos + 1,
            int(now) * 1_000_000_000 + int(now % 1 * 1000) * 1_000_000 + self._offset,
        )
        involved = object_reference(obj, field_path)
        stamp = format_time(now)
        source = {"component": self._component}
        if self._host:
            source["host"] = self._host
        event: Object = {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {
                "name": f"{involved['name']}.{self._last_nanos:x}",
                "namespace": involved.get("namespace", "default"),
            },
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "type": event_type,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }
        if len(self._queue) >= MAX_QUEUED_EVENTS:
            log.debug("%s: event dropped, too many queued", self._component)
            return
        self._queue.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._record_to_sink(), name=f"events {self._component}"
            )

    async def flush(self) -> None:
        """Wait until everything recorded so far is written or given up."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Write no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _record_to_sink(self) -> None:
        while self._queue:
            event = self._queue.popleft()
            correlated = self._correlator.correlate(event, self._clock.now())
            if correlated is None:
                continue
            for attempt in range(MAX_TRIES_PER_EVENT):
                if await self._record_event(correlated.event, correlated.patch):
                    break
                await asyncio.sleep(
                    SLEEP_SECONDS * (self._rng.random() if attempt == 0 else 1.0)
                )

    async def _record_event(self, event: Object, patch: Object | None) -> bool:
        """Write once. False: worth another try (the server could not be reached)."""
        events = resource("events")
        meta = event["metadata"]
        try:
            if patch is not None:
                try:
                    stored = await self._client.patch(
                        events,
                        meta["name"],
                        meta["namespace"],
                        patch,
                        patch_type=STRATEGIC_MERGE_PATCH,
                    )
                except StatusError as error:
                    if error.code != 404:  # it has expired since: write it anew
                        raise
                    stored = await self._client.create(events, event, meta["namespace"])
            else:
                stored = await self._client.create(events, event, meta["namespace"])
        except OSError as error:
            log.debug("unable to write event: %r", error)
            return False
        except StatusError as error:
            log.debug("server rejected event: %s", error.message)
            return True
        self._correlator.update_state(stored)
        return True
