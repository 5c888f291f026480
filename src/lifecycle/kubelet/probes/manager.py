"""Probing: is it started, is it alive, is it ready?

Each probe of each container has a worker that asks every `periodSeconds`. An answer counts when it has been the same
`successThreshold` or `failureThreshold` times in a row. Until the startup probe has passed, the other two are not
asked. Liveness and startup that fail kill the container; readiness only says so.

Upstream: `pkg/kubelet/prober/prober_manager.go` (`manager`), `worker.go` (`doProbe`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.api.clock import Clock
from lifecycle.api.wire import Object
from lifecycle.cri.runtime import ContainerState, ContainerStatus, Runtime
from lifecycle.kubelet.phase import is_sidecar
from lifecycle.kubelet.probes.prober import Prober

KINDS = {"startup": "startupProbe", "liveness": "livenessProbe", "readiness": "readinessProbe"}

Update = Callable[[Object], None]
"""Called with a pod when a result has changed."""

PodEvent = Callable[[Object, str, str, str, str], None]


class ProbeManager:
    """Workers by pod uid, and their results by container id.

    `ready`, `started`: what probes say, absent where there is no probe. `unhealthy`: containers to be killed, and the
    text for the event.
    """

    def __init__(self, runtime: Runtime, clock: Clock, event: PodEvent, update: Update) -> None:
        self._runtime = runtime
        self._prober = Prober(runtime)
        self._clock = clock
        self._event = event
        self._update = update
        self._workers: dict[str, list[asyncio.Task[None]]] = {}
        self.ready: dict[str, bool] = {}
        self.started: dict[str, bool] = {}
        self.unhealthy: dict[str, str] = {}

    def add_pod(self, pod: Object) -> None:
        """Start the workers of a pod's probes; again does no harm."""
        uid = pod["metadata"]["uid"]
        if uid in self._workers:
            return
        spec = pod["spec"]
        containers = [*spec["containers"], *(c for c in spec.get("initContainers") or () if is_sidecar(c))]
        workers = []
        for container in containers:
            for kind, field in KINDS.items():
                if container.get(field):
                    work = self._work(pod, container, kind, container[field])
                    workers.append(
                        asyncio.get_running_loop().create_task(work, name=f"{kind} probe {container['name']}")
                    )
        if workers:
            self._workers[uid] = workers

    def remove_pod(self, uid: str) -> None:
        """Stop the workers."""
        for task in self._workers.pop(uid, ()):
            task.cancel()

    def forget_container(self, container_id: str) -> None:
        """Its results are of no use any more."""
        for results in (self.ready, self.started):
            results.pop(container_id, None)
        self.unhealthy.pop(container_id, None)

    async def stop(self) -> None:
        """Stop all workers."""
        tasks = [task for workers in self._workers.values() for task in workers]
        for uid in list(self._workers):
            self.remove_pod(uid)
        await asyncio.gather(*tasks, return_exceptions=True)

    def expect(self, container_id: str, container: Object, told: Object | None = None) -> None:
        """A container has just been started: until a probe says otherwise it is not ready, not started, and alive.

        `told`: what an earlier kubelet reported of the very same run; that holds on until a probe says otherwise (since
        1.35; before, every restart of a kubelet made its pods unready for a moment).
        """
        if container.get("readinessProbe"):
            self.ready.setdefault(container_id, bool(told and told.get("ready")))
        if container.get("startupProbe"):
            self.started.setdefault(container_id, bool(told and told.get("started")))

    async def _latest(self, uid: str, name: str) -> tuple[ContainerStatus | None, str]:
        for sandbox in await self._runtime.list_pod_sandbox(uid):
            for status in await self._runtime.list_containers(sandbox.id):
                if status.metadata.name == name:
                    return status, sandbox.ip
        return None, ""

    async def _work(self, pod: Object, container: Object, kind: str, probe: Object) -> None:
        uid, name = pod["metadata"]["uid"], container["name"]
        period = float(probe.get("periodSeconds") or 10)
        container_id, run, last = "", 0, None
        on_hold = False
        while True:
            status, ip = await self._latest(uid, name)
            if status is None or status.state is not ContainerState.RUNNING:
                await asyncio.sleep(period)
                continue
            if status.id != container_id:
                container_id, run, last, on_hold = status.id, 0, None, False
                self.expect(container_id, container)
            age = self._clock.now() - status.started_at / 1e9
            initial_delay = float(probe.get("initialDelaySeconds") or 0)
            if age < initial_delay:
                await asyncio.sleep(min(initial_delay - age, period))
                continue
            started = self.started.get(container_id, True)
            if on_hold or started == (kind == "startup"):
                await asyncio.sleep(period)
                continue
            passed, output = await self._prober.probe(probe, container, container_id, ip)
            if not passed:
                self._event(pod, "Warning", "Unhealthy", f"{kind.capitalize()} probe failed: {output}", name)
            run = run + 1 if passed == last else 1
            last = passed
            if run >= int(probe.get("successThreshold" if passed else "failureThreshold") or (1 if passed else 3)):
                on_hold = self._set(pod, container, kind, container_id, passed)
            await asyncio.sleep(period)

    def _set(self, pod: Object, container: Object, kind: str, container_id: str, passed: bool) -> bool:
        """A result that counts. True: the container is to be killed, ask no more."""
        if kind == "readiness":
            changed = self.ready.get(container_id) != passed
            self.ready[container_id] = passed
        elif kind == "startup" and passed:
            changed = not self.started.get(container_id, False)
            self.started[container_id] = True
        else:
            changed = not passed
            if not passed:
                self.unhealthy[container_id] = f"Container {container['name']} failed {kind} probe, will be restarted"
        if changed:
            self._update(pod)
        return kind != "readiness" and not passed
