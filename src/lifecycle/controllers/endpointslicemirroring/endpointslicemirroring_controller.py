"""EndpointSlices for Services whose Endpoints somebody writes by hand.

A Service without selector is one that no controller looks for pods for. Before
EndpointSlices, one wrote an Endpoints object of the same name beside it, and many still
do. Consumers read slices only, so this controller copies the one into the other.

Upstream: `pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go`
(`Controller`, `syncEndpoints`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
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
from lifecycle.controllers.endpointslice.owned_slices import OwnedSlices, create_slices
from lifecycle.controllers.endpointslicemirroring.mirrored_slices import (
    CONTROLLER_NAME,
    MAX_ENDPOINTS_PER_SUBSET,
    Changes,
    mirror,
    should_mirror,
)

WORKERS = 5
MAX_RETRIES = 15


class EndpointSliceMirroringController:
    """Keeps the slices of hand-made Endpoints."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._services = informers.informer(resource("services"))
        self._endpoints = informers.informer(resource("endpoints"))
        self._recorder = EventRecorder(
            client, "endpoint-slice-mirroring-controller", clock=clock
        )
        # slower at first than other queues: such Endpoints may be large, and change in
        # bursts
        self._queue: RateLimitingQueue[str] = RateLimitingQueue(
            MaxOfRateLimiter(
                ItemExponentialFailureRateLimiter(1.0, 100.0), BucketRateLimiter()
            )
        )
        slices = informers.informer(resource("endpointslices.discovery.k8s.io"))
        self._slices = OwnedSlices(slices, CONTROLLER_NAME, self._queue.add)
        self._endpoints.add_event_handler(
            add=self._endpoints_changed,
            update=self._endpoints_updated,
            delete=self._endpoints_changed,
        )
        self._services.add_event_handler(
            add=self._service_changed,
            update=self._service_updated,
            delete=self._service_changed,
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._services, self._endpoints, self._slices.informer):
                await informer.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync_endpoints,
                workers=WORKERS,
                name=CONTROLLER_NAME,
                max_retries=MAX_RETRIES,
            )
        finally:
            await self._recorder.stop()

    # -- what changed ------------------------------------------------------------------

    def _endpoints_changed(self, endpoints: Object) -> None:
        key = meta_namespace_key(endpoints)
        service = self._services.indexer.get_by_key(key)
        # Endpoints of Services with a selector change all the time; the sync would find
        # nothing to do (ours: spares the queue)
        selected = service is not None and service["spec"].get("selector")
        if should_mirror(endpoints) and not (selected and not self._slices.of(key)):
            self._queue.add(key)

    def _endpoints_updated(self, old: Object, new: Object) -> None:
        if should_mirror(old) and not should_mirror(new):
            self._queue.add(meta_namespace_key(new))
        self._endpoints_changed(new)

    def _service_changed(self, service: Object) -> None:
        if not service["spec"].get("selector"):
            self._queue.add(meta_namespace_key(service))

    def _service_updated(self, old: Object, new: Object) -> None:
        if bool(old["spec"].get("selector")) != bool(new["spec"].get("selector")):
            self._queue.add(meta_namespace_key(new))

    # -- the sync ----------------------------------------------------------------------

    async def _sync_endpoints(self, key: str) -> None:
        endpoints = self._endpoints.indexer.get_by_key(key)
        service = self._services.indexer.get_by_key(key)
        existing = self._slices.of(key)
        gone = endpoints is None or not should_mirror(endpoints)
        if (
            endpoints is None
            or gone
            or service is None
            or service["spec"].get("selector")
        ):
            self._slices.tracker.delete_service(key)
            for endpoint_slice in existing:
                meta = endpoint_slice["metadata"]
                await self._delete(meta["name"], meta["namespace"])
            return
        if self._slices.tracker.stale_slices(key, existing):
            raise RetryError("EndpointSlice informer cache is out of date")
        changes = mirror(endpoints, existing)
        self._record_events(endpoints, changes)
        await self._write(key, endpoints, changes)

    def _record_events(self, endpoints: Object, changes: Changes) -> None:
        obj = {"kind": "Endpoints", "apiVersion": "v1", **endpoints}
        if changes.invalid:
            message = (
                f"Skipped {changes.invalid} invalid IP addresses when mirroring to"
                " EndpointSlices"
            )
            self._recorder.event(obj, "Warning", "InvalidIPAddress", message)
        if changes.too_many:
            skipped = changes.too_many + changes.invalid
            message = (
                f"A max of {MAX_ENDPOINTS_PER_SUBSET} addresses can be mirrored to"
                f" EndpointSlices per Endpoints subset. {skipped} addresses were"
                " skipped"
            )
            self._recorder.event(obj, "Warning", "TooManyAddressesToMirror", message)

    async def _write(self, key: str, endpoints: Object, changes: Changes) -> None:
        slices, namespace = (
            resource("endpointslices.discovery.k8s.io"),
            endpoints["metadata"]["namespace"],
        )
        tracker = self._slices.tracker
        new = [] if "deletionTimestamp" in endpoints["metadata"] else changes.create
        if not await create_slices(self._client, tracker, key, new, namespace):
            return
        for changed in changes.update:
            tracker.update(key, await self._client.update(slices, changed))
        for doomed in changes.delete:
            await self._delete(doomed["metadata"]["name"], namespace)
            tracker.expect_deletion(key, doomed)

    async def _delete(self, name: str, namespace: str) -> None:
        try:
            await self._client.delete(
                resource("endpointslices.discovery.k8s.io"), name, namespace
            )
        except StatusError as error:
            if error.code != 404:
                raise
