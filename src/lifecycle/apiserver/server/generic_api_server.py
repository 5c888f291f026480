"""The API server: caches, registries, guards and the handler chain, put together.

It starts in the order that makes each part safe for the next: first the caches fill
from the store, then the objects that every cluster has are written if they are missing,
and only then does anybody get an answer.

Upstream: `cmd/kube-apiserver/app/server.go` (`CreateServerChain`),
`pkg/controlplane/instance.go`, v1.36. Left out: running several servers, a separate
server for custom resources.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource, all_resources, resource_for_kind
from lifecycle.api.status import StatusError, failure, generic_not_found
from lifecycle.api.wire import MASTERS, Handler, Object, Request, Response, UserInfo
from lifecycle.apiserver.admission.initializer_visibility import InitializerVisibility
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.aggregation.aggregator import Aggregator
from lifecycle.apiserver.aggregation.api_services import availability
from lifecycle.apiserver.aggregation.changes import ChangeFollower
from lifecycle.apiserver.aggregation.front_proxy import (
    FrontProxy,
    publish_authentication_config,
)
from lifecycle.apiserver.aggregation.local_api_services import (
    register_local_api_services,
)
from lifecycle.apiserver.apiextensions.definition_store import DefinitionStore
from lifecycle.apiserver.apiextensions.extensions import Extensions
from lifecycle.apiserver.apis.autoscaler_versions import AUTOSCALING_V1, to_v1
from lifecycle.apiserver.apis.event_versions import EVENTS, from_core, to_core
from lifecycle.apiserver.audit.backends import Backends
from lifecycle.apiserver.audit.options import AuditOptions, build_backends
from lifecycle.apiserver.audit.policy_reader import read_policy
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.authz.reconcile import reconciled
from lifecycle.apiserver.bootstrap.policy import bootstrap_objects, system_namespaces
from lifecycle.apiserver.endpoints.connect import NodeTransport, PodConnector
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.endpoints.resource_handler import ResourceHandler, storable
from lifecycle.apiserver.endpoints.yaml_input import reading_ahead
from lifecycle.apiserver.filters.audit import AuditLog
from lifecycle.apiserver.filters.metrics import RequestMetrics
from lifecycle.apiserver.filters.work_estimate import WorkEstimator
from lifecycle.apiserver.non_resource import NonResourceHandler
from lifecycle.apiserver.non_resource.discovery import group_names
from lifecycle.apiserver.non_resource.flagz import PATH as FLAGZ
from lifecycle.apiserver.non_resource.flagz import Flagz
from lifecycle.apiserver.non_resource.flow_control_dump import PREFIX, dump
from lifecycle.apiserver.non_resource.metrics import Metrics
from lifecycle.apiserver.non_resource.statusz import PATH as STATUSZ
from lifecycle.apiserver.non_resource.statusz import Statusz
from lifecycle.apiserver.registry.autoscaling.store import AutoscalerV1Store
from lifecycle.apiserver.registry.certificate_requests import CertificateRequestStore
from lifecycle.apiserver.registry.services import ServiceStore
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.server.authority import Authority
from lifecycle.apiserver.server.chain import (
    ChainConfig,
    default_build_handler_chain,
)
from lifecycle.apiserver.server.config import (
    Config,
)
from lifecycle.apiserver.server.consistent_reads import (
    needs_the_newest,
)
from lifecycle.apiserver.server.default_service_cidr import (
    default_service_cidr,
    sync_status,
)
from lifecycle.apiserver.server.flags import (
    server_flags,
)
from lifecycle.apiserver.server.https import (
    HTTPSServer,
)
from lifecycle.apiserver.server.precedence import Precedence
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.storage.object_reader import Counter
from lifecycle.apiserver.storage.stats import StorageStats
from lifecycle.apiserver.util.certificates import CertificateAuthority
from lifecycle.apiserver.util.go_json import reading_json_ahead
from lifecycle.client.rest import Client
from lifecycle.etcd.codec import storage_media_type
from lifecycle.etcd.store import Bell, Store, StoreError

LOOPBACK_USER = UserInfo("system:apiserver", (MASTERS, "system:authenticated"))
USER_AGENT = "kube-apiserver/v1.36.2"
KUBERNETES_SERVICE_IP = "10.96.0.1"


EVENT_TTL = 3600
"""Seconds that an Event lives: `--event-ttl`."""


class CoreEventStore(ResourceStore):
    """Events: they go after an hour."""

    ttl = EVENT_TTL


class EventStore(CoreEventStore):
    """Events of the newer group: stored as `v1`."""

    def to_storage(self, obj: Object) -> Object:
        """As `v1`."""
        return to_core(obj)


FROM_STORAGE = {
    (EVENTS, "events"): from_core,
    (AUTOSCALING_V1, "horizontalpodautoscalers"): to_v1,
}
"""How a cache shows what is stored in another version."""

SPECIAL_STORES: dict[tuple[str, str], type[ResourceStore]] = {
    ("", "services"): ServiceStore,
    ("", "events"): CoreEventStore,
    ("events.k8s.io", "events"): EventStore,
    (AUTOSCALING_V1, "horizontalpodautoscalers"): AutoscalerV1Store,
    ("certificates.k8s.io", "certificatesigningrequests"): CertificateRequestStore,
    ("apiextensions.k8s.io", "customresourcedefinitions"): DefinitionStore,
}


class CacheReader:
    """The server's caches as an `ObjectReader`."""

    def __init__(self, cachers: dict[tuple[str, str], Cacher]) -> None:
        self._cachers = cachers

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """One object, or None."""
        cacher = self._cachers[resource.store_key]
        cacher.catch_up()
        key = (
            f"{cacher.prefix}{namespace}/{name}"
            if resource.namespaced and namespace
            else f"{cacher.prefix}{name}"
        )
        cached = cacher.get(key)
        return cached.obj if cached else None

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """All objects, in key order."""
        cacher = self._cachers[resource.store_key]
        cacher.catch_up()
        return [cached.obj for cached in cacher.ordered(namespace)]

    def resource_version(self, resource: Resource) -> int:
        """Changes whenever any object of the resource does."""
        cacher = self._cachers[resource.store_key]
        cacher.catch_up()
        return cacher.version

    def changes(self, resources: Iterable[Resource]) -> Counter:
        """See `ObjectReader`: rung by the watches of the caches themselves, so nobody
        has to look whether something has come.
        """
        bell = Bell()
        for resource in resources:
            self._cachers[resource.store_key].add_bell(bell)
        return bell.count


class InProcessTransport:
    """Hands requests to the chain without a socket, under an identity that only code in
    this process can claim.
    """

    def __init__(
        self, handler: Handler, user: UserInfo, precedence: Precedence
    ) -> None:
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

    `token` is a bearer token for a user in `system:masters` (empty: none). `authority`
    is what it signs with; None: keys of its own, which end with it.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        names: NameSource | None = None,
        token: str = "",
        authentication: AuthenticationOptions | None = None,
        authorization: AuthorizationOptions | None = None,
        admission: AdmissionOptions | None = None,
        audit: AuditOptions | None = None,
        cors_allowed_origins: Sequence[str] = (),
        authority: Authority | None = None,
    ) -> None:
        self.store = store
        self._authority = authority
        self._remote = store.remote
        self.clock = clock or Clock()
        self.names = names or NameSource()
        stored = [row for row in all_resources() if storable(row)]
        self.cachers: dict[tuple[str, str], Cacher] = {}
        for row in stored:
            convert = FROM_STORAGE.get((row.api_version, row.plural))
            labels = strategy_for(row.api_version, row.kind).field_labels
            self.cachers[row.store_key] = Cacher(
                store, row, labels.selectable_fields, convert
            )
        self.reader = CacheReader(self.cachers)
        flags = server_flags(
            authentication,
            authorization,
            admission,
            audit,
            cors_allowed_origins,
            EVENT_TTL,
        )
        self._flagz = Flagz(flags, self.names)
        tokens = (
            {token: UserInfo("lifecycle-token", (MASTERS, "system:authenticated"))}
            if token
            else {}
        )
        self._audit: Backends | None = None
        audit_log = None
        if audit is not None and audit.policy_file is not None:
            policy = read_policy(audit.policy_file)
            self._audit = Backends(*build_backends(audit, self.clock))
            audit_log = AuditLog(policy, self._audit.write, self.clock)
        self.config = Config(
            self.reader,
            self.clock,
            self.names,
            static_tokens=tokens,
            authentication=self._with_own_ca(authentication),
            authorization=authorization,
            admission=admission,
            audit=audit_log,
            signing_key=authority.signing_key if authority is not None else None,
        )
        environment = Environment(
            store,
            self.clock,
            self.names,
            self.config.admission,
            self.cachers,
            storage_media_type(store),
        )
        self.stores = {
            row.store_key: SPECIAL_STORES.get(row.store_key, ResourceStore)(
                row, environment, strategy_for(row.api_version, row.kind)
            )
            for row in stored
        }
        self._resources = ResourceHandler(
            environment,
            self.stores,
            self.config.virtual_resources,
            self.config.virtual_subresources,
        )
        self.extensions = Extensions(
            environment,
            self.stores["apiextensions.k8s.io", "customresourcedefinitions"],
            self.reader,
        )
        self.kubelets: dict[str, NodeTransport] = {}
        """The way to each node's kubelet, by node name."""
        self._resources.connector = PodConnector(
            self.kubelets, self.config.chain.authorizer
        )
        self.config.resource_quota.update_status = self._charge_quota
        checks = {name: lambda: store.problem for name in ("etcd", "etcd-readiness")}
        self._others = NonResourceHandler(
            self.config.openid_metadata, checks=checks, served=self.extensions
        )
        serve: Handler = reading_json_ahead(reading_ahead(self._serve))
        if self.config.initializers is not None:
            serve = InitializerVisibility(
                serve, self.config.initializers, self.clock, self.names
            )
        self.front_proxy = FrontProxy(
            authority.front_proxy if authority is not None else None
        )
        self.aggregator = Aggregator(
            serve,
            self.reader,
            self.clock,
            self.front_proxy,
            self._write_api_service_status,
        )
        self._changes = ChangeFollower(self.aggregator, self.cachers)
        self._started = self._stopping = False
        chain = self.config.chain
        chain.cors_allowed_origins = tuple(cors_allowed_origins)
        chain.mux_and_discovery_complete = lambda: self._started
        chain.shutting_down = lambda: self._stopping
        chain.metrics = RequestMetrics()
        self.handler: Handler = default_build_handler_chain(self.aggregator, chain)
        self._add_monitoring(chain)
        self._https: list[HTTPSServer] = []
        self._precedence = Precedence()

    @cached_property
    def certificates(self) -> CertificateAuthority:
        """The cluster's certificate authority, made when first needed."""
        return (
            self._authority.certificates
            if self._authority is not None
            else CertificateAuthority()
        )

    async def start(
        self, restore: Callable[[Store], Awaitable[None]] | None = None
    ) -> None:
        """Fill the caches, then write what every cluster has. `restore` may put older
        objects into the store in between.
        """
        await asyncio.gather(*(cacher.start() for cacher in self.cachers.values()))
        if restore is not None:
            await restore(self.store)
        await register_local_api_services(self.store, self.clock)
        await self._bootstrap()
        await self.extensions.start()
        self._changes.start()
        self._started = True

    def _add_monitoring(self, chain: ChainConfig) -> None:
        """`/metrics`, and a look into flow control."""
        assert chain.metrics is not None
        flow_control = chain.flow_control
        row = resource_for_kind("apiregistration.k8s.io/v1", "APIService")
        assert row is not None
        counts = self.cachers.items()
        metrics = Metrics(
            chain.metrics,
            flow_control,
            lambda: (
                (group, plural, len(cacher)) for (group, plural), cacher in counts
            ),
            lambda: availability(self.reader.list(row)),
        )
        zpages = (
            (STATUSZ, Statusz(self.clock, self.names).serve),
            (FLAGZ, self._flagz.serve),
        )
        self._others.zpages |= dict(zpages)
        self._others.more["/metrics"] = lambda rest: (
            metrics.serve() if not rest else None
        )
        if flow_control is not None:
            stored = StorageStats(self.cachers)
            flow_control.estimator = WorkEstimator(stored.stats, stored.watchers)

            def dumped(rest: str) -> Response | None:
                ahead = self.clock.now() - asyncio.get_running_loop().time()
                table = dump(flow_control, rest, ahead)
                return text(table) if table is not None else None

            self._others.more[PREFIX] = dumped

    def _with_own_ca(
        self, options: AuthenticationOptions | None
    ) -> AuthenticationOptions | None:
        """Beside a front proxy's authority, certificates are users only if ours signed
        them.
        """
        if options is None or options.request_header is None or options.client_ca:
            return options
        return replace(options, client_ca=self.certificates.ca_pem)

    async def serve_https(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen on a loopback address; the port. Raises OSError if it is taken."""
        self.config.tokens.key.prepare()
        await publish_authentication_config(
            self.store, self.clock, self.certificates.ca_pem, self.front_proxy
        )
        https = HTTPSServer(self._from_outside, self._tls())
        port = await https.start(host, port)
        self._https.append(https)
        self._others.address = self.config.openid_metadata.external_address = (
            f"{host}:{port}"
        )
        return port

    async def serve_socket(self, sock: socket.socket) -> None:
        """Listen on one more socket, bound elsewhere: in another network namespace."""
        https = HTTPSServer(self._from_outside, self._tls())
        await https.start("", sock=sock)
        self._https.append(https)

    def _tls(self) -> ssl.SSLContext:
        tls = self.certificates.server_context()
        if self.config.request_header is not None:
            tls.load_verify_locations(
                cadata=self.config.request_header.client_ca.decode()
            )
        return tls

    async def _from_outside(self, request: Request) -> Response:
        self._precedence.outside()
        return await self.handler(request)

    async def stop(self) -> None:
        """Close the sockets, end all watches, close the store."""
        self._stopping = True
        for https in self._https:
            await https.stop()
        await self._changes.stop()
        await self.aggregator.stop()
        if self._audit is not None:
            await self._audit.close()
        await self.extensions.stop()
        for cacher in self.cachers.values():
            await cacher.stop()
        await self.store.close()

    def in_process_transport(self, user: UserInfo) -> InProcessTransport:
        """A way in for components of this process, as `user`."""
        return InProcessTransport(self.handler, user, self._precedence)

    async def _serve(self, request: Request) -> Response:
        info = request.info
        if (
            info is not None
            and info.is_resource_request
            and (not info.group or info.group in group_names())
        ):
            try:
                if self._remote and needs_the_newest(request, self.store.revision):
                    await self.store.catch_up()
                return await self._resources(request)
            except StoreError as error:
                raise failure(500, "", str(error)) from None
        if info is not None and info.is_resource_request:
            try:
                if self._remote and needs_the_newest(request, self.store.revision):
                    await self.store.catch_up()
                answer = await self.extensions.serve(request)
            except StoreError as error:
                raise failure(500, "", str(error)) from None
            if answer is not None:
                return answer
        response = await self._others.serve(request)
        if response is None:
            raise generic_not_found()
        return response

    async def _charge_quota(self, quota: Object) -> None:
        """Write a quota's status, as the server itself. Raises StatusError 409 if
        somebody was faster. Upstream: `quotaAccessor`.
        """
        metadata = {
            key: value
            for key, value in quota["metadata"].items()
            if key != "managedFields"
        }
        row = resource_for_kind("v1", "ResourceQuota")
        assert row is not None
        path = row.path(metadata["namespace"], metadata["name"], "status")
        request = Request(
            "PUT", path, obj={**quota, "metadata": metadata}, accepts_object=True
        )
        request.headers["user-agent"] = USER_AGENT
        response = await self.in_process_transport(LOOPBACK_USER).round_trip(request)
        if response.status >= 400:
            raise StatusError(response.obj or {})

    async def _write_api_service_status(self, service: Object) -> None:
        """Write an APIService's status, as the server itself. Raises StatusError."""
        row = resource_for_kind(service["apiVersion"], service["kind"])
        assert row is not None
        metadata = {
            key: value
            for key, value in service["metadata"].items()
            if key != "managedFields"
        }
        request = Request(
            "PUT", row.path("", metadata["name"], "status"), accepts_object=True
        )
        request.obj = {**service, "metadata": metadata}
        request.headers["user-agent"] = USER_AGENT
        response = await self.in_process_transport(LOOPBACK_USER).round_trip(request)
        if response.status >= 400:
            raise StatusError(response.obj or {})

    async def _bootstrap(self) -> None:
        """Namespaces, policy, classes, flow schemas and the Service `kubernetes`:
        written if missing; roles are completed.
        """
        for obj in (
            *system_namespaces(),
            *bootstrap_objects(),
            default_service_cidr(),
            _kubernetes_service(),
        ):
            row = resource_for_kind(obj["apiVersion"], obj["kind"])
            assert row is not None, obj["kind"]
            metadata = obj["metadata"]
            existing = self.reader.get(
                row, metadata.get("namespace", ""), metadata["name"]
            )
            with contextlib.suppress(StatusError):
                if existing is None:
                    await self._write_default("POST", row, obj)
                elif (new := reconciled(existing, obj)) is not None:
                    await self._write_default("PUT", row, new, metadata["name"])
        with contextlib.suppress(StatusError):
            loopback = Client(self.in_process_transport(LOOPBACK_USER), USER_AGENT)
            await sync_status(loopback, self.clock)

    async def _write_default(
        self, method: str, row: Resource, obj: Object, name: str = ""
    ) -> None:
        namespace = obj["metadata"].get("namespace", "")
        request = Request(
            method, row.path(namespace, name), obj=obj, accepts_object=True
        )
        request.headers["user-agent"] = USER_AGENT
        response = await self.in_process_transport(LOOPBACK_USER).round_trip(request)
        if response.status >= 400:
            raise StatusError(response.obj or {})


def _kubernetes_service() -> Object:
    """The Service through which pods reach the API server. Upstream:
    `pkg/controlplane/controller/kubernetesservice`.
    """
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
            "ports": [
                {"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}
            ],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }
