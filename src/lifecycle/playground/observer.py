"""Whoever looks at the cluster: a client like any other, with one watch for each
resource.

Upstream: `client-go/tools/cache/shared_informer.go`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.playground.event_stream import EventStream
from lifecycle.playground.picture import (
    controller_of,
    in_order,
    shown_node,
    shown_object,
)
from lifecycle.playground.pod_history import PodHistory, pod_state

WORKLOADS = (
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "cronjobs.batch",
    "jobs.batch",
    "replicasets.apps",
    "pods",
    "services",
    "endpointslices.discovery.k8s.io",
    "resourcequotas",
    "persistentvolumeclaims",
)
"""What the tree shows, in its order."""

MOST_PODS = 200
"""Bars of the timeline; of ended pods the oldest make room."""


class Observer:
    """`version` grows with every change of what `picture` says. Times are virtual
    seconds.
    """

    def __init__(self, client: Client) -> None:
        self._factory = SharedInformerFactory(client)
        self._clock = Clock()
        self._workloads = [self._factory.informer(resource(n)) for n in WORKLOADS]
        self._nodes = self._factory.informer(resource("nodes"))
        self._events = self._factory.informer(resource("events"))
        self._shown_nodes: dict[str, dict[str, Any]] = {}
        self._changed = asyncio.Event()
        self.version = 0
        self.events = EventStream()
        self.histories: dict[str, PodHistory] = {}

    async def start(self) -> None:
        """Watch; returns when everything that exists is known."""
        for informer in self._workloads:
            informer.add_event_handler(self._seen, self._seen_again, self._gone)
        self._nodes.add_event_handler(
            self._seen_node, lambda _, new: self._seen_node(new), self._gone_node
        )
        self._events.add_event_handler(
            self._seen_event, lambda _, new: self._seen_event(new)
        )
        await self._factory.wait_for_cache_sync()

    async def stop(self) -> None:
        """No more watches; what was seen stays."""
        await self._factory.stop()

    async def until_change(self, limit: float) -> None:
        """Wait for the next change, `limit` seconds at most."""
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._changed.wait()

    def picture(self) -> dict[str, Any]:
        """`nodes`, `objects` (each after its owner's kind) and `pods`, the bars of the
        timeline.
        """
        now = self._clock.now()
        return {
            "nodes": [
                shown_node(node) for node in in_order(self._nodes.indexer.list())
            ],
            "objects": [
                shown_object(obj, now)
                for informer in self._workloads
                for obj in in_order(informer.indexer.list())
            ],
            "pods": [history.told() for history in self.histories.values()],
        }

    def _note(self) -> None:
        self.version += 1
        self._changed.set()

    def _seen(self, obj: Object) -> None:
        if obj["kind"] == "Pod":
            self._history(obj).saw(self._now(), pod_state(obj, self._clock.now()))
        self._note()

    def _seen_again(self, old: Object, new: Object) -> None:
        self._seen(new)

    def _gone(self, obj: Object) -> None:
        history = self.histories.get(obj["metadata"]["uid"])
        if history is not None:
            history.end = self._now()
        self._note()

    def _history(self, pod: Object) -> PodHistory:
        metadata = pod["metadata"]
        known = self.histories.get(metadata["uid"])
        if known is not None:
            return known
        ended = [uid for uid, each in self.histories.items() if each.end is not None]
        for uid in ended[: max(0, len(self.histories) + 1 - MOST_PODS)]:
            del self.histories[uid]
        owner = controller_of(pod)
        made = PodHistory(
            metadata["uid"], metadata["name"], owner["uid"] if owner else ""
        )
        self.histories[metadata["uid"]] = made
        return made

    def _seen_node(self, node: Object) -> None:
        shown = shown_node(node)
        if self._shown_nodes.get(shown["name"]) != shown:  # a heartbeat is no news
            self._shown_nodes[shown["name"]] = shown
            self._note()

    def _gone_node(self, node: Object) -> None:
        self._shown_nodes.pop(node["metadata"]["name"], None)
        self._note()

    def _seen_event(self, event: Object) -> None:
        self.events.append(self._now(), event)
        self._note()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
