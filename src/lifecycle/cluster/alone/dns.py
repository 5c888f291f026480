"""Cluster DNS by itself, for the Services of any API server.

Upstream: CoreDNS 1.14 with kubeadm's Corefile (`health`, `ready`, `prometheus`,
`kubernetes cluster.local`). Left out: other plugins, a Corefile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.api.loop.clock import Clock
from lifecycle.api.validation.content import dns1123_subdomain
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.alone.connection import Connection
from lifecycle.cluster.alone.health import LOOPBACK, Check
from lifecycle.cluster.alone.metrics import family
from lifecycle.dns.records import Answer
from lifecycle.dns.server import ClusterDNS

NAME = "coredns"


@dataclass(slots=True, frozen=True)
class DNSOptions:
    """`port` 0 picks a free one, the same for UDP and TCP. `ttl` in seconds."""

    port: int = 53
    cluster_domain: str = "cluster.local"
    ttl: int = 30

    def check(self) -> None:
        """Raises ValueError, in one line."""
        for problem in dns1123_subdomain(self.cluster_domain):
            raise ValueError(f"--cluster-domain {self.cluster_domain}: {problem}")


class CountingDNS(ClusterDNS):
    """Counts its answers, by code."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.responses: Counter[str] = Counter()

    def answer(self, name: str, qtype: str) -> Answer:
        """See `ClusterDNS`."""
        answer = super().answer(name, qtype)
        self.responses[answer.rcode] += 1
        return answer


class LoneDNS:
    """DNS on a loopback port for the server behind a connection. `told`: hears where it
    is.
    """

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        options: DNSOptions,
        told: Callable[[str], None],
    ) -> None:
        client = connection.client(NAME)
        self._informers = SharedInformerFactory(client)
        self._zone = f"{options.cluster_domain}."
        self._told = told
        self._server = CountingDNS(
            client,
            self._informers,
            clock=clock,
            zone=self._zone,
            ttl=options.ttl,
            host=LOOPBACK,
            port=options.port,
        )

    def readyz(self) -> Mapping[str, Check]:
        """See `Component`."""
        return {
            "kubernetes": lambda: (
                "" if self._server.has_synced else "waiting for the first lists"
            )
        }

    async def metrics(self) -> str:
        """See `Component`."""
        server = f"dns://{LOOPBACK}:{self._server.port}"
        return family(
            "coredns_dns_responses_total",
            "counter",
            "Counter of response status codes.",
            (
                ({"rcode": rcode, "server": server, "zone": self._zone}, count)
                for rcode, count in self._server.responses.items()
            ),
        )

    async def run(self) -> None:
        """See `Component`. Raises OSError for a port that is taken."""
        try:
            await self._server.run()
        finally:
            await self._informers.stop()

    async def until_ready(self) -> None:
        """See `Component`: once it knows the cluster."""
        await self._server.started.wait()
        port = self._server.port
        self._told(
            f"dns: {LOOPBACK}:{port} (try dig @{LOOPBACK} -p {port}"
            f" kubernetes.default.svc.{self._zone.removesuffix('.')})"
        )
