"""kube-scheduler by itself.

Upstream: `cmd/kube-scheduler/app/server.go` (`Setup`, `Run`),
`pkg/scheduler/metrics/metrics.go`, v1.36. Left out: the client's limit of 50 requests a
second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.api.go.duration import parse_duration
from lifecycle.api.loop.clock import Clock
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.alone.connection import Connection
from lifecycle.cluster.alone.health import Check
from lifecycle.cluster.alone.metrics import family
from lifecycle.scheduler.config import (
    ConfigurationError,
    SchedulerConfiguration,
    parse_configuration,
    read_document,
)
from lifecycle.scheduler.scheduler import Scheduler

NAME = "kube-scheduler"

_ELECTION_TIMES = {
    "leaseDuration": "lease_duration",
    "renewDeadline": "renew_deadline",
    "retryPeriod": "retry_period",
}


def read_configuration(
    text: str,
) -> tuple[SchedulerConfiguration, dict[str, Any], str]:
    """A file for `--config`: the scheduler's part, what it says of leader election (as
    fields of LeaderElectionConfiguration), and the kubeconfig it names. Raises
    ConfigurationError.
    """
    document = read_document(text)
    configuration = parse_configuration(document or {})
    said: Mapping[str, Any] = document.get("leaderElection") or {}
    election: dict[str, Any] = {}
    if "leaderElect" in said:
        election["leader_elect"] = bool(said["leaderElect"])
    for key, name in _ELECTION_TIMES.items():
        if key in said:
            try:
                election[name] = parse_duration(str(said[key]))
            except ValueError as error:
                raise ConfigurationError(f"leaderElection.{key}: {error}") from None
    for key in ("resourceName", "resourceNamespace"):
        if said.get(key):
            election[f"resource_{key.removeprefix('resource').lower()}"] = said[key]
    connection = document.get("clientConnection") or {}
    return configuration, election, str(connection.get("kubeconfig") or "")


class LoneScheduler:
    """A scheduler for the server behind a connection."""

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        configuration: SchedulerConfiguration | None = None,
    ) -> None:
        client = connection.client(NAME, "scheduler")
        self._informers = SharedInformerFactory(client)
        self._scheduler = Scheduler.new(
            client, self._informers, clock=clock, configuration=configuration
        )

    def readyz(self) -> Mapping[str, Check]:
        """See `Component`. Upstream: `newHealthEndpointsAndMetricsHandler`."""
        return {
            "informer-sync": lambda: (
                "" if self._informers.has_synced else "waiting for the first lists"
            )
        }

    async def metrics(self) -> str:
        """See `Component`."""
        text = (
            "Number of pending pods, by the queue type. 'active' means number of pods"
            " in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable'"
            " means number of pods in unschedulablePods that the scheduler attempted"
            " to schedule and failed; 'gated' is the number of unschedulable pods that"
            " the scheduler never attempted to schedule because they are gated."
        )
        pending = self._scheduler.queue.pending_pods()
        samples = [({"queue": name}, len(keys)) for name, keys in pending.items()]
        return family("scheduler_pending_pods", "gauge", text, samples)

    async def run(self) -> None:
        """See `Component`."""
        try:
            await self._scheduler.run()
        finally:
            await self._informers.stop()

    async def until_ready(self) -> None:
        """See `Component`."""
        await self._informers.wait_for_cache_sync()
