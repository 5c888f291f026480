"""A ServiceAccount named `default` in every namespace, so that a pod that names none
has one.

Upstream: `pkg/controller/serviceaccount/serviceaccounts_controller.go`
(`ServiceAccountsController`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.namespace_terminating import is_namespace_terminating

DEFAULT = "default"


class ServiceAccountsController:
    """Makes the default account, and makes it again if somebody deletes it."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._namespaces = informers.informer(resource("namespaces"))
        self._accounts = informers.informer(resource("serviceaccounts"))
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._namespaces.add_event_handler(
            add=lambda ns: self._queue.add(ns["metadata"]["name"]),
            update=lambda old, new: self._queue.add(new["metadata"]["name"]),
        )
        self._accounts.add_event_handler(
            delete=lambda account: self._queue.add(account["metadata"]["namespace"])
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._namespaces.wait_for_sync()
        await self._accounts.wait_for_sync()
        await run_workers(
            self._queue,
            self._sync_namespace,
            workers=1,
            name="service-account-controller",
        )

    async def _sync_namespace(self, name: str) -> None:
        namespace = self._namespaces.indexer.get_by_key(name)
        if (
            namespace is None
            or (namespace.get("status") or {}).get("phase", "Active") != "Active"
        ):
            return
        if f"{name}/{DEFAULT}" in self._accounts.indexer:
            return
        account: Object = {
            "kind": "ServiceAccount",
            "apiVersion": "v1",
            "metadata": {"name": DEFAULT, "namespace": name},
        }
        try:
            await self._client.create(resource("serviceaccounts"), account, name)
        except StatusError as error:
            if error.reason != "AlreadyExists" and not is_namespace_terminating(error):
                raise
