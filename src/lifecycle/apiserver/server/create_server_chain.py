"""The whole server, built from its parts: one function, read from top to bottom.

Stores and caches first, then the guards over them, then the registries, then who serves
what, and the handler chain around all. One circle cannot be avoided: admission charges
quotas through the chain that it is part of. Upstream's loopback client dials when it is
used; ours calls a function that is filled in at the end.

Upstream: `cmd/kube-apiserver/app/server.go` (`CreateServerChain`),
`pkg/controlplane/instance.go` (`CompletedConfig.New`), v1.36. Left out: a separate
server for custom resources.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from lifecycle.api.http.wire import MASTERS, Handler, Request, Response, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource_for_kind
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.aggregation.aggregator import Aggregator
from lifecycle.apiserver.aggregation.api_services import availability
from lifecycle.apiserver.aggregation.changes import ChangeFollower
from lifecycle.apiserver.aggregation.front_proxy import FrontProxy
from lifecycle.apiserver.apiextensions.extensions import Extensions
from lifecycle.apiserver.audit.backends import Backends
from lifecycle.apiserver.audit.options import AuditOptions, build_backends
from lifecycle.apiserver.audit.policy_reader import read_policy
from lifecycle.apiserver.authn.jwt import SigningKey
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.emulation.emulator import Emulator
from lifecycle.apiserver.endpoints.connect import NodeTransport, PodConnector
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.endpoints.resource_handler import ResourceHandler
from lifecycle.apiserver.filters.audit import AuditLog
from lifecycle.apiserver.filters.metrics import RequestMetrics
from lifecycle.apiserver.filters.priority_and_fairness import FlowController
from lifecycle.apiserver.filters.work_estimate import WorkEstimator
from lifecycle.apiserver.non_resource import NonResourceHandler
from lifecycle.apiserver.non_resource.flagz import PATH as FLAGZ
from lifecycle.apiserver.non_resource.flagz import Flagz
from lifecycle.apiserver.non_resource.flow_control_dump import PREFIX, dump
from lifecycle.apiserver.non_resource.metrics import Metrics
from lifecycle.apiserver.non_resource.openid_metadata import OpenIDMetadata
from lifecycle.apiserver.non_resource.statusz import PATH as STATUSZ
from lifecycle.apiserver.non_resource.statusz import Statusz
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.registry.event_stores import EVENT_TTL
from lifecycle.apiserver.registry.store import Environment
from lifecycle.apiserver.server.authority import Authority
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from lifecycle.apiserver.server.config import Config
from lifecycle.apiserver.server.director import Director
from lifecycle.apiserver.server.flags import server_flags
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.apiserver.server.lifecycle_signals import LifecycleSignals
from lifecycle.apiserver.server.loopback import Loopback
from lifecycle.apiserver.server.precedence import Precedence
from lifecycle.apiserver.server.repair_ip_addresses import RepairIPAddresses
from lifecycle.apiserver.server.rest_storage import new_cachers, new_stores
from lifecycle.apiserver.storage.cache_reader import CacheReader
from lifecycle.apiserver.storage.compactor import Compactor
from lifecycle.apiserver.storage.encryption_config.controller import (
    EncryptionAtRest,
    EncryptionOptions,
)
from lifecycle.apiserver.storage.object_reader import KindReader
from lifecycle.apiserver.storage.stats import StorageStats
from lifecycle.apiserver.webhook.egress_selector import EgressSelector
from lifecycle.apiserver.webhook.service_resolver import (
    ClusterIPResolver,
    EndpointResolver,
    ServiceResolver,
)
from lifecycle.etcd.codec import storage_media_type
from lifecycle.etcd.store import Store


def create_server_chain(
    store: Store,
    *,
    clock: Clock | None = None,
    names: NameSource | None = None,
    token: str = "",
    authentication: AuthenticationOptions | None = None,
    authorization: AuthorizationOptions | None = None,
    admission: AdmissionOptions | None = None,
    audit: AuditOptions | None = None,
    encryption: EncryptionOptions | None = None,
    cors_allowed_origins: Sequence[str] = (),
    authority: Authority | None = None,
    signing_key: SigningKey | None = None,
    webhook_resolver: ServiceResolver | None = None,
    kube_version: str = "",
    build_handler_chain: Callable[
        [Handler, ChainConfig], Handler
    ] = default_build_handler_chain,
) -> GenericAPIServer:
    """A server over a store; `await start()` before use. Raises ValueError or OSError
    for options that cannot be used.

    `token` is a bearer token for a user in `system:masters` (empty: none). `authority`
    is what it signs with; None: keys of its own, which end with it. `signing_key` signs
    tokens of service accounts, if no authority does. `webhook_resolver` finds the
    Services of webhooks; None: at their endpoints. `kube_version`: an older Kubernetes
    whose API clients from outside are shown (`emulation`). `build_handler_chain` puts
    the stages around what serves the API; one of its own may stand in front of that
    (upstream: `BuildHandlerChainFunc`).
    """
    clock, names = clock or Clock(), names or NameSource()
    signals, precedence = LifecycleSignals(), Precedence()

    async def enter(request: Request) -> Response:
        return await handler(request)  # the finished chain, below

    at_rest = None
    if encryption is not None and encryption.provider_config is not None:

        async def read_again() -> None:
            await server.read_again()  # the finished one, below

        at_rest = EncryptionAtRest(store, encryption, read_again)
        store = at_rest.store

    loopback = Loopback(enter, precedence)
    cachers = new_cachers(store)

    async def custom(api_version: str, kind: str) -> KindReader | None:
        return await extensions.reader_of(api_version, kind)  # see below

    reader = CacheReader(cachers, custom)
    egress = EgressSelector()
    resolver = webhook_resolver or EndpointResolver(
        reader, external_names=True, egress=egress
    )
    stored = StorageStats(cachers)
    flow_control = FlowController(
        reader, estimator=WorkEstimator(stored.stats, stored.watchers)
    )

    certificates = authority.certificates if authority is not None else None
    proxy = authentication.request_header if authentication is not None else None
    if (
        authentication is not None
        and proxy is not None
        and not authentication.client_ca
    ):
        # beside a front proxy's authority, certificates are users only if ours signed
        # them
        certificates = certificates or CertificateAuthority()
        authentication = replace(authentication, client_ca=certificates.ca_pem)
    if authority is not None:
        signing_key = authority.signing_key
    tokens = {}
    if token:
        tokens[token] = UserInfo("lifecycle-token", (MASTERS, "system:authenticated"))
    config = Config(
        reader,
        clock,
        names,
        static_tokens=tokens,
        authentication=authentication,
        authorization=authorization,
        admission=admission,
        signing_key=signing_key,
        charge_quota=loopback.update_status,
        resolver=resolver,
    )

    environment = Environment(
        store,
        clock,
        names,
        config.admission,
        cachers,
        storage_media_type(store),
        at_rest is not None,
    )
    stores = new_stores(environment)
    kubelets: dict[str, NodeTransport] = {}
    resources = ResourceHandler(
        environment,
        stores,
        config.virtual_resources,
        config.virtual_subresources,
        PodConnector(kubelets, config.authorizer),
    )
    definitions = stores["apiextensions.k8s.io", "customresourcedefinitions"]
    extensions = Extensions(environment, definitions, reader, resolver)

    metrics = RequestMetrics()
    api_services = resource_for_kind("apiregistration.k8s.io/v1", "APIService")
    assert api_services is not None
    published = Metrics(
        metrics,
        flow_control,
        cachers,
        lambda: availability(reader.list(api_services)),
    )

    def dumped(rest: str) -> Response | None:
        ahead = clock.now() - asyncio.get_running_loop().time()
        table = dump(flow_control, rest, ahead)
        return text(table) if table is not None else None

    flags = server_flags(
        authentication,
        authorization,
        admission,
        audit,
        encryption,
        cors_allowed_origins,
        EVENT_TTL,
    )

    def cannot_read() -> str:
        return next(
            (str(each.unreadable) for each in cachers.values() if each.unreadable), ""
        )

    others = NonResourceHandler(
        OpenIDMetadata(config.tokens, lambda: signals.address),
        address=lambda: signals.address,
        checks={name: lambda: store.problem for name in ("etcd", "etcd-readiness")}
        | dict.fromkeys(
            ("informer-sync", "poststarthook/storage-readiness"), cannot_read
        ),
        served=extensions,
        more={
            "/metrics": lambda rest: published.serve() if not rest else None,
            PREFIX: dumped,
        },
        zpages={
            STATUSZ: Statusz(clock, names).serve,
            FLAGZ: Flagz(flags, names).serve,
        },
    )

    serve: Handler = Director(store, resources, extensions, others)
    front_proxy = FrontProxy(authority.front_proxy if authority is not None else None)
    aggregator = Aggregator(
        serve,
        reader,
        clock,
        front_proxy,
        loopback.update_status,
        ClusterIPResolver(reader, egress),
    )

    backends, audit_log = None, None
    if audit is not None and audit.policy_file is not None:
        policy = read_policy(audit.policy_file)
        backends = Backends(*build_backends(audit, clock))
        audit_log = AuditLog(policy, backends.write, clock)
    handler = build_handler_chain(
        aggregator,
        ChainConfig(
            authenticator=config.authenticator,
            authorizer=config.authorizer,
            flow_control=flow_control,
            audit=audit_log,
            cors_allowed_origins=tuple(cors_allowed_origins),
            mux_and_discovery_complete=lambda: signals.has_been_ready,
            shutting_down=lambda: signals.shutdown_initiated,
            metrics=metrics,
        ),
    )
    server = GenericAPIServer(
        store=store,
        clock=clock,
        names=names,
        signals=signals,
        precedence=precedence,
        config=config,
        cachers=cachers,
        reader=reader,
        stores=stores,
        kubelets=kubelets,
        egress=egress,
        extensions=extensions,
        front_proxy=front_proxy,
        aggregator=aggregator,
        changes=ChangeFollower(aggregator, cachers),
        flow_control=flow_control,
        compactor=Compactor(store),
        ip_addresses=RepairIPAddresses(loopback.client(), clock=clock),
        handler=handler,
        outside=Emulator(kube_version, handler).serve if kube_version else handler,
        loopback=loopback,
        audit_backends=backends,
        certificate_authority=certificates,
        encryption=at_rest,
    )
    return server
