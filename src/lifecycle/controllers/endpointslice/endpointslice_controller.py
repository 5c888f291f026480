"""EndpointSlices: for each Service with a selector, the addresses of the pods it
selects.

Hand-made Endpoints are `endpointslicemirroring`'s.

Upstream: `pkg/controller/endpointslice/endpointslice_controller.go` (`Controller`,
`syncService`, `checkNodeTopologyDistribution`), v1.36.
"""

from __future__ import annotations

import asyncio
from functools import partial

from lifecycle.api.aggregate import aggregate
from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    MaxOfRateLimiter,
    RateLimitingQueue,
)
from lifecycle.controllers.counting_pauses import CountingPauses
from lifecycle.controllers.endpointslice.owned_slices import OwnedSlices
from lifecycle.controllers.endpointslice.pod_endpoints import TOPOLOGY_ZONE
from lifecycle.controllers.endpointslice.reconciler import Reconciler
from lifecycle.controllers.endpointslice.service_slices import CONTROLLER_NAME
from lifecycle.controllers.endpointslice.topology_cache import TopologyCache
from lifecycle.controllers.service_pods import ServicePodEvents, pods_for_service
from lifecycle.controllers.trigger_time_tracker import TriggerTimeTracker

WORKERS = 5
MAX_RETRIES = 15
PAUSE_PER_POD = 200e-6
SLICE_CHANGE_PAUSE = 1.0
"""Seconds until somebody else's hand in a slice is answered: there may be more of
it.
"""

STALE_CACHE_PAUSE = 0.005
"""Seconds until a Service is looked at again whose slices the cache does not know yet,
doubled each time. Upstream waits a second, as after any failure; here, where pods
change at the very same moment, the news is only a few turns of the loop away.
"""


class EndpointSliceController:
    """Keeps the slices of every Service."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._services = informers.informer(resource("services"))
        self._pods = informers.informer(resource("pods"))
        self._nodes = informers.informer(resource("nodes"))
        self._recorder = EventRecorder(client, "endpoint-slice-controller", clock=clock)
        self._trigger_times = TriggerTimeTracker()
        self._topology = TopologyCache(self._nodes.indexer.list)
        self._nodes_changed = asyncio.Event()
        self._sizes: dict[str, int] = {}
        self._pauses = CountingPauses(PAUSE_PER_POD)
        # slower at first than other queues: one sync may mean many writes
        self._queue: RateLimitingQueue[str] = RateLimitingQueue(
            MaxOfRateLimiter(
                ItemExponentialFailureRateLimiter(1.0, 1000.0), BucketRateLimiter()
            )
        )
        self._stale = ItemExponentialFailureRateLimiter[str](STALE_CACHE_PAUSE)
        slices = informers.informer(resource("endpointslices.discovery.k8s.io"))
        self._slices = OwnedSlices(
            slices,
            CONTROLLER_NAME,
            partial(self._queue.add_after, seconds=SLICE_CHANGE_PAUSE),
        )
        self._reconciler = Reconciler(
            client, self._nodes.indexer, self._slices.tracker, self._topology
        )
        self._services.add_event_handler(
            add=self._enqueue,
            update=lambda old, new: self._enqueue(new),
            delete=self._enqueue,
        )
        self._nodes.add_event_handler(
            add=self._node_changed, update=self._node_updated, delete=self._node_changed
        )
        ServicePodEvents(self._pods, self._services, self._enqueue_for_pod)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (
                self._services,
                self._pods,
                self._nodes,
                self._slices.informer,
            ):
                await informer.wait_for_sync()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(
                    self._watch_topology(), name="endpointslice-controller topology"
                )
                tasks.create_task(
                    self._run_workers(), name="endpointslice-controller services"
                )
        finally:
            await self._recorder.stop()

    async def _run_workers(self) -> None:
        await run_workers(
            self._queue,
            self._sync_service,
            workers=WORKERS,
            name="endpointslice-controller",
            max_retries=MAX_RETRIES,
        )

    def _enqueue(self, service: Object) -> None:
        self._queue.add(meta_namespace_key(service))

    def _enqueue_for_pod(self, key: str) -> None:
        """A large Service is not counted again for every pod."""
        self._queue.add_after(key, self._pauses.before(key, self._sizes.get(key, 0)))

    # -- zones -------------------------------------------------------------------------

    def _node_changed(self, node: Object) -> None:
        self._topology.nodes_changed()
        if self._topology.in_use:
            self._nodes_changed.set()

    def _node_updated(self, old: Object, new: Object) -> None:
        if _zone_and_readiness(old) != _zone_and_readiness(new):
            self._node_changed(new)

    async def _watch_topology(self) -> None:
        """Zones may grow or shrink, and Services' hints with them. A burst of changes
        is looked at once.
        """
        while True:
            await self._nodes_changed.wait()
            self._nodes_changed.clear()
            for key in self._topology.overloaded_services():
                self._queue.add(key)

    # -- the sync ----------------------------------------------------------------------

    async def _sync_service(self, key: str) -> None:
        self._pauses.over(key)
        service = self._services.indexer.get_by_key(key)
        if service is None:  # the slices follow through the garbage collector
            self._trigger_times.delete_service(key)
            self._slices.tracker.delete_service(key)
            self._sizes.pop(key, None)
            self._stale.forget(key)
            return
        if service["spec"].get("type") == "ExternalName" or not service["spec"].get(
            "selector"
        ):
            return
        slices = [
            s for s in self._slices.of(key) if "deletionTimestamp" not in s["metadata"]
        ]
        if self._slices.tracker.stale_slices(key, slices):
            if self._stale.num_requeues(key) < MAX_RETRIES:
                self._queue.add_after(key, self._stale.when(key))
            return
        self._stale.forget(key)
        pods = pods_for_service(self._pods.indexer, service)
        self._sizes[key] = len(pods)
        trigger_time = self._trigger_times.compute_endpoint_last_change_trigger_time(
            key, service, pods
        )
        events, errors = await self._reconciler.reconcile(
            service, pods, slices, trigger_time
        )
        about = {"kind": "Service", "apiVersion": "v1", **service}
        for event in events:
            self._recorder.event(about, event.type, event.reason, event.message)
        if errors:
            problem = aggregate(errors)
            message = f"Error updating Endpoint Slices for Service {key}: {problem}"
            self._recorder.event(
                about, "Warning", "FailedToUpdateEndpointSlices", message
            )
            raise RetryError(problem)


def _zone_and_readiness(node: Object) -> tuple[object, bool]:
    ready = get_condition(node, "Ready")
    zone = (node["metadata"].get("labels") or {}).get(TOPOLOGY_ZONE)
    return zone, ready is not None and ready["status"] == "True"
