"""The scheduling queue: whose turn it is, and who waits for what.

Three places. *Active*: ready to be tried, by priority and age. *Back-off*: tried in
vain not long ago; waits 1 s, 2 s, 4 s … up to 10 s, so that one hopeless pod does not
keep the others waiting. *Unschedulable*: nothing has changed that could help it.

Who comes back though no plugin refused it (the API server did not answer, an extender
was down, there is no node at all) goes straight to the back-off, and sits it out to the
end: trying sooner would only hurt whoever is in trouble.

What gets a pod out of *unschedulable* is an event in the cluster, asked about through
*queueing hints*: each plugin that refused the pod says which events matter to it and,
shown the event, whether this one could help. A pod that needs more memory does not stir
when a node's label changes. In case a hint is wrong, every pod is tried again after
five minutes.

Upstream: `pkg/scheduler/backend/queue/scheduling_queue.go` (`PriorityQueue`),
`active_queue.go`, `backoff_queue.go`, v1.36. Left out: events during a pod's attempt
(`inFlightEvents`): on one loop an attempt is over before an event can arrive; windows
that back-off times are aligned to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.scheduler.backend.heap import Heap
from lifecycle.scheduler.framework.events import FORCE_ACTIVATE, pod_events
from lifecycle.scheduler.framework.interface import PreEnqueuePlugin
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.types import (
    ClusterEvent,
    QueuedPodInfo,
    always,
)

POD_INITIAL_BACKOFF = 1.0
POD_MAX_BACKOFF = 10.0
POD_MAX_IN_UNSCHEDULABLE_PODS_DURATION = 300.0
FLUSH_UNSCHEDULABLE_PERIOD = 30.0


class SchedulingQueue:
    """Keys are `namespace/name`. All times are seconds of the clock."""

    def __init__(
        self,
        frameworks: Framework | Mapping[str, Framework],
        clock: Clock,
        *,
        initial_backoff: float = POD_INITIAL_BACKOFF,
        max_backoff: float = POD_MAX_BACKOFF,
    ) -> None:
        if isinstance(frameworks, Framework):
            frameworks = {frameworks.profile_name: frameworks}
        self._frameworks = frameworks
        self._default = next(iter(frameworks.values()))
        self._initial_backoff, self._max_backoff = initial_backoff, max_backoff
        self.moves = 0
        """Cluster events seen so far: an attempt that takes time compares it before and
        after.
        """
        self._clock = clock
        [queue_sort] = self._default.queue_sort_plugins
        self._active = Heap(queue_sort.less)
        self._backoff = Heap(self._expires_before)
        self._error_backoff = Heap(self._expires_before)
        self._unschedulable: dict[str, QueuedPodInfo] = {}
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._flush_timer: asyncio.TimerHandle | None = None

    # -- in ----------------------------------------------------------------------------

    def add(self, pod: Object) -> None:
        """A new pod without a node."""
        queued = QueuedPodInfo(PodInfo(pod), self._clock.now())
        self.delete(queued.key)
        self._move_to_active(queued)

    def update(self, old: Object, new: Object) -> None:
        """A waiting pod changed. What waits stays where it is, unless the change could
        help it.
        """
        key = f"{new['metadata']['namespace']}/{new['metadata']['name']}"
        for heap in (self._active, self._backoff, self._error_backoff):
            queued = heap.get(key)
            if queued is not None:
                queued.info = PodInfo(new, queued.info)
                return
        queued = self._unschedulable.get(key)
        if queued is None:
            return
        queued.info = PodInfo(new, queued.info)
        for event in pod_events("Pod", old, new):
            if self._requeue(queued, event, old, new):
                break

    def delete(self, key: str) -> None:
        """The pod is gone, or has a node."""
        self._active.remove(key)
        self._backoff.remove(key)
        self._error_backoff.remove(key)
        self._unschedulable.pop(key, None)

    def add_unschedulable(self, queued: QueuedPodInfo) -> None:
        """Tried in vain. Refused by plugins, it waits for an event that could help;
        else it is tried again a little later.

        Upstream: `AddUnschedulableIfNotPresent`.
        """
        queued.timestamp = self._clock.now()
        if not queued.unschedulable_plugins and not queued.pending_plugins:
            queued.consecutive_errors += 1
            self._move_to_backoff(queued)
            return
        queued.unschedulable_count += 1
        queued.consecutive_errors = 0
        self._unschedulable[queued.key] = queued
        self._arm_flush()

    def activate(self, key: str) -> None:
        """Somebody wants the pod tried again now, if it waits. Upstream: `Activate`."""
        queued = (
            self._backoff.remove(key)
            or self._error_backoff.remove(key)
            or self._unschedulable.pop(key, None)
        )
        if queued is not None:
            self._move_to_active(queued)

    # -- out ---------------------------------------------------------------------------

    async def pop(self) -> QueuedPodInfo:
        """The next pod; waits for one."""
        while True:
            queued = self.try_pop()
            if queued is not None:
                return queued
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    def try_pop(self) -> QueuedPodInfo | None:
        """The next pod, or None. With nothing active, a pod still backing off is better
        than idling (since v1.33).

        Not so one that backs off from an error.
        """
        queued = self._active.pop() or self._backoff.pop()
        if queued is not None:
            queued.attempts += 1
            queued.unschedulable_plugins = set()
            queued.pending_plugins = set()
        return queued

    # -- events ------------------------------------------------------------------------

    def move_all(
        self,
        event: ClusterEvent,
        old: Object | None,
        new: Object | None,
        only: Callable[[PodInfo], bool] = lambda info: True,
    ) -> None:
        """Something changed in the cluster: out with those it could help. Upstream:
        `MoveAllToActiveOrBackoffQueue`.
        """
        self.moves += 1
        if not self._unschedulable:
            return
        kept_out: dict[PreEnqueuePlugin, Collection[str] | None] = {}
        for queued in list(self._unschedulable.values()):
            if queued.gated and event is not FORCE_ACTIVATE:
                framework = self._framework_of(queued.info.pod)
                gate = framework.pre_enqueue_plugins[queued.gating_plugin]
                if gate not in kept_out:
                    cares = self._cares(queued, gate, event)
                    kept_out[gate] = gate.kept_out() if cares else None
                kept = kept_out[gate]
                if (
                    kept is None
                    or queued.info.uid in kept
                    or gate.pre_enqueue(queued.info.pod) is not None
                ):
                    continue  # it stays out
            if only(queued.info):
                self._requeue(queued, event, old, new)

    def pending_pods(self) -> dict[str, list[str]]:
        """Keys by place: `active`, `backoff`, `unschedulable`, `gated`."""
        return {
            "active": [pod.key for pod in self._active],
            "backoff": [
                pod.key for heap in (self._backoff, self._error_backoff) for pod in heap
            ],
            "unschedulable": [
                key for key, pod in self._unschedulable.items() if not pod.gated
            ],
            "gated": [key for key, pod in self._unschedulable.items() if pod.gated],
        }

    def close(self) -> None:
        """Stop all timers."""
        for timer in (self._timer, self._flush_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._flush_timer = None

    # -- inside ------------------------------------------------------------------------

    def _requeue(
        self,
        queued: QueuedPodInfo,
        event: ClusterEvent,
        old: Object | None,
        new: Object | None,
    ) -> bool:
        """Out of *unschedulable*, if the event could help; whether it is out. One that
        was only told to wait does not have to back off. Upstream:
        `isPodWorthRequeuing`.
        """
        rejectors = queued.unschedulable_plugins | queued.pending_plugins
        helped = rejectors
        if event is not FORCE_ACTIVATE and rejectors:
            hints = self._framework_of(queued.info.pod).hints
            helped = set()
            for plugin in rejectors:
                # an extender, or a plugin that does not say what would help
                hint = hints[plugin].get(event) if plugin in hints else always
                if hint is not None and hint(queued.info, old, new):
                    helped.add(plugin)
            if not helped:
                return False
        del self._unschedulable[queued.key]
        if helped & queued.pending_plugins:
            self._move_to_active(queued)
        else:
            self._move_to_active_or_backoff(queued)
        return True

    def _framework_of(self, pod: Object) -> Framework:
        return self._frameworks.get(pod["spec"].get("schedulerName", ""), self._default)

    def _cares(
        self, queued: QueuedPodInfo, gate: PreEnqueuePlugin, event: ClusterEvent
    ) -> bool:
        """Whether the event says anything to the plugin that keeps a pod out. Upstream:
        `GatingPluginEvents`.
        """
        hints = self._framework_of(queued.info.pod).hints
        return event in hints.get(gate.name, {event: always})

    def _gated(self, queued: QueuedPodInfo) -> bool:
        """Whether a plugin keeps the pod out; if so it waits for what that plugin wants
        to hear of.
        """
        plugins = self._framework_of(queued.info.pod).pre_enqueue_plugins
        for name, plugin in plugins.items():
            status = plugin.pre_enqueue(queued.info.pod)
            if status is not None:
                queued.gating_plugin = name
                queued.unschedulable_plugins.add(name)
                self._unschedulable[queued.key] = queued
                return True
        queued.gating_plugin = ""
        return False

    def _move_to_active(self, queued: QueuedPodInfo) -> None:
        if not self._gated(queued):
            self._active.push(queued)
            self._wake()

    def _move_to_backoff(self, queued: QueuedPodInfo) -> None:
        if self._gated(queued):
            return
        rejected = queued.unschedulable_plugins or queued.pending_plugins
        (self._backoff if rejected else self._error_backoff).push(queued)
        self._arm(self._expires(queued))
        self._wake()

    def _move_to_active_or_backoff(self, queued: QueuedPodInfo) -> None:
        if self._expires(queued) > self._clock.now():
            self._move_to_backoff(queued)
        else:
            self._move_to_active(queued)

    def backoff_duration(self, queued: QueuedPodInfo) -> float:
        """1 s after the first failure, doubled by each further one, at most 10 s.
        Errors in a row count on their own.
        """
        failures = queued.consecutive_errors or queued.unschedulable_count
        if not failures:
            return 0.0
        return float(
            min(self._initial_backoff * 2 ** min(failures - 1, 10), self._max_backoff)
        )

    def _expires(self, queued: QueuedPodInfo) -> float:
        return queued.timestamp + self.backoff_duration(queued)

    def _expires_before(self, one: QueuedPodInfo, other: QueuedPodInfo) -> bool:
        return self._expires(one) < self._expires(other)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _arm(self, when: float) -> None:
        """One timer for the next pod whose back-off ends (upstream looks once a
        second).
        """
        if self._timer is not None:
            if self._timer_at <= when:
                return
            self._timer.cancel()
        self._timer_at = when
        delay = max(when - self._clock.now(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(
            delay, self._flush_backoff_completed
        )

    def _flush_backoff_completed(self) -> None:
        self._timer = None
        now = self._clock.now() + 1e-6
        for heap in (self._backoff, self._error_backoff):
            while (queued := heap.peek()) is not None:
                expires = self._expires(queued)
                if expires > now:
                    self._arm(expires)
                    break
                heap.pop()
                self._move_to_active(queued)

    def _arm_flush(self) -> None:
        if self._flush_timer is None:
            loop = asyncio.get_running_loop()
            self._flush_timer = loop.call_later(
                FLUSH_UNSCHEDULABLE_PERIOD, self._flush_unschedulable_leftover
            )

    def _flush_unschedulable_leftover(self) -> None:
        self._flush_timer = None
        now = self._clock.now()
        for key, queued in list(self._unschedulable.items()):
            if (
                not queued.gated
                and now - queued.timestamp > POD_MAX_IN_UNSCHEDULABLE_PODS_DURATION
            ):
                del self._unschedulable[key]
                self._move_to_active_or_backoff(queued)
        if any(not queued.gated for queued in self._unschedulable.values()):
            self._arm_flush()
