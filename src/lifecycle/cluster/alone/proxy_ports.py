"""The two ports that kube-proxy has on its node.

10256 is for balancers and probes, on every address: `/healthz`, `/livez`. 10249 is for
the machine itself, on loopback: `/metrics`, `/proxyMode`, and a `/healthz` that says no
more than that somebody is there. A port that is taken is tried again after a while:
rules are worth more than answers about them.

Upstream: `cmd/kube-proxy/app/server.go` (`serveHealthz`, `serveMetrics`),
`pkg/proxy/metrics/metrics.go`, `pkg/cluster/ports/ports.go`, v1.36. Left out:
`/configz`, `/flagz`, `/statusz`, histograms, counters of packets.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.cluster.alone.health import TEXT
from lifecycle.cluster.alone.metrics import build_info, family, process
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.kube_proxy_configuration import HEALTHZ, METRICS

if TYPE_CHECKING:
    from aiohttp import web
else:
    web = late_import("aiohttp.web")

log = logging.getLogger(__name__)

MODE = "iptables"
RETRY = 5.0
"""Seconds until a port that is taken is tried again."""

Listen = Callable[[str, int], socket.socket]
"""Makes a listening socket at an address and a port of the node. Raises OSError."""
Answer = tuple[int, str, str]
"""Status, content type, body."""
Path = Callable[[], Answer]


def proxier_metrics(proxier: Proxier) -> str:
    """What a proxy has counted, as `/metrics` says it."""
    ip_family, health = {"ip_family": proxier.health.family}, proxier.health
    counts = zip(("filter", "nat"), proxier.last_rule_counts, strict=True)
    answers = [
        family(
            f"kubeproxy_proxy_{path}_total",
            "counter",
            f"Cumulative proxy {path} HTTP status",
            [
                ({"code": str(status)}, count)
                for (asked, status), count in health.answers.items()
                if asked == path
            ],
        )
        for path in ("healthz", "livez")
    ]
    rules = family(
        "kubeproxy_sync_proxy_rules_iptables_total",
        "gauge",
        "Total number of iptables rules owned by kube-proxy",
        [({**ip_family, "table": table}, count) for table, count in counts],
    )
    queued = family(
        "kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds",
        "gauge",
        "The last time a sync of proxy rules was queued",
        [(ip_family, health.last_queued)],
    )
    synced = family(
        "kubeproxy_sync_proxy_rules_last_timestamp_seconds",
        "gauge",
        "The last time proxy rules were successfully synced",
        [(ip_family, health.last_updated)],
    )
    return "".join((*answers, rules, queued, synced))


class ProxyPorts:
    """Both ports of one proxy."""

    def __init__(
        self,
        proxier: Proxier,
        listen: Listen,
        healthz: tuple[str, int] = HEALTHZ,
        metrics: tuple[str, int] = METRICS,
    ) -> None:
        health = proxier.health
        self._name = proxier.node.name
        self._listen = listen
        self._ports: dict[tuple[str, int], Mapping[str, Path]] = {
            healthz: {
                "/healthz": lambda: _as_json(health.healthz()),
                "/livez": lambda: _as_json(health.livez()),
            },
            metrics: {
                "/healthz": lambda: _plain(200, "ok"),
                "/proxyMode": lambda: _plain(200, MODE),
                "/metrics": lambda: (
                    200,
                    TEXT,
                    build_info() + process() + proxier_metrics(proxier),
                ),
            },
        }

    async def run(self) -> None:
        """Listen until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for (address, port), paths in self._ports.items():
                name = f"kube-proxy {self._name} :{port}"
                tasks.create_task(self._serve(address, port, paths), name=name)

    async def _serve(self, address: str, port: int, paths: Mapping[str, Path]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock = self._listen(address, port)
                break
            except OSError as error:
                log.error("kube-proxy of %s, port %s: %s", self._name, port, error)
                await asyncio.sleep(RETRY)
        connections = web.Server(_handler(paths), access_log=None)
        listener = await loop.create_server(connections, sock=sock)
        try:
            await loop.create_future()
        finally:
            listener.close()
            await connections.shutdown(timeout=0.2)


def _handler(
    paths: Mapping[str, Path],
) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        made = paths.get(request.path, lambda: _plain(404, "404 page not found\n"))
        status, kind, body = made()
        headers = {"Content-Type": kind, "X-Content-Type-Options": "nosniff"}
        return web.Response(status=status, body=body.encode(), headers=headers)

    return answer


def _as_json(said: tuple[int, str]) -> Answer:
    return said[0], "application/json", said[1]


def _plain(status: int, text: str) -> Answer:
    return status, "text/plain; charset=utf-8", text
