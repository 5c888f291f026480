"""Cluster DNS as a server: watches the cluster, answers over UDP and TCP.

Nothing is answered from a half-read cluster: until Services, EndpointSlices and
Namespaces have been listed, every question gets SERVFAIL, which makes a resolver try
again, rather than an NXDOMAIN that it would believe.

Upstream: CoreDNS 1.14 (`core/dnsserver/server.go`, `plugin/kubernetes/setup.go`). Left
out: forwarding of names outside the cluster and a cache for it, metrics, DNS over TLS.
"""

from __future__ import annotations

import asyncio
import random
import struct
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import (
    Handlers,
    SharedInformer,
    SharedInformerFactory,
)
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.records import SERVFAIL, Answer
from lifecycle.dns.service_index import ServiceIndex
from lifecycle.dns.sockets import Sockets, open_sockets
from lifecycle.dns.written_replies import WrittenReplies

if TYPE_CHECKING:
    from lifecycle.dns import wire
else:  # with the library behind it, a twentieth of a cluster's start
    wire = late_import("lifecycle.dns.wire")

IDLE_SECONDS = 10.0
"""A TCP connection that asks nothing, or takes no answer, for this long is closed."""

MOST_WAITING = 256
"""Datagrams that have come in and are not looked at yet. Beyond that they are lost."""

MOST_LONG_REPLIES = 16
"""Datagrams that are being written at a time. Beyond that, questions which want many
records are lost, as datagrams are that nobody has room for.
"""


class ClusterDNS:
    """A DNS server on `host`; `port` 0 lets the system choose one, `self.port` says
    which, once `started` is set.

    `sockets`: one for TCP and one for UDP that are bound already, in another network
    namespace, say.
    """

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        zone: str = "cluster.local.",
        ttl: int = 30,
        host: str = "127.0.0.1",
        port: int = 0,
        sockets: Sockets | None = None,
    ) -> None:
        self.client = client
        self.clock = clock
        self.host = host
        self.port = port
        self._sockets = sockets
        self.started = asyncio.Event()
        self._dice = random.Random(port)  # which address comes first is no secret
        names = ("services", "endpointslices.discovery.k8s.io", "namespaces")
        self._informers = [informers.informer(resource(name)) for name in names]
        services, slices, namespaces = (
            informer.indexer for informer in self._informers
        )
        self.index = ServiceIndex(services, slices, namespaces)
        self.answerer = Answerer(KubernetesPlugin(self.index, zone=zone), ttl=ttl)
        self._turn = asyncio.Lock()
        """Connections that want much get one answer at a time, and so does the loop.
        Who asks little waits for nobody.
        """
        self._connections: set[asyncio.StreamWriter] = set()
        self.written = WrittenReplies()
        self._handlers = [
            self._followed(informer, changed)
            for informer, changed in zip(
                self._informers, (self._changed, self._changed, self._forget)
            )
        ]

    def _followed(
        self, informer: SharedInformer, changed: Callable[[Object], None]
    ) -> tuple[SharedInformer, Handlers]:
        return informer, informer.add_event_handler(
            changed, lambda old, new: changed(new), changed
        )

    @property
    def has_synced(self) -> bool:
        """Whether the whole cluster has been read once."""
        return all(informer.has_synced for informer in self._informers)

    def answer(self, name: str, qtype: str) -> Answer:
        """The answer to a question, without a packet."""
        return (
            self.answerer.answer(name, qtype)
            if self.has_synced
            else Answer(SERVFAIL, authoritative=False)
        )

    async def run(self) -> None:
        """Serve until cancelled."""
        loop = asyncio.get_running_loop()
        listening = self._sockets or open_sockets(self.host, self.port)
        self.port = listening[0].getsockname()[1]
        tcp = await asyncio.start_server(self._serve_tcp, sock=listening[0])
        udp, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self, self.written), sock=listening[1]
        )
        try:
            for informer in self._informers:
                await informer.wait_for_sync()
            self.written.forget()  # that nothing was known yet
            self.started.set()
            await asyncio.Event().wait()
        finally:
            udp.close()
            tcp.close()
            for writer in list(
                self._connections
            ):  # a client that holds its connection open must not hold up the end
                writer.transport.abort()
            for informer, handlers in self._handlers:
                informer.remove_event_handler(handlers)

    def reply_to(self, packet: bytes, *, tcp: bool) -> wire.Reply | None:
        """What is to be said to a packet; see `wire.reply_to`."""
        return wire.reply_to(packet, self, self._dice, tcp=tcp)

    def _changed(self, obj: Object) -> None:
        self.index.modified = int(self.clock.now())
        self._forget(obj)

    def _forget(self, obj: Object) -> None:
        self.answerer.forget()
        self.written.forget()

    async def _serve_tcp(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Questions and answers, each behind two bytes of length."""
        self._connections.add(writer)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, TimeoutError):
                # many questions may have come in one piece, or one to each of many
                pauses = Pauses()
                while True:
                    async with asyncio.timeout(IDLE_SECONDS):
                        (length,) = struct.unpack("!H", await reader.readexactly(2))
                        packet = await reader.readexactly(length)
                    await pauses.pause()
                    reply = self.reply_to(packet, tcp=True)
                    if reply is None:
                        break
                    # nobody is idle who waits for the turn
                    async with self._turn if reply.weight > LARGE else nullcontext():
                        said = await beside(reply.weight, reply.packet)
                    writer.write(struct.pack("!H", len(said)) + said)
                    async with asyncio.timeout(IDLE_SECONDS):
                        await writer.drain()
        finally:
            self._connections.discard(writer)
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    """Takes questions in and answers them one after the other, taking turns with
    others: the system hands over dozens at a time.
    """

    def __init__(
        self, server: ClusterDNS, written: WrittenReplies | None = None
    ) -> None:
        self._server = server
        self._written = written or WrittenReplies()
        self._transport: asyncio.DatagramTransport | None = None
        self._waiting: deque[tuple[bytes, Any]] = deque()
        self._answering: asyncio.Task[None] | None = None
        self._writing: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for task in (self._answering, *self._writing):
            if task is not None:
                task.cancel()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append((data, addr))
        if self._answering is None or self._answering.done():
            self._answering = asyncio.ensure_future(self._answer_all())

    async def _answer_all(self) -> None:
        pauses = Pauses()
        while self._waiting:
            self._answer(*self._waiting.popleft())
            await pauses.pause()

    def _answer(self, data: bytes, addr: Any) -> None:
        if said := self._written.to(data):
            self._send(said, addr)
            return
        reply = self._server.reply_to(data, tcp=False)
        if reply is None:
            return
        if reply.weight <= LARGE:
            packet = reply.packet()
            self._written.keep(data, reply, packet)
            self._send(packet, addr)
        elif len(self._writing) < MOST_LONG_REPLIES:
            task = asyncio.ensure_future(self._write(reply, addr))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _write(self, reply: wire.Reply, addr: Any) -> None:
        self._send(await beside(reply.weight, reply.packet), addr)

    def _send(self, packet: bytes, addr: Any) -> None:
        if packet and self._transport is not None:
            self._transport.sendto(packet, addr)
