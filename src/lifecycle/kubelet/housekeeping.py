"""What a kubelet does now and then, whatever happens to its pods.

Every ten seconds the node's lease is renewed, and on a real node logs are rotated; once
a minute dead containers are removed. All of it hangs on one timer: a thousand kubelets
in one process have a thousand timers, and no tasks that only wait.

Upstream: `pkg/kubelet/kubelet.go` (`StartGarbageCollection`, `syncLoopIteration`,
`housekeepingCh`), v1.36, where each of these is a goroutine of its own.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence

from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import REQUEST_ERRORS
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.kubelet.kuberuntime.kuberuntime_gc import GC_PERIOD

log = logging.getLogger(__name__)

RENEW_INTERVAL = 10.0
"""Seconds between renewals of the lease: a quarter of its duration."""

Job = Callable[[], Awaitable[object]]


class Housekeeping:
    """`jobs` are done at every renewal of the lease, `gc_jobs` once a minute and only
    when `may_collect()`. What fails is tried again the next time.
    """

    def __init__(
        self,
        clock: Clock,
        rng: random.Random,
        jobs: Sequence[Job],
        gc_jobs: Sequence[Job],
        may_collect: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._rng = rng
        self._jobs = jobs
        self._gc_jobs = gc_jobs
        self._may_collect = may_collect
        self._collected = clock.now()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, somewhere within the first interval."""
        self._timer = asyncio.get_running_loop().call_later(
            RENEW_INTERVAL * self._rng.random(), self._tick
        )

    async def stop(self) -> None:
        """No more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(RENEW_INTERVAL, self._tick)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._do())

    async def _do(self) -> None:
        try:
            for job in self._jobs:
                await job()
            if self._clock.now() - self._collected >= GC_PERIOD and self._may_collect():
                self._collected = self._clock.now()
                for job in self._gc_jobs:
                    await job()
        except (*REQUEST_ERRORS, RuntimeServiceError) as error:
            log.debug("housekeeping: %s", error)
