"""The cluster's root certificate as a ConfigMap in every namespace, for pods to check
the API server's certificate with.

Upstream: `pkg/controller/certificates/rootcacertpublisher/publisher.go` (`Publisher`),
v1.36.
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
from lifecycle.controllers.object_copy import mutable_copy

ROOT_CA_CERT_CONFIG_MAP = "kube-root-ca.crt"
DESCRIPTION_ANNOTATION = "kubernetes.io/description"
DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using"
    " internal endpoints such as the internal service IP or kubernetes.default.svc. No"
    " other usage is guaranteed across distributions of Kubernetes clusters."
)


class RootCACertPublisher:
    """Publishes `root_ca` (PEM). While it is empty, nothing is published."""

    root_ca = ""

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
        self._config_maps = informers.informer(resource("configmaps"))
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._namespaces.add_event_handler(
            add=lambda ns: self._queue.add(ns["metadata"]["name"]),
            update=lambda old, new: self._namespace_updated(new),
        )
        self._config_maps.add_event_handler(
            update=lambda old, new: self._config_map_changed(new),
            delete=self._config_map_changed,
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._namespaces.wait_for_sync()
        await self._config_maps.wait_for_sync()
        await run_workers(
            self._queue, self._sync_namespace, workers=1, name="root-ca-cert-publisher"
        )

    def _namespace_updated(self, namespace: Object) -> None:
        if (namespace.get("status") or {}).get("phase", "Active") == "Active":
            self._queue.add(namespace["metadata"]["name"])

    def _config_map_changed(self, config_map: Object) -> None:
        if config_map["metadata"]["name"] == ROOT_CA_CERT_CONFIG_MAP:
            self._queue.add(config_map["metadata"]["namespace"])

    async def _sync_namespace(self, name: str) -> None:
        if not self.root_ca:
            return
        config_maps = resource("configmaps")
        current = self._config_maps.indexer.get_by_key(
            f"{name}/{ROOT_CA_CERT_CONFIG_MAP}"
        )
        data = {"ca.crt": self.root_ca}
        if current is None:
            new: Object = {
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {
                    "name": ROOT_CA_CERT_CONFIG_MAP,
                    "annotations": {DESCRIPTION_ANNOTATION: DESCRIPTION},
                },
                "data": data,
            }
            try:
                await self._client.create(config_maps, new, name)
            except StatusError as error:
                # The namespace is going or gone: nobody there needs it any more.
                if (
                    error.reason != "AlreadyExists"
                    and error.code != 404
                    and not is_namespace_terminating(error)
                ):
                    raise
            return
        described = (current["metadata"].get("annotations") or {}).get(
            DESCRIPTION_ANNOTATION
        ) == DESCRIPTION
        if current.get("data") == data and described:
            return
        copy = mutable_copy(current)
        copy["data"] = data
        copy["metadata"].setdefault("annotations", {})[DESCRIPTION_ANNOTATION] = (
            DESCRIPTION
        )
        await self._client.update(config_maps, copy)
