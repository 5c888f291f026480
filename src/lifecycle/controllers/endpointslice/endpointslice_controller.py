"""EndpointSlices: for each Service with a selector, the addresses of the pods it selects.

Upstream: `pkg/controller/endpointslice/endpointslice_controller.go` (`Controller`, `syncService`), v1.36. Left
out: the topology cache of nodes. Hand-made Endpoints are `endpointslicemirroring`'s.
"""

from __future__ import annotations

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.endpointslice.owned_slices import OwnedSlices
from lifecycle.controllers.endpointslice.reconciler import CONTROLLER_NAME, Reconciler
from lifecycle.controllers.keyed_worker import RetryError, run_workers
from lifecycle.controllers.service_pods import ServicePodEvents, pods_for_service
from lifecycle.controllers.trigger_time_tracker import TriggerTimeTracker

WORKERS = 5
MAX_RETRIES = 15
LARGE = 200
PAUSE_PER_POD = 200e-6


class EndpointSliceController:
    """Keeps the slices of every Service."""

    def __init__(self, client: Client, informers: SharedInformerFactory, *, clock: Clock, names: NameSource) -> None:
        self._services = informers.informer(resource("services"))
        self._pods = informers.informer(resource("pods"))
        self._nodes = informers.informer(resource("nodes"))
        self._trigger_times = TriggerTimeTracker()
        self._sizes: dict[str, int] = {}
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        slices = informers.informer(resource("endpointslices.discovery.k8s.io"))
        self._slices = OwnedSlices(slices, CONTROLLER_NAME, self._queue.add)
        self._reconciler = Reconciler(client, self._nodes.indexer, self._slices.tracker)
        self._services.add_event_handler(
            add=self._enqueue, update=lambda old, new: self._enqueue(new), delete=self._enqueue
        )
        ServicePodEvents(self._pods, self._services, self._enqueue_for_pod)

    async def run(self) -> None:
        """Work until cancelled."""
        for informer in (self._services, self._pods, self._nodes, self._slices.informer):
            await informer.wait_for_sync()
        await run_workers(
            self._queue, self._sync_service, workers=WORKERS, name="endpointslice-controller", max_retries=MAX_RETRIES
        )

    def _enqueue(self, service: Object) -> None:
        self._queue.add(meta_namespace_key(service))

    def _enqueue_for_pod(self, key: str) -> None:
        """A large Service is not counted again for every pod (ours, as for ReplicaSets)."""
        size = self._sizes.get(key, 0)
        if size > LARGE:
            self._queue.add_after(key, size * PAUSE_PER_POD)
        else:
            self._queue.add(key)

    async def _sync_service(self, key: str) -> None:
        service = self._services.indexer.get_by_key(key)
        if service is None:  # the slices follow through the garbage collector
            self._trigger_times.delete_service(key)
            self._slices.tracker.delete_service(key)
            self._sizes.pop(key, None)
            return
        if service["spec"].get("type") == "ExternalName" or not service["spec"].get("selector"):
            return
        slices = [s for s in self._slices.of(key) if "deletionTimestamp" not in s["metadata"]]
        if self._slices.tracker.stale_slices(key, slices):
            raise RetryError("EndpointSlice informer cache is out of date")
        pods = pods_for_service(self._pods.indexer, service)
        self._sizes[key] = len(pods)
        trigger_time = self._trigger_times.compute_endpoint_last_change_trigger_time(key, service, pods)
        await self._reconciler.reconcile(service, pods, slices, trigger_time)
