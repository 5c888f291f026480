"""What hollow pods reach of one another: whoever answers HTTP at a pod's address, on
whichever node.

There are no packets. Names and the addresses of Services lead nowhere here, for there
is no kernel with rules, and nobody asks the cluster's DNS. The API server, which finds
a Service's pods by itself, gets real connections to them: `dialer`.

Ours.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable

from lifecycle.api.clock import VirtualTimeLoop
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.connections import HollowConnections
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.streaming import http_answer

Find = Callable[[str, int], HollowContainer | None]
"""Who listens on a port of a pod's address. Raises KeyError if no pod of the node has
that address.
"""


class HollowNetwork:
    """Of all nodes that join it."""

    def __init__(self) -> None:
        self._nodes: list[Find] = []
        self._connections = HollowConnections()

    def join(self, find: Find) -> None:
        """One more node."""
        self._nodes.append(find)

    def listening(self, ip: str, port: int) -> HollowContainer | None:
        """On whichever node. Raises KeyError for an address that no pod has."""
        for find in self._nodes:
            try:
                return find(ip, port)
            except KeyError:
                continue
        raise KeyError(ip)

    async def http(self, request: HTTPRequest) -> HTTPAnswer:
        """What a pod is answered that asks. Raises KeyError."""
        return await http_answer(self.listening(request.host, request.port), request)

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


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
