"""Pod workers: one pod, one thing at a time.

Whatever happens to a pod (the API server changed it, a container ended, a probe failed,
a deadline passed) becomes a request to its worker. The worker runs one transaction at a
time; requests that come meanwhile are folded into one further run. A pod moves through
three states and never back: *syncing* → *terminating* → *terminated*.

Upstream: `pkg/kubelet/pod_workers.go` (`podWorkers.UpdatePod`, `podWorkerLoop`,
`completeTerminating`), v1.36. Upstream's worker is a goroutine that waits; ours is a
task only while there is something to do, which is what lets one process hold ten
thousand. Left out: static pods waiting for each other. The resync of healthy pods is
off unless `sync_frequency` is set: every change arrives as an event here.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.tracing import span
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.kubelet.kuberuntime.kuberuntime_manager import BACK_OFF_PERIOD
from lifecycle.kubelet.pleg.generic import RELIST_PERIOD
from lifecycle.kubelet.pod_sync_status import PodSyncStatus, PodSyncStatuses, State
from lifecycle.kubelet.sync_pod import PodSyncer

log = logging.getLogger(__name__)

RESYNC_INTERVAL = 60.0
"""Seconds: however long a back-off is, a pod is looked at again in that time, so that
what is added to it by chance stays small beside it. Upstream: `completeWork`.
"""


class PodWorkers:
    """Drives the pods of a `PodSyncStatuses` by a `PodSyncer`.

    `sync_frequency`: seconds after which a pod is looked at again though nothing
    happened, 0 for never. Upstream: 60, and up to half as much again, so that not all
    come at once.
    """

    def __init__(
        self,
        pods: PodSyncStatuses,
        syncer: PodSyncer,
        clock: Clock,
        rng: random.Random,
        sync_frequency: float = 0.0,
    ) -> None:
        self._pods = pods
        self._syncer = syncer
        self._clock = clock
        self._rng = rng
        self._sync_frequency = sync_frequency
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def wait_terminated(self, uid: str) -> None:
        """Wait until nothing of the pod runs any more."""
        known = self._pods.get(uid)
        if known is None or known.state is State.TERMINATED:
            return
        if known.ended is None:
            known.ended = asyncio.get_running_loop().create_future()
        await asyncio.shield(known.ended)

    # -- requests ----------------------------------------------------------------------

    def update_pod(self, pod: Object) -> None:
        """The pod is new, or it changed."""
        metadata = pod["metadata"]
        update_type = "update" if self._pods.get(metadata["uid"]) else "create"
        known = self._pods.get_or_add(pod)
        if known.finished:
            return
        if metadata.get("deletionTimestamp"):
            self._terminate(
                known, float(metadata.get("deletionGracePeriodSeconds") or 0)
            )
        elif (
            is_pod_phase_terminal((pod.get("status") or {}).get("phase"))
            and known.state is State.SYNC
        ):
            self._terminate(known, None)
        self._request(known, update_type)

    def sync(self, uid: str, event: ContainerEventResponse | None = None) -> None:
        """Something happened to the pod's containers; `event` is what the runtime says
        of it.
        """
        known = self._pods.get(uid)
        if known is not None and known.state is State.SYNC:
            if event is not None and known.task is not None:
                self._note(known, event)
            self._request(known)

    @staticmethod
    def _note(known: PodSyncStatus, event: ContainerEventResponse) -> None:
        """What happens during a transaction makes one further run; but upstream looks
        once a second, so that a container which that very transaction started and,
        later, stopped makes two: of its end it hears when all is over.
        """
        now = asyncio.get_running_loop().time()
        if event.type is ContainerEventType.STARTED:
            known.started[event.container_id] = now
        elif now - known.started.get(event.container_id, now) >= RELIST_PERIOD:
            known.late_news = True

    def kill_pod(self, uid: str) -> None:
        """The pod has disappeared from the API server: end it."""
        known = self._pods.get(uid)
        if known is not None:
            known.forgotten = True
            self._terminate(known, known.grace_period)
            self._request(known, "kill")

    def evict(
        self, pod: Object, status_fn: Callable[[Object], Object], grace_period: float
    ) -> bool:
        """End a pod that nobody has deleted. `status_fn` says what becomes of its
        status. False: it ends already.
        """
        known = self._pods.get(pod["metadata"]["uid"])
        if known is None or known.state is not State.SYNC:
            return False
        known.status_fn = status_fn
        self._terminate(known, grace_period)
        self._request(known, "kill")
        return True

    def forget(self, uid: str) -> None:
        """The pod is gone and has ended."""
        known = self._pods.remove(uid)
        if known is not None:
            known.cancel_timers()

    def start(self) -> None:
        """Take requests; also again, after `stop`."""
        self._closing = False

    async def stop(self) -> None:
        """End all work, leaving the pods as they are; requests are ignored from now
        on.
        """
        self._closing = True
        for known in self._pods.all():
            known.cancel_timers()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._syncer.stop()

    # -- work --------------------------------------------------------------------------

    def _terminate(self, known: PodSyncStatus, grace_period: float | None) -> None:
        if known.state is State.SYNC:
            known.state = State.TERMINATING
        if grace_period is not None and (
            known.grace_period is None or grace_period < known.grace_period
        ):
            known.grace_period = grace_period
            if known.stopping is not None:
                # less time than before: stop again, with less patience
                known.stopping.cancel()

    def _request(self, known: PodSyncStatus, update_type: str = "sync") -> None:
        if known.update is None:
            known.update = update_type, asyncio.get_running_loop().time()
        known.pending = True
        if (
            known.task is None and not self._closing
        ):  # a runtime goes on telling also those who have stopped listening
            name = f"pod worker {known.pod['metadata']['name']}"
            known.task = task = asyncio.get_running_loop().create_task(
                self._pod_worker_loop(known), name=name
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pod_worker_loop(self, known: PodSyncStatus) -> None:
        try:
            while known.pending:
                known.pending = False
                known.started.clear()
                update, known.update = known.update, None
                try:
                    await self._transaction(known)
                except Exception:
                    log.exception("sync of %s failed", known.pod["metadata"]["name"])
                    self._retry(known)
                if update is not None:
                    update_type, asked = update
                    took = asyncio.get_running_loop().time() - asked
                    self._syncer.metrics.transaction(update_type, took)
                if known.late_news:
                    known.late_news = False
                    asyncio.get_running_loop().call_later(
                        RELIST_PERIOD, self.sync, known.pod["metadata"]["uid"]
                    )
        finally:
            known.task = None

    async def _transaction(self, known: PodSyncStatus) -> None:
        syncer = self._syncer
        if known.state is State.SYNC:
            meta = known.pod["metadata"]
            with span(
                "kubelet",
                "sync_pod",
                key=f"{meta['namespace']}/{meta['name']}",
                uid=meta["uid"],
            ):
                over, retry_after = await syncer.sync_pod(known.pod)
            if over:
                if known.state is State.SYNC:
                    known.state = State.TERMINATING
                known.pending = True
            elif retry_after is not None:
                self._retry(known, min(retry_after, RESYNC_INTERVAL))
            else:
                if self._sync_frequency:
                    self._retry(known, self._sync_frequency)
                elif (refresh := syncer.refresh_tokens_at(known.pod)) is not None:
                    self._retry(
                        known, max(refresh - self._clock.now(), 0.0) + 1.0, jitter=False
                    )
                self._arm_deadline(known)
        elif known.state is State.TERMINATING:
            known.cancel_timers()
            loop = asyncio.get_running_loop()
            known.stopping = loop.create_task(
                syncer.sync_terminating_pod(
                    known.pod, known.grace_period, known.status_fn
                )
            )
            try:
                status = await known.stopping
            except asyncio.CancelledError:
                if (
                    self._closing or not known.stopping.cancelled()
                ):  # it is us who are cancelled
                    known.stopping.cancel()
                    raise
                known.pending = True
                return
            finally:
                known.stopping = None
            known.state = State.TERMINATED
            syncer.ended(known.pod, status)
            if known.ended is not None and not known.ended.done():
                known.ended.set_result(None)
            await syncer.sync_terminated_pod(known.pod)
            known.finished = True
        else:
            await syncer.sync_terminated_pod(known.pod)
            known.finished = True

    def _retry(
        self,
        known: PodSyncStatus,
        seconds: float = BACK_OFF_PERIOD,
        *,
        jitter: bool = True,
    ) -> None:
        if known.retry_timer is not None:
            known.retry_timer.cancel()
        delay = seconds * (1 + self._rng.random() / 2) if jitter else seconds
        known.retry_timer = asyncio.get_running_loop().call_later(
            delay, self._request, known
        )

    def _arm_deadline(self, known: PodSyncStatus) -> None:
        if (
            known.deadline_timer is not None
            or known.pod["spec"].get("activeDeadlineSeconds") is None
        ):
            return
        deadline = self._syncer.deadline(known.pod)
        if deadline is not None:
            delay = max(deadline - self._clock.now(), 0.0)
            known.deadline_timer = asyncio.get_running_loop().call_later(
                delay, self._request, known
            )
