"""What hollow pods reach of one another: whoever answers at a pod's address, on
whichever node.

There are no packets. Where a name leads, or the address of a Service, a node's `Way`
says, if it has one. The API server, which finds a Service's pods by itself, gets real
connections to them: `dialer`.

Ours.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Protocol

from lifecycle.api.loop.clock import VirtualTimeLoop
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.network.connections import HollowConnections
from lifecycle.cri.hollow.network.conversation import datagram_answer, http_answer, talk
from lifecycle.cri.hollow.process.process import NoSuchHost
from lifecycle.cri.hollow.process.resolver import Record, names_to_ask

Find = Callable[[str, int, str], HollowContainer | None]
"""Who listens on a port of a pod's address, for `tcp` or `udp`. Raises KeyError if no
pod of the node has that address.
"""


class HollowNetwork:
    """Of all nodes that join it."""

    def __init__(self) -> None:
        self._nodes: list[Find] = []
        self._connections = HollowConnections()

    def join(self, find: Find) -> None:
        """One more node."""
        self._nodes.append(find)

    def listening(
        self, ip: str, port: int, protocol: str = "tcp"
    ) -> HollowContainer | None:
        """On whichever node. Raises KeyError for an address that no pod has."""
        for find in self._nodes:
            try:
                return find(ip, port, protocol)
            except KeyError:
                continue
        raise KeyError(ip)

    def dialer(self) -> Callable[[tuple[str, int], float], socket.socket]:
        """What makes connections to pods, for other threads than that of the running
        loop. It is given an address and seconds, and raises OSError.

        On virtual time there are none: whoever waits for a thread there stops the loop,
        and who would answer?
        """
        loop = asyncio.get_running_loop()

        def dial(address: tuple[str, int], timeout: float) -> socket.socket:
            if isinstance(loop, VirtualTimeLoop):
                raise _os_error(errno.EHOSTUNREACH)
            connecting = asyncio.run_coroutine_threadsafe(self._connect(*address), loop)
            connected = connecting.result(timeout)
            connected.settimeout(timeout)
            return connected

        return dial

    async def _connect(self, ip: str, port: int) -> socket.socket:
        try:
            container = self.listening(ip, port)
        except KeyError:
            raise _os_error(errno.EHOSTUNREACH) from None
        server = None if container is None else container.server(port)
        if container is None or server is None:
            raise _os_error(errno.ECONNREFUSED)
        return self._connections.open(container, server, ip, port)

    async def close(self) -> None:
        """End the connections to its pods."""
        await self._connections.close()


class Way(Protocol):
    """How a node leads its pods' connections on."""

    async def lead(
        self, source: str, host: str, port: int, protocol: str = "tcp"
    ) -> tuple[str, int]:
        """Address and port where a connection arrives that begins at `source` (empty:
        at the node itself). Raises OSError if it is refused or lost.
        """
        ...

    async def ask(self, server: str, name: str, kind: str) -> list[Record]:
        """What a DNS server answers; nothing, if it knows nothing. Raises KeyError if
        nobody can be asked there.
        """
        ...


class NetworkOfPod:
    """Implements `Network` for the containers of one pod: `source` is its address,
    empty on the node's own network, `dns` its resolver configuration.
    """

    __slots__ = ("_dns", "_network", "_source", "_way")

    def __init__(
        self, network: HollowNetwork, way: Way | None, source: str, dns: Fields
    ) -> None:
        self._network, self._way = network, way
        self._source, self._dns = source, dns

    async def ask(self, name: str, kind: str, *, search: bool = True) -> list[Record]:
        """See `Network`."""
        servers = self._dns.get("servers")
        if self._way is None or not servers:
            raise KeyError(name)
        for asked in names_to_ask(name, self._dns) if search else [name]:
            if found := await self._way.ask(servers[0], asked, kind):
                return found
        return []

    async def lookup(self, name: str) -> str:
        """See `Network`."""
        for record in await self.ask(name, "A"):
            if record.type == "A":
                return record.data
        raise NoSuchHost(name)

    async def _lead(
        self, host: str, port: int, protocol: str = "tcp"
    ) -> tuple[str, int]:
        try:
            address = str(ip_address(host))
        except ValueError:
            address = await self.lookup(host)
        if self._way is None:
            return address, port
        return await self._way.lead(self._source, address, port, protocol)

    async def http(self, request: HTTPRequest) -> HTTPAnswer:
        """See `Network`."""
        try:
            host, port = await self._lead(request.host, request.port)
        except OSError as error:
            why = f"dial tcp {request.host}:{request.port}: connect: {error.strerror}"
            return HTTPAnswer(0, f'Get "{request.url}": {why.lower()}')
        arrived = replace(request, host=host, port=port)
        return await http_answer(self._network.listening(host, port), arrived)

    async def talk(self, host: str, port: int, data: bytes) -> bytes:
        """See `Network`."""
        address, arrived = await self._lead(host, port)
        container = self._network.listening(address, arrived)
        if container is None:
            raise _os_error(errno.ECONNREFUSED)
        return await talk(container, arrived, data)

    async def datagram(self, host: str, port: int, data: bytes) -> bytes:
        """See `Network`."""
        address, arrived = await self._lead(host, port, "udp")
        container = self._network.listening(address, arrived, "udp")
        if container is None:
            raise _os_error(errno.ECONNREFUSED)
        return await datagram_answer(container, arrived, data)


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
