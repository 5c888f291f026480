"""Stopping containers: first the word to everybody, then the pre-stop hook, then its
turn, then the signal.

How much time there is comes from the pod's deletion, from the probe that condemned the
container, or from the pod's spec. Hook and waiting come out of that time; two seconds
are always left for the program itself. A hook that takes longer is not stopped, only no
longer waited for.

Of a pod that ends, containers and sidecars are stopped at the same time, but a sidecar
waits until the containers, and the sidecars that came after it, have ended.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_container.go` (`killContainer`,
`executePreStopHook`, `setTerminationGracePeriod`, `killContainersWithSyncResult`),
`kuberuntime_termination_order.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.lifecycle.handlers import HookRunner

MINIMUM_GRACE_PERIOD = 2.0
"""Seconds that a program always gets."""


def termination_grace_period(
    pod: Object, container: Object | None, message: str
) -> float:
    """Seconds. `message` tells whether a probe has condemned it, which may then have a
    period of its own: instead of the pod's, never of the one it is deleted with.
    """
    deletion = pod["metadata"].get("deletionGracePeriodSeconds")
    if deletion is not None:
        return float(deletion)
    for kind in ("liveness", "startup"):
        own = ((container or {}).get(f"{kind}Probe") or {}).get(
            "terminationGracePeriodSeconds"
        )
        if own is not None and f"failed {kind} probe" in message:
            return float(own)
    return float(pod["spec"].get("terminationGracePeriodSeconds", 30))


class TerminationOrder:
    """Who has to wait for whom. `running`: names of the containers that run."""

    def __init__(self, spec: Object, running: Iterable[str]) -> None:
        left = set(running)
        names = [
            c["name"]
            for c in [*spec["containers"], *(spec.get("initContainers") or ())]
        ]
        self._ended = {name: asyncio.Event() for name in names}
        for name, ended in self._ended.items():
            if name not in left:
                ended.set()
        mains = [c["name"] for c in spec["containers"]]
        self._before: dict[str, list[str]] = {}
        later: list[str] = []
        for container in reversed(spec.get("initContainers") or ()):
            if is_restartable_init_container(container):
                self._before[container["name"]] = [*mains, *later]
                later = [container["name"]]

    async def wait_for_turn(self, name: str, seconds: float) -> None:
        """Until all that go before have ended, or the time is up."""
        try:
            async with asyncio.timeout(seconds):
                for other in self._before.get(name, ()):
                    await self._ended[other].wait()
        except TimeoutError:
            pass

    def container_terminated(self, name: str) -> None:
        """Whoever waits for it may go on."""
        if name in self._ended:
            self._ended[name].set()


class ContainerKiller:
    """One per node."""

    def __init__(
        self, runtime: Runtime, clock: Clock, hooks: HookRunner, event: PodEvent
    ) -> None:
        self._runtime = runtime
        self._clock = clock
        self._hooks = hooks
        self._event = event

    async def kill_all(
        self, pod: Object, runs: Iterable[ContainerStatus], grace_period: float | None
    ) -> None:
        """Stop all that run, each at its turn."""
        running = [run for run in runs if run.state is ContainerState.RUNNING]
        order = TerminationOrder(pod["spec"], (run.metadata.name for run in running))
        if len(running) == 1:
            await self.kill(pod, running[0], grace_period=grace_period, order=order)
        elif running:
            async with asyncio.TaskGroup() as kills:
                for run in running:
                    kills.create_task(
                        self.kill(pod, run, grace_period=grace_period, order=order)
                    )

    async def kill(
        self,
        pod: Object,
        run: ContainerStatus,
        message: str = "",
        *,
        grace_period: float | None = None,
        order: TerminationOrder | None = None,
    ) -> None:
        """Stop one. `message` is what the event says; `grace_period` overrides what the
        pod says, in seconds.
        """
        name = run.metadata.name
        spec = pod["spec"]
        containers = [*spec["containers"], *(spec.get("initContainers") or ())]
        container = next((c for c in containers if c["name"] == name), None)
        grace = (
            termination_grace_period(pod, container, message)
            if grace_period is None
            else grace_period
        )
        self._event(
            pod, "Normal", "Killing", message or f"Stopping container {name}", name
        )
        hook = ((container or {}).get("lifecycle") or {}).get("preStop")
        if hook and container is not None and grace > 0:
            grace -= await self._pre_stop(pod, run, container, hook, grace)
        if order is not None and grace > 0:
            before = self._clock.now()
            await order.wait_for_turn(name, grace)
            grace -= int(self._clock.now() - before)
        await self._runtime.stop_container(run.id, max(grace, MINIMUM_GRACE_PERIOD))
        if order is not None:
            order.container_terminated(name)

    async def _pre_stop(
        self,
        pod: Object,
        run: ContainerStatus,
        container: Object,
        hook: Object,
        grace: float,
    ) -> float:
        """Run the hook, and wait for it as long as there is time; the whole seconds
        that this took.
        """
        before = self._clock.now()
        sandbox = await self._runtime.pod_sandbox_status(run.pod_sandbox_id)

        async def run_hook() -> None:
            if await self._hooks.run(pod, run.id, container, hook, sandbox.ip):
                self._event(
                    pod,
                    "Warning",
                    "FailedPreStopHook",
                    "PreStopHook failed",
                    container["name"],
                )

        task = asyncio.get_running_loop().create_task(
            run_hook(), name=f"pre-stop {container['name']}"
        )
        self._hooks.keep(task)
        try:
            await asyncio.wait({task}, timeout=grace)
        except asyncio.CancelledError:  # there is less time now: it begins again
            task.cancel()
            raise
        return int(self._clock.now() - before)
