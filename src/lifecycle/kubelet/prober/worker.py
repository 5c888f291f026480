"""One probe of one container, asked again and again.

A worker asks every `periodSeconds`, counted from when the pod was first seen, and once
in between when it is told to: so a container is ready as soon as it can be. It goes by
what was last reported of the pod: a container that is not known to run is not asked,
and until it is known to have started only its startup probe is. An answer counts when
it has been the same `successThreshold` or `failureThreshold` times in a row; a probe
that could not be made is no answer.

Upstream: `pkg/kubelet/prober/worker.go` (`worker.run`, `doProbe`), v1.36. Left out: the
random delay of the first probe after a kubelet's start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.pods.restart_policy import container_should_restart
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.container.restart_all import should_all_containers_restart
from lifecycle.kubelet.prober.prober import ProbeError, Prober

LIVENESS, READINESS, STARTUP = "liveness", "readiness", "startup"

Result = Callable[[Object, Object, str, str, bool], None]
"""Takes pod, container, kind of probe, container id and whether it passed: a result
that counts.
"""


class Worker:
    """`status(uid)`: what was last reported of a pod; `now()`: seconds."""

    def __init__(
        self,
        pod: Object,
        container: Object,
        kind: str,
        prober: Prober,
        *,
        status: Callable[[str], Object | None],
        now: Callable[[], float],
        event: PodEvent,
        result: Result,
    ) -> None:
        self.kind = kind
        self.container_name = container["name"]
        self._pod = pod
        self._container = container
        self._spec: Object = container[f"{kind}Probe"]
        self._prober = prober
        self._status = status
        self._now = now
        self._event = event
        self._result = result
        self._triggered = False
        self._waiting: asyncio.Future[None] | None = None
        self._container_id = ""
        self._last: bool | None = None
        self._run = 0
        self._on_hold = False

    def trigger(self) -> None:
        """Ask at once, and count the period from then on."""
        self._triggered = True
        self._wake()

    async def run(self) -> None:
        """Until cancelled, or there is nothing left to ask."""
        loop = asyncio.get_running_loop()
        period = float(self._spec.get("periodSeconds") or 10)
        due = loop.time()
        pauses = Pauses()  # thousands may be due at the same moment
        while await self._do_probe():
            due += period
            missed = loop.time() - due
            if missed > period:  # of all that were missed, one is made up for
                due += missed // period * period
            if await self._triggered_within(due - loop.time()):
                due = loop.time()
            await pauses.pause()

    async def _triggered_within(self, seconds: float) -> bool:
        """Of thousands, each second, most are not: to wait must cost little."""
        if not self._triggered:
            loop = asyncio.get_running_loop()
            self._waiting = loop.create_future()
            timer = loop.call_later(max(seconds, 0.0), self._wake)
            try:
                await self._waiting
            finally:
                timer.cancel()
        triggered, self._triggered = self._triggered, False
        return triggered

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _reported(self, status: Object) -> Object | None:
        for key in ("containerStatuses", "initContainerStatuses"):
            for entry in status.get(key) or ():
                if entry["name"] == self.container_name and entry.get("containerID"):
                    return dict(entry)
        return None

    async def _do_probe(self) -> bool:
        """Ask once, if it is time to. False: never again."""
        pod, container = self._pod, self._container
        status = self._status(pod["metadata"]["uid"])
        if status is None:
            return True
        if is_pod_phase_terminal(status.get("phase")):
            return False
        entry = self._reported(status)
        if entry is None:
            return True  # it has not been created yet
        container_id = entry["containerID"].partition("://")[2]
        if container_id != self._container_id:
            self._container_id, self._on_hold = container_id, False
        if self._on_hold:
            return True
        running = entry["state"].get("running")
        if running is None:
            ended = entry["state"].get("terminated")
            return (
                ended is None
                or container_should_restart(pod["spec"], container, ended["exitCode"])
                or should_all_containers_restart(pod["spec"], None, status)
            )
        if int(self._now() - parse_time(running["startedAt"])) < int(
            self._spec.get("initialDelaySeconds") or 0
        ):
            return True
        if bool(entry.get("started")) == (self.kind == STARTUP):
            return True
        try:
            passed, output = await self._prober.probe(
                self._spec, container, container_id, status.get("podIP", "")
            )
        except ProbeError as error:
            message = (
                f"{self.kind.capitalize()} probe errored and resulted in unknown state:"
                f" {error}"
            )
            self._event(pod, "Warning", "Unhealthy", message, self.container_name)
            return True
        if not passed:
            message = f"{self.kind.capitalize()} probe failed: {output}"
            self._event(pod, "Warning", "Unhealthy", message, self.container_name)
        elif output:
            message = f"{self.kind.capitalize()} probe warning: {output}"
            self._event(pod, "Warning", "ProbeWarning", message, self.container_name)
        self._run = self._run + 1 if passed == self._last else 1
        self._last = passed
        threshold = (
            self._spec.get("successThreshold") or 1
            if passed
            else self._spec.get("failureThreshold") or 3
        )
        if self._run < threshold:
            return True
        self._result(pod, container, self.kind, container_id, passed)
        if self.kind == STARTUP or (self.kind == LIVENESS and not passed):
            self._on_hold, self._run = (
                True,
                0,
            )  # the answer is final for this run of the container
        return True
