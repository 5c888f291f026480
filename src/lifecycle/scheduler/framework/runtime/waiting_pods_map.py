"""Pods that wait for a Permit plugin's yes.

Such a pod has its node, and its place is taken; only its binding waits, until every
plugin that asked for it has said yes, until one says no, or until its time is up. A
gang of pods can be bound all at once that way, or not at all.

Upstream: `pkg/scheduler/framework/runtime/waiting_pods_map.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from lifecycle.api.go.duration import go_duration
from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.status import Code, Status, unschedulable


class WaitingPodEntry:
    """One waiting pod. `wait_times`: plugin → seconds, on the running loop's clock."""

    def __init__(self, pod: Object, wait_times: Mapping[str, float]) -> None:
        self.pod = pod
        loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Status | None] = loop.create_future()
        self._timers = {
            plugin: loop.call_later(seconds, self._time_is_up, plugin, seconds)
            for plugin, seconds in wait_times.items()
        }

    @property
    def pending_plugins(self) -> list[str]:
        """Those that have not said yes."""
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        """A plugin's yes. With the last one the pod goes on."""
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers:
            self._settle(None)

    def reject(self, plugin: str, message: str) -> bool:
        """A no; whether it came in time."""
        return self._settle(unschedulable(plugin, message))

    def preempt(self, plugin: str, message: str) -> bool:
        """Its place is wanted by somebody else. Not a refusal: it is tried again after
        a back-off, without waiting for any change.
        """
        return self._settle(Status(Code.ERROR, (message,), plugin))

    async def settled(self) -> Status | None:
        """Wait for the answer; None is a yes."""
        return await self._answer

    def close(self) -> None:
        """Nobody asks any more."""
        for timer in self._timers.values():
            timer.cancel()

    def _time_is_up(self, plugin: str, seconds: float) -> None:
        waited = go_duration(seconds)
        text = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
        self.reject(plugin, text)

    def _settle(self, answer: Status | None) -> bool:
        self.close()
        if self._answer.done():
            return False
        self._answer.set_result(answer)
        return True


class WaitingPodsMap:
    """Waiting pods by uid; one map for all profiles of a scheduler."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPodEntry] = {}

    def __iter__(self) -> Iterator[WaitingPodEntry]:
        return iter(list(self._pods.values()))

    def __bool__(self) -> bool:
        return bool(self._pods)

    def add(self, waiting: WaitingPodEntry) -> None:
        """From now on it can be found."""
        self._pods[waiting.pod["metadata"]["uid"]] = waiting

    def remove(self, uid: str) -> None:
        """It does not wait any more."""
        waiting = self._pods.pop(uid, None)
        if waiting is not None:
            waiting.close()

    def get(self, uid: str) -> WaitingPodEntry | None:
        """The waiting pod, or None."""
        return self._pods.get(uid)

    def reject(self, uid: str) -> bool:
        """Say no for a pod that is gone; whether it waited."""
        waiting = self._pods.get(uid)
        if waiting is None:
            return False
        waiting.reject("", "removed")
        return True
