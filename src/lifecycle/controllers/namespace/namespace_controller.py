"""Namespaces that are being deleted: empty them, then let them go.

A namespace that is deleted only gets a mark; its finalizer `kubernetes` holds it. From
the mark on, admission lets nothing new in. The controller waits five seconds (in a
cluster with several API servers some may not have seen the mark yet) and then deletes
everything.

Upstream: `pkg/controller/namespace/namespace_controller.go` (`NamespaceController`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.namespace.namespaced_resources_deleter import (
    NamespacedResourcesDeleter,
    ResourcesRemainingError,
)

WORKERS = 10
NAMESPACE_DELETION_GRACE_PERIOD = 5.0


class NamespaceController:
    """Finishes the deletion of namespaces."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._namespaces = informers.informer(resource("namespaces"))
        self._deleter = NamespacedResourcesDeleter(client, clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._namespaces.add_event_handler(
            add=self._enqueue, update=lambda old, new: self._enqueue(new)
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._namespaces.wait_for_sync()
        await run_workers(
            self._queue,
            self._sync_namespace,
            workers=WORKERS,
            name="namespace-controller",
        )

    def _enqueue(self, namespace: Object) -> None:
        if "deletionTimestamp" in namespace["metadata"]:
            self._queue.add_after(
                namespace["metadata"]["name"], NAMESPACE_DELETION_GRACE_PERIOD
            )

    async def _sync_namespace(self, name: str) -> None:
        if self._namespaces.indexer.get_by_key(name) is None:
            return
        try:
            await self._deleter.delete(name)
        except ResourcesRemainingError as error:
            self._queue.add_after(name, error.estimate / 2 + 1)
