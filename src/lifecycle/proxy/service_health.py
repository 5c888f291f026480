"""Whether a balancer should send a Service's traffic to this node: asked over HTTP,
answered on the Service's health check port.

In front of a Service with `externalTrafficPolicy: Local` a balancer must leave out the
nodes that have none of its pods: what arrives there is dropped. 200 says that there are
ready pods here, 503 that there are none – or that the rules have not been brought up to
date for so long that they are not to be trusted. How many pods there are goes along as
a weight. Pods that are going away do not count, though they still serve: their node is
to be left in peace in time.

Upstream: `pkg/proxy/healthcheck/service_health.go` (`server`, `hcHandler`), v1.36. Left
out: the event about a port that is taken (it is logged).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lifecycle.api.go.format import go_quote
from lifecycle.api.late_import import late_import
from lifecycle.proxy.endpoints_map import ServiceKey

if TYPE_CHECKING:
    from aiohttp import web
else:
    web = late_import("aiohttp.web")

log = logging.getLogger(__name__)

WEIGHT = "X-Load-Balancing-Endpoint-Weight"
BODY = """{{
	"service": {{
		"namespace": {namespace},
		"name": {name}
	}},
	"localEndpoints": {count},
	"serviceProxyHealthy": {healthy}
}}"""


@dataclass(slots=True)
class _Open:
    port: int
    connections: web.Server
    listener: asyncio.Server


class ServiceHealthServer:
    """Listens on the ports it is given. `listen` makes a listening socket for a port,
    in the node's network; `healthy` says whether the rules are fresh.
    """

    def __init__(
        self,
        listen: Callable[[int], socket.socket],
        healthy: Callable[[], bool] = lambda: True,
    ) -> None:
        self.healthy = healthy
        self._listen = listen
        self._open: dict[ServiceKey, _Open] = {}
        self._counts: dict[ServiceKey, int] = {}

    async def sync(
        self, ports: Mapping[ServiceKey, int], local_ready: Mapping[ServiceKey, int]
    ) -> None:
        """The Services with a port, and how many ready endpoints each has here. A port
        that is taken is logged, and tried again.
        """
        self._counts = {key: local_ready.get(key, 0) for key in ports}
        for key, hc_instance in list(self._open.items()):
            if ports.get(key) != hc_instance.port:
                await self._close(key)
        for key, port in ports.items():
            if key in self._open:
                continue
            try:
                sock = self._listen(port)
            except OSError as error:
                log.error(
                    "health check of %s/%s cannot listen on port %s: %s",
                    *key,
                    port,
                    error,
                )
                continue
            connections = web.Server(self._handler(key), access_log=None)
            listener = await asyncio.get_running_loop().create_server(
                connections, sock=sock
            )
            self._open[key] = _Open(port, connections, listener)

    async def stop(self) -> None:
        """Close everything."""
        for key in list(self._open):
            await self._close(key)

    async def _close(self, key: ServiceKey) -> None:
        hc_instance = self._open.pop(key)
        hc_instance.listener.close()
        await hc_instance.connections.shutdown(timeout=0.2)

    def _handler(
        self, key: ServiceKey
    ) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            status, body = self.answer(key)
            headers = {
                "Content-Type": "application/json",
                "X-Content-Type-Options": "nosniff",
                WEIGHT: str(self._counts.get(key, 0)),
            }
            return web.Response(status=status, body=body.encode(), headers=headers)

        return answer

    def answer(self, key: ServiceKey) -> tuple[int, str]:
        """Status and body for one Service."""
        count, healthy = self._counts.get(key, 0), self.healthy()
        namespace, name = map(go_quote, key)
        text = BODY.format(
            namespace=namespace, name=name, count=count, healthy=str(healthy).lower()
        )
        return (200 if count and healthy else 503), text
