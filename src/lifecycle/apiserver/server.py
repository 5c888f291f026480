"""The API server: caches, registries, guards and the handler chain, put together.

It starts in the order that makes each part safe for the next: first the caches fill from the store, then the objects
that every cluster has are written if they are missing, and only then does anybody get an answer.

Upstream: `cmd/kube-apiserver/app/server.go` (`CreateServerChain`), `pkg/controlplane/instance.go`, v1.36. Left out:
running several servers, the separate servers for custom resources and aggregation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource, all_resources, resource_for_kind
from lifecycle.api.status import StatusError, failure, generic_not_found
from lifecycle.api.strategy import selectable_fields
from lifecycle.api.wire import MASTERS, Handler, Object, Request, Response, UserInfo
from lifecycle.apiserver.bootstrap.policy import bootstrap_objects, system_namespaces
from lifecycle.apiserver.bootstrap.reconcile import reconciled
from lifecycle.apiserver.cacher import Cacher
from lifecycle.apiserver.certificates import CertificateAuthority
from lifecycle.apiserver.chain import default_build_handler_chain
from lifecycle.apiserver.config import Config
from lifecycle.apiserver.consistent_reads import needs_the_newest
from lifecycle.apiserver.endpoints.resource_handler import ResourceHandler, storable
from lifecycle.apiserver.https import HTTPSServer
from lifecycle.apiserver.non_resource import NonResourceHandler
from lifecycle.apiserver.non_resource.discovery import group_names
from lifecycle.apiserver.precedence import Precedence
from lifecycle.apiserver.registry.event_versions import EVENTS, from_core, to_core
from lifecycle.apiserver.registry.services import ServiceStore
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.etcd.codec import storage_media_type
from lifecycle.etcd.store import Store, StoreError

LOOPBACK_USER = UserInfo("system:apiserver", (MASTERS, "system:authenticated"))
USER_AGENT = "kube-apiserver/v1.36.2"
KUBERNETES_SERVICE_IP = "10.96.0.1"


class EventStore(ResourceStore):
    """Events of the newer group: stored as `v1`."""

    def to_storage(self, obj: Object) -> Object:
        """As `v1`."""
        return to_core(obj)


SPECIAL_STORES: dict[tuple[str, str], type[ResourceStore]] = {
    ("", "services"): ServiceStore,
    ("events.k8s.io", "events"): EventStore,
}


class CacheReader:
    """The server's caches as an `ObjectReader`."""

    def __init__(self, cachers: dict[tuple[str, str], Cacher]) -> None:
        self._cachers = cachers

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """One object, or None."""
        cacher = self._cachers[resource.group, resource.plural]
        cacher.catch_up()
        key = f"{cacher.prefix}{namespace}/{name}" if resource.namespaced and namespace else f"{cacher.prefix}{name}"
        cached = cacher.get(key)
        return cached.obj if cached else None

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """All objects, in key order."""
        cacher = self._cachers[resource.group, resource.plural]
        cacher.catch_up()
        return [cached.obj for cached in cacher.ordered(namespace)]

    def resource_version(self, resource: Resource) -> int:
        """Changes whenever any object of the resource does."""
        cacher = self._cachers[resource.group, resource.plural]
        cacher.catch_up()
        return cacher.version


class InProcessTransport:
    """Hands requests to the chain without a socket, under an identity that only code in this process can claim."""

    def __init__(self, handler: Handler, user: UserInfo, precedence: Precedence) -> None:
        self._handler, self._user, self._precedence = handler, user, precedence

    async def round_trip(self, request: Request) -> Response:
        """Send, and return the answer, whatever its status."""
        request.user = self._user
        await self._precedence.turn()
        return await self._handler(request)

    async def close(self) -> None:
        """Nothing is held."""


class APIServer:
    """One API server over a store. `await start()` before use.

    `token` is a bearer token for a user in `system:masters` (empty: none).
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        names: NameSource | None = None,
        token: str = "",
    ) -> None:
        self.store = store
        self._remote = store.remote
        self.clock = clock or Clock()
        self.names = names or NameSource()
        stored = [row for row in all_resources() if storable(row)]
        self.cachers: dict[tuple[str, str], Cacher] = {}
        for row in stored:  # the first version of a group is the preferred one, and the one that is stored
            convert = from_core if row.api_version == EVENTS else None
            self.cachers.setdefault((row.group, row.plural), Cacher(store, row, selectable_fields, convert))
        self.reader = CacheReader(self.cachers)
        tokens = {token: UserInfo("lifecycle-token", (MASTERS, "system:authenticated"))} if token else {}
        self.config = Config(self.reader, self.clock, self.names, static_tokens=tokens)
        environment = Environment(
            store, self.clock, self.names, self.config.admission, self.cachers, storage_media_type(store)
        )
        self.stores = {
            (row.group, row.plural): SPECIAL_STORES.get((row.group, row.plural), ResourceStore)(row, environment)
            for row in reversed(stored)  # so that the first version of a group wins here as well
        }
        self._resources = ResourceHandler(
            environment,
            self.stores,
            self.config.virtual_resources,
            self.config.virtual_subresources,
        )
        self.config.resource_quota.update_status = self._charge_quota
        checks = {name: lambda: store.problem for name in ("etcd", "etcd-readiness")}
        self._others = NonResourceHandler(self.config.openid_metadata, checks=checks)
        self.handler: Handler = default_build_handler_chain(self._serve, self.config.chain)
        self._https: HTTPSServer | None = None
        self._precedence = Precedence()

    @cached_property
    def certificates(self) -> CertificateAuthority:
        """The cluster's certificate authority, made when first needed."""
        return CertificateAuthority()

    async def start(self, restore: Callable[[Store], Awaitable[None]] | None = None) -> None:
        """Fill the caches, then write what every cluster has. `restore` may put older objects into the store in between."""
        await asyncio.gather(*(cacher.start() for cacher in self.cachers.values()))
        if restore is not None:
            await restore(self.store)
        await self._bootstrap()

    async def serve_https(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen on a loopback address; the port. Raises OSError if it is taken."""
        self._https = HTTPSServer(self._from_outside, self.certificates.server_context())
        port = await self._https.start(host, port)
        self._others.address = self.config.openid_metadata.external_address = f"{host}:{port}"
        return port

    async def _from_outside(self, request: Request) -> Response:
        self._precedence.outside()
        return await self.handler(request)

    async def stop(self) -> None:
        """Close the socket, end all watches, close the store."""
        if self._https is not None:
            await self._https.stop()
        for cacher in self.cachers.values():
            await cacher.stop()
        await self.store.close()

    def in_process_transport(self, user: UserInfo) -> InProcessTransport:
        """A way in for components of this process, as `user`."""
        return InProcessTransport(self.handler, user, self._precedence)

    async def _serve(self, request: Request) -> Response:
        info = request.info
        if info is not None and info.is_resource_request and (not info.group or info.group in group_names()):
            try:
                if self._remote and needs_the_newest(request, self.store.revision):
                    await self.store.catch_up()
                return await self._resources(request)
            except StoreError as error:
                raise failure(500, "", str(error)) from None
        response = await self._others.serve(request)
        if response is None:
            raise generic_not_found()
        return response

    async def _charge_quota(self, quota: Object) -> None:
        """Write a quota's status, as the server itself. Raises StatusError 409 if somebody was faster. Upstream: `quotaAccessor`."""
        metadata = {key: value for key, value in quota["metadata"].items() if key != "managedFields"}
        row = resource_for_kind("v1", "ResourceQuota")
        assert row is not None
        path = row.path(metadata["namespace"], metadata["name"], "status")
        request = Request("PUT", path, obj={**quota, "metadata": metadata}, accepts_object=True)
        request.headers["user-agent"] = USER_AGENT
        response = await self.in_process_transport(LOOPBACK_USER).round_trip(request)
        if response.status >= 400:
            raise StatusError(response.obj or {})

    async def _bootstrap(self) -> None:
        """Namespaces, policy, classes, flow schemas and the Service `kubernetes`: written if missing; roles are completed."""
        for obj in (*system_namespaces(), *bootstrap_objects(), _kubernetes_service()):
            row = resource_for_kind(obj["apiVersion"], obj["kind"])
            assert row is not None, obj["kind"]
            metadata = obj["metadata"]
            existing = self.reader.get(row, metadata.get("namespace", ""), metadata["name"])
            with contextlib.suppress(StatusError):
                if existing is None:
                    await self._write_default("POST", row, obj)
                elif (new := reconciled(existing, obj)) is not None:
                    await self._write_default("PUT", row, new, metadata["name"])

    async def _write_default(self, method: str, row: Resource, obj: Object, name: str = "") -> None:
        namespace = obj["metadata"].get("namespace", "")
        request = Request(method, row.path(namespace, name), obj=obj, accepts_object=True)
        request.headers["user-agent"] = USER_AGENT
        response = await self.in_process_transport(LOOPBACK_USER).round_trip(request)
        if response.status >= 400:
            raise StatusError(response.obj or {})


def _kubernetes_service() -> Object:
    """The Service through which pods reach the API server. Upstream: `pkg/controlplane/controller/kubernetesservice`."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": KUBERNETES_SERVICE_IP,
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }
