"""Finished Jobs go after a while, if they said so.

Upstream: `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go`
(`processJob`, `timeLeft`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.job.job_status import is_job_finished, job_condition


class TTLAfterFinishedController:
    """Deletes Jobs `ttlSecondsAfterFinished` after their end, with their pods."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource("jobs.batch")
        self._jobs = informers.informer(self._resource)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._jobs.add_event_handler(
            add=self._enqueue_if_finished,
            update=lambda old, new: self._enqueue_if_finished(new),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._jobs.wait_for_sync()
        await run_workers(
            self._queue, self._process, workers=5, name="ttl-after-finished-controller"
        )

    def _enqueue_if_finished(self, job: Object) -> None:
        if job["spec"].get("ttlSecondsAfterFinished") is not None and is_job_finished(
            job
        ):
            self._queue.add(meta_namespace_key(job))

    def _time_left(self, job: Object) -> float | None:
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        end = job_condition(job, "Complete") or job_condition(job, "Failed")
        if ttl is None or end is None or "deletionTimestamp" in job["metadata"]:
            return None
        return float(parse_time(end["lastTransitionTime"]) + ttl - self._clock.now())

    async def _process(self, key: str) -> None:
        job = self._jobs.indexer.get_by_key(key)
        left = self._time_left(job) if job is not None else None
        if job is None or left is None:
            return
        if left > 0:
            self._queue.add_after(key, left)
            return
        meta = job["metadata"]
        try:  # somebody may have given it more time: ask past the cache
            fresh = await self._client.get(
                self._resource, meta["name"], meta["namespace"]
            )
            left = self._time_left(fresh)
            if left is not None and left <= 0:
                await self._client.delete(
                    self._resource,
                    meta["name"],
                    meta["namespace"],
                    uid=meta["uid"],
                    propagation="Foreground",
                )
            elif left is not None:
                self._queue.add_after(key, left)
        except StatusError as error:
            if error.code != 404:
                raise
