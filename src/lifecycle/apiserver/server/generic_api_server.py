"""A server that has been built: starting, listening, ending.

It starts in the order that makes each part safe for the next: first the caches fill
from the store, then the objects that every cluster has are written if they are missing,
and only then does anybody get an answer.

Upstream: `apiserver/pkg/server/genericapiserver.go` (`GenericAPIServer`), v1.36. It is
built by `create_server_chain`.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lifecycle.api.http.wire import Handler, Request, Response, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.aggregation.aggregator import Aggregator
from lifecycle.apiserver.aggregation.changes import ChangeFollower
from lifecycle.apiserver.aggregation.front_proxy import (
    FrontProxy,
    publish_authentication_config,
)
from lifecycle.apiserver.aggregation.local_api_services import (
    register_local_api_services,
)
from lifecycle.apiserver.apiextensions.extensions import Extensions
from lifecycle.apiserver.audit.backends import Backends
from lifecycle.apiserver.endpoints.connect import NodeTransport
from lifecycle.apiserver.filters.priority_and_fairness import FlowController
from lifecycle.apiserver.pki.certificates import (
    SERVER_ADDRESSES,
    SERVER_NAMES,
    CertificateAuthority,
)
from lifecycle.apiserver.registry.store import ResourceStore
from lifecycle.apiserver.server.bootstrap import write_defaults
from lifecycle.apiserver.server.config import Config
from lifecycle.apiserver.server.lifecycle_signals import LifecycleSignals
from lifecycle.apiserver.server.loopback import InProcessTransport, Loopback
from lifecycle.apiserver.server.precedence import Precedence
from lifecycle.apiserver.server.repair_ip_addresses import RepairIPAddresses
from lifecycle.apiserver.storage.cache_reader import CacheReader
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.storage.compactor import Compactor
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionAtRest
from lifecycle.apiserver.webhook.egress_selector import EgressSelector
from lifecycle.etcd.store import Store

if TYPE_CHECKING:
    from lifecycle.apiserver.server.https import HTTPSServer


@dataclass(kw_only=True)
class GenericAPIServer:
    """One API server over a store. `await start()` before use."""

    store: Store
    clock: Clock
    names: NameSource
    signals: LifecycleSignals
    precedence: Precedence
    config: Config
    cachers: dict[tuple[str, str], Cacher]
    reader: CacheReader
    stores: dict[tuple[str, str], ResourceStore]
    kubelets: dict[str, NodeTransport]
    """The way to each node's kubelet, by node name."""
    egress: EgressSelector
    """The way to the Services of webhooks and added servers."""
    extensions: Extensions
    front_proxy: FrontProxy
    aggregator: Aggregator
    changes: ChangeFollower
    flow_control: FlowController
    compactor: Compactor
    ip_addresses: RepairIPAddresses
    handler: Handler
    """The whole chain."""
    outside: Handler
    """Who answers what comes through a socket: the chain, or who stands before it."""
    loopback: Loopback
    audit_backends: Backends | None
    certificate_authority: CertificateAuthority | None
    encryption: EncryptionAtRest | None = None
    _https: list[HTTPSServer] = field(default_factory=list)

    @cached_property
    def certificates(self) -> CertificateAuthority:
        """The cluster's certificate authority, made when first needed."""
        return self.certificate_authority or CertificateAuthority()

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
        await write_defaults(self.loopback, self.reader, self.clock)
        await self.extensions.start()
        self.changes.start()
        self.compactor.start()
        self.ip_addresses.start()
        if self.encryption is not None:
            self.encryption.start()
        self.signals.has_been_ready = True

    async def read_again(self) -> None:
        """Other keys open the store now: find out what the caches could not read, and
        what they can no longer. Raises StoreError.
        """
        for cacher in [*self.cachers.values(), *self.extensions.cachers()]:
            await cacher.read_again()

    async def serve_https(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen on a loopback address; the port. Raises OSError if it is taken."""
        self.config.tokens.key.prepare()
        await publish_authentication_config(
            self.store, self.clock, self.certificates.ca_pem, self.front_proxy
        )
        from lifecycle.apiserver.server.https import HTTPSServer

        https = HTTPSServer(self._from_outside, self._tls())
        port = await https.start(host, port)
        self._https.append(https)
        self.signals.address = f"{host}:{port}"
        return port

    async def serve_socket(self, sock: socket.socket) -> None:
        """Listen on one more socket, bound elsewhere: in another network namespace. Its
        address is the one that the server tells of itself from now on, for it is where
        pods can reach it. Upstream: `--advertise-address`.
        """
        from lifecycle.apiserver.server.https import HTTPSServer

        host, port = sock.getsockname()[:2]
        https = HTTPSServer(self._from_outside, self._tls(host))
        await https.start("", sock=sock)
        self._https.append(https)
        self.signals.address = f"{host}:{port}"

    def _tls(self, *addresses: str) -> ssl.SSLContext:
        """For a listener at further addresses than those that every server has."""
        tls = (
            self.certificates.server_context(
                SERVER_NAMES, (*SERVER_ADDRESSES, *addresses)
            )
            if addresses
            else self.certificates.server_context()
        )
        if self.config.request_header is not None:
            tls.load_verify_locations(
                cadata=self.config.request_header.client_ca.decode()
            )
        return tls

    async def _from_outside(self, request: Request) -> Response:
        self.precedence.outside()
        return await self.outside(request)

    async def stop(self) -> None:
        """Close the sockets, end all watches, close the store."""
        self.signals.shutdown_initiated = True
        for https in self._https:
            await https.stop()
        if self.encryption is not None:
            await self.encryption.stop()
        await self.ip_addresses.stop()
        await self.compactor.stop()
        await self.changes.stop()
        await self.aggregator.stop()
        if self.audit_backends is not None:
            await self.audit_backends.close()
        await self.extensions.stop()
        for cacher in self.cachers.values():
            await cacher.stop()
        await self.store.close()

    def in_process_transport(self, user: UserInfo) -> InProcessTransport:
        """A way in for components of this process, as `user`."""
        return self.loopback.transport(user)
