"""A process that is one component: it finds its API server, opens its port, is elected
where several stand by, and works.

    kubeconfig → the server answers → health port → (lease) → run

Upstream: `Run` in `cmd/kube-scheduler/app/server.go` and
`cmd/kube-controller-manager/app/controllermanager.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lifecycle.api.loop.clock import Clock
from lifecycle.client.leader_election import LeaderElector
from lifecycle.cluster.alone import metrics
from lifecycle.cluster.alone.connection import Connection, Target
from lifecycle.cluster.alone.health import LOOPBACK, Check, HealthServer
from lifecycle.cluster.alone.leading import (
    LeaderElectionConfiguration,
    new_elector,
    run_as_leader,
)


class Component(Protocol):
    """One component, made and not yet running."""

    def readyz(self) -> Mapping[str, Check]:
        """What must be true before it can work."""
        ...

    async def metrics(self) -> str:
        """Its own families, in Prometheus' text format."""
        ...

    async def run(self) -> None:
        """Work until cancelled, and leave nothing running."""
        ...

    async def until_ready(self) -> None:
        """While it runs: wait until it works."""
        ...


@dataclass(slots=True)
class ComponentProcess:
    """`name`: the program's, as upstream calls it. `make`: makes the component for a
    server that answers. `told`: hears what an operator wants to know, a line each.
    `election` None: for those of which any number may work.
    """

    name: str
    make: Callable[[Connection], Component]
    target: Target
    environ: Mapping[str, str]
    healthz_port: int = 0
    election: LeaderElectionConfiguration | None = None
    told: Callable[[str], None] = print
    clock: Clock = field(default_factory=Clock)
    _elector: LeaderElector | None = None

    async def run(self, ready: Callable[[str], None]) -> None:
        """Until cancelled. `ready` hears the URL of the health port once the component
        works, or stands by.

        Raises ValueError for a kubeconfig, OSError for a server or a port that will not
        do, StatusError if the server does not know us, LeaderElectionLost.
        """
        if self.election is not None:
            self.election.check()
        connection = await Connection.open(self.target, self.environ)
        try:
            client = connection.client(self.name)
            await connection.wait_for_api_server(client)
            component = self.make(connection)
            if self.election is not None and self.election.leader_elect:
                self._elector = new_elector(
                    connection.client(self.name, "leader-election"),
                    self.election,
                    self.name,
                    self.clock,
                )
            health = HealthServer(
                {"leaderElection": self._elector.check} if self._elector else {},
                {
                    name: self._while_working(c)
                    for name, c in component.readyz().items()
                },
                lambda: self._metrics(connection, component),
            )
            url = f"http://{LOOPBACK}:{await health.start(self.healthz_port)}"
            try:
                await self._work(component, lambda: ready(url))
            finally:
                await health.stop()
        finally:
            await connection.close()

    async def _work(self, component: Component, ready: Callable[[], None]) -> None:
        awaiting: list[asyncio.Task[None]] = []

        async def announce() -> None:
            await component.until_ready()
            ready()

        def working() -> None:
            awaiting.append(asyncio.create_task(announce()))

        try:
            if self._elector is None:
                working()
                await component.run()
                return
            elector, lease = self._elector, self._lease

            def standing_by() -> None:
                if not elector.holder:  # we may not look, or may not take it
                    self.told(f"standing by: no {lease}: {elector.problem}")
                    return
                self.told(f"standing by: {lease} is held by {elector.holder}")
                ready()

            def leading() -> None:
                self.told(f"leading: {lease} as {elector.identity}")
                working()

            await run_as_leader(elector, component.run, standing_by, leading)
        finally:
            for task in awaiting:
                task.cancel()
            await asyncio.gather(*awaiting, return_exceptions=True)

    @property
    def _lease(self) -> str:
        assert self.election is not None
        name = self.election.resource_name or self.name
        return f"lease {self.election.resource_namespace}/{name}"

    def _while_working(self, check: Check) -> Check:
        """Who stands by is ready: nothing more is asked of it."""

        def checked() -> str:
            idle = self._elector is not None and not self._elector.is_leader
            return "" if idle else check()

        return checked

    async def _metrics(self, connection: Connection, component: Component) -> str:
        election = ""
        if self._elector is not None:
            election = metrics.leader_election_master_status(
                self.name, self._elector.is_leader
            )
        requests = metrics.rest_client_requests(connection.host, connection.requests)
        parts = (
            metrics.build_info(),
            election,
            metrics.process(),
            requests,
            await component.metrics(),
        )
        return "".join(parts)
