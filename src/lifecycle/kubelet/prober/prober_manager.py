"""Probing: is it started, is it alive, is it ready?

Each probe of each container has a worker; here are the workers, and what they have
found. Until the startup probe has passed, the other two are not asked. Liveness and
startup that fail kill the container; readiness only says so.

Upstream: `pkg/kubelet/prober/prober_manager.go` (`manager`),
`results/results_manager.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.prober.prober import Prober
from lifecycle.kubelet.prober.worker import (
    LIVENESS,
    READINESS,
    STARTUP,
    Worker,
)


@dataclass(slots=True, frozen=True)
class ProbeUpdate:
    """A result that is another than before. Upstream: `proberesults.Update`."""

    pod: Object
    kind: str
    container_id: str
    passed: bool


Status = Callable[[str], Object | None]
"""What was last reported of a pod, by uid."""


class ProbeManager:
    """Workers by pod uid, and their results by container id.

    `ready`, `started`: what probes say, absent where there is no probe. `unhealthy`:
    containers to be killed, and which probe says so. `update` is told of every result
    that is another than before.
    """

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        event: PodEvent,
        update: Callable[[ProbeUpdate], None],
        status: Status,
    ) -> None:
        self._prober = Prober(runtime)
        self._clock = clock
        self._event = event
        self._update = update
        self._status = status
        self._workers: dict[str, dict[Worker, asyncio.Task[None]]] = {}
        self.ready: dict[str, bool] = {}
        self.started: dict[str, bool] = {}
        self.unhealthy: dict[str, str] = {}

    def add_pod(self, pod: Object) -> None:
        """Start the workers of a pod's probes; again does no harm."""
        uid = pod["metadata"]["uid"]
        if uid in self._workers:
            return
        spec = pod["spec"]
        containers = [
            *spec["containers"],
            *(
                c
                for c in spec.get("initContainers") or ()
                if is_restartable_init_container(c)
            ),
        ]
        workers = {}
        for container in containers:
            for kind in (STARTUP, READINESS, LIVENESS):
                if container.get(f"{kind}Probe"):
                    worker = self._worker(pod, container, kind)
                    name = f"{kind} probe {container['name']}"
                    workers[worker] = asyncio.get_running_loop().create_task(
                        worker.run(), name=name
                    )
        if workers:
            self._workers[uid] = workers

    def _worker(self, pod: Object, container: Object, kind: str) -> Worker:
        return Worker(
            pod,
            container,
            kind,
            self._prober,
            status=self._status,
            now=self._clock.now,
            event=self._event,
            result=self._set,
        )

    def trigger_readiness(self, uid: str, status: Object) -> None:
        """Containers that run, have started and are not ready are asked again at once.
        Upstream: in `UpdatePodStatus`.
        """
        workers = self._workers.get(uid)
        if not workers:
            return
        waiting = {
            entry["name"]
            for key in ("containerStatuses", "initContainerStatuses")
            for entry in status.get(key) or ()
            if "running" in entry["state"]
            and entry.get("started")
            and not entry["ready"]
        }
        for worker in workers:
            if worker.kind == READINESS and worker.container_name in waiting:
                worker.trigger()

    def stop_liveness_and_startup(self, uid: str) -> None:
        """A pod that is being ended is not killed for being ill any more; whether it is
        ready is still of interest.
        """
        for worker, task in self._workers.get(uid, {}).items():
            if worker.kind != READINESS:
                task.cancel()

    def remove_pod(self, uid: str) -> None:
        """Stop the workers."""
        for task in self._workers.pop(uid, {}).values():
            task.cancel()

    def forget_container(self, container_id: str) -> None:
        """Its results are of no use any more."""
        for results in (self.ready, self.started):
            results.pop(container_id, None)
        self.unhealthy.pop(container_id, None)

    async def stop(self) -> None:
        """Stop all workers."""
        tasks = [
            task for workers in self._workers.values() for task in workers.values()
        ]
        for uid in list(self._workers):
            self.remove_pod(uid)
        await asyncio.gather(*tasks, return_exceptions=True)

    def expect(
        self, container_id: str, container: Object, reported: Object | None = None
    ) -> None:
        """A container has just been started: until a probe says otherwise it is not
        ready, not started, and alive.

        `reported`: what an earlier kubelet reported of the very same run; that holds on
        until a probe says otherwise (since 1.35; before, every restart of a kubelet
        made its pods unready for a moment).
        """
        if container.get("readinessProbe"):
            self.ready.setdefault(
                container_id, bool(reported and reported.get("ready"))
            )
        if container.get("startupProbe"):
            self.started.setdefault(
                container_id, bool(reported and reported.get("started"))
            )

    def _set(
        self, pod: Object, container: Object, kind: str, container_id: str, passed: bool
    ) -> None:
        """A result that counts. Whoever looks after the pod hears of it if it is
        another than before.
        """
        if kind == READINESS:
            changed = self.ready.get(container_id) != passed
            self.ready[container_id] = passed
        elif kind == STARTUP and passed:
            changed = not self.started.get(container_id, False)
            self.started[container_id] = True
        else:
            changed = not passed
            if not passed:
                self.unhealthy[container_id] = kind
        if changed:
            self._update(ProbeUpdate(pod, kind, container_id, passed))
