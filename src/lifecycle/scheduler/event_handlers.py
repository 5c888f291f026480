"""From watch events to cache and queue.

Pods with a node go into the cache, pods without one into the queue (if they are ours to
schedule). Everything that could make a waiting pod schedulable becomes a
`ClusterEvent`, and the queue asks its hints.

Upstream: `pkg/scheduler/eventhandlers.go` (`addAllEventHandlers`,
`addPodToSchedulingQueue` …), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.events import (
    NODE_ADDED,
    NODE_DELETED,
    POD_ADDED,
    POD_DELETED,
    node_events,
    pod_events,
)
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.types import ClusterEvent
from lifecycle.scheduler.informers import SchedulerInformers

TERMINAL = ("Succeeded", "Failed")


def key_of(obj: Object) -> str:
    """`namespace/name`."""
    metadata = obj["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}"


class EventHandlers:
    """Handlers for the informers of pods, nodes and the rest. `responsible` says
    whether a pod is ours to schedule; `reject_waiting_pod` ends the wait of one that is
    gone, by its uid.
    """

    def __init__(
        self,
        cache: Cache,
        queue: SchedulingQueue,
        nominator: Nominator,
        responsible: Callable[[Object], bool],
        reject_waiting_pod: Callable[[str], bool] = lambda uid: False,
    ) -> None:
        self._cache = cache
        self._queue = queue
        self._nominator = nominator
        self._responsible = responsible
        self._reject_waiting_pod = reject_waiting_pod

    # -- pods --------------------------------------------------------------------------

    def pod_added(self, pod: Object) -> None:
        """A pod appeared."""
        if (pod.get("status") or {}).get("phase") in TERMINAL:
            return
        if pod["spec"].get("nodeName"):
            self._assigned(pod)
        elif self._responsible(pod) and not pod["metadata"].get("deletionTimestamp"):
            self._nominate({}, pod)
            self._queue.add(pod)

    def pod_updated(self, old: Object, new: Object) -> None:
        """A pod changed: it got a node, it ended, or only its status moved on.

        If nobody was told that a pod is gone, because the watch was lost in between,
        its successor looks like a change of it. Upstream: `updatePodInCache`.
        """
        if old["metadata"].get("uid") != new["metadata"].get("uid"):
            self.pod_deleted(old)
            self.pod_added(new)
            return
        key = key_of(new)
        if (new.get("status") or {}).get("phase") in TERMINAL:
            if key in self._cache:
                self._cache.remove_pod(new)
                self._queue.move_all(POD_DELETED, new, None)
            self._queue.delete(key)
            self._nominator.delete_nominated_pod_if_exists(key)
            return
        if not new["spec"].get("nodeName"):
            if key in self._cache or not self._responsible(new):
                return  # assumed already: the binding is on its way
            self._nominate(old, new)
            self._queue.update(old, new)
            self._let_go(old, (new.get("status") or {}).get("nominatedNodeName"))
            return
        if not old["spec"].get("nodeName"):
            self._let_go(old, None)
            self._assigned(new)
            return
        self._cache.update_pod(new)
        for event in pod_events("AssignedPod", old, new):
            self._queue.move_all(event, old, new)

    def pod_deleted(self, pod: Object) -> None:
        """A pod is gone."""
        key = key_of(pod)
        self._queue.delete(key)
        self._nominator.delete_nominated_pod_if_exists(key)
        self._reject_waiting_pod(pod["metadata"].get("uid", ""))
        if key in self._cache:
            self._cache.remove_pod(pod)
            self._queue.move_all(POD_DELETED, pod, None)
        elif not pod["spec"].get("nodeName"):
            self._let_go(pod, None)

    def _let_go(self, old: Object, still: str | None) -> None:
        """A pod that a node was kept for is gone or goes elsewhere: those who had to
        respect it may try again.
        """
        nominated = (old.get("status") or {}).get("nominatedNodeName")
        if nominated and nominated != still:
            priority = PodInfo(old).priority
            self._queue.move_all(
                POD_DELETED, old, None, lambda info: info.priority <= priority
            )

    def _nominate(self, old: Object, new: Object) -> None:
        """Keep what the pod's status says is kept for it: by us in an earlier life, or
        by somebody else.

        An update without a nomination, before and after, may be older than our own
        decision: that stays.
        """
        key = key_of(new)
        before, after = (
            (pod.get("status") or {}).get("nominatedNodeName") or ""
            for pod in (old, new)
        )
        node = after or ("" if before else self._nominator.nominated_node_of(key))
        if node:
            self._nominator.add_nominated_pod(PodInfo(new), node)
        else:
            self._nominator.delete_nominated_pod_if_exists(key)

    def _assigned(self, pod: Object) -> None:
        key = key_of(pod)
        self._cache.add_pod(pod)
        self._queue.delete(key)
        self._nominator.delete_nominated_pod_if_exists(key)
        self._queue.move_all(POD_ADDED, None, pod)

    # -- nodes and the rest ------------------------------------------------------------

    def node_added(self, node: Object) -> None:
        """A node appeared."""
        self._cache.add_node(node)
        self._queue.move_all(NODE_ADDED, None, node)

    def node_updated(self, old: Object, new: Object) -> None:
        """A node changed. A mere heartbeat changes nothing for the scheduler."""
        events = node_events(old, new)
        images = (old.get("status") or {}).get("images") != (
            new.get("status") or {}
        ).get("images")
        if events or images or (old.get("spec") or {}) != (new.get("spec") or {}):
            self._cache.add_node(new)
        for event in events:
            self._queue.move_all(event, old, new)

    def node_deleted(self, node: Object) -> None:
        """A node is gone."""
        self._cache.remove_node(node)
        self._queue.move_all(NODE_DELETED, node, None)

    def other(
        self, kind: str
    ) -> tuple[
        Callable[[Object], None],
        Callable[[Object, Object], None],
        Callable[[Object], None],
    ]:
        """Handlers for a kind that some plugin only wants to hear of."""
        return (
            lambda new: self._queue.move_all(ClusterEvent(kind, "Add"), None, new),
            lambda old, new: self._queue.move_all(
                ClusterEvent(kind, "Update"), old, new
            ),
            lambda old: self._queue.move_all(ClusterEvent(kind, "Delete"), old, None),
        )


async def add_all_event_handlers(
    informers: SchedulerInformers, handlers: EventHandlers
) -> None:
    """Hear of everything. Pods come last, once the rest is known: else the first ones
    would be decided in a cluster that looks empty.
    """
    informers.nodes.add_event_handler(
        handlers.node_added, handlers.node_updated, handlers.node_deleted
    )
    for kind, informer in informers.others.items():
        informer.add_event_handler(*handlers.other(kind))
    await asyncio.gather(*(i.wait_for_sync() for i in informers.all_but_pods()))
    informers.pods.add_event_handler(
        handlers.pod_added, handlers.pod_updated, handlers.pod_deleted
    )
    await informers.pods.wait_for_sync()
