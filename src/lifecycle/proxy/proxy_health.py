"""Is kube-proxy keeping up, and should balancers go on sending to this node?

Every change of a Service or its endpoints starts a clock, and the next sync that
succeeds stops it. If it runs for too long, rules are old, and neither question is
answered with yes. `/livez` asks the first: starting the proxy again may help.
`/healthz` asks both: a node that is going away, or is about to (the autoscaler's
taint), is to be left in peace by balancers, and nothing would be gained by a restart.

Upstream: `pkg/proxy/healthcheck/proxy_health.go` (`ProxyHealthServer`), v1.36; the text
of the answers was looked at in kube-proxy 1.36.2.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_micro_time

TO_BE_DELETED_TAINT = "ToBeDeletedByClusterAutoscaler"
NEVER = "0001-01-01T00:00:00Z"
"""Go's zero time."""


class ProxyHealth:
    """Of a proxy for one family of addresses. `timeout`: seconds that a change may wait
    for its rules.

    `answers` counts what was answered: keys are `healthz` or `livez`, and the status.
    """

    def __init__(self, clock: Clock, timeout: float, family: str = "IPv4") -> None:
        self.timeout = timeout
        self.family = family
        self.last_queued = 0.0
        self.last_updated = 0.0
        self.node_eligible = True
        self.answers: Counter[tuple[str, int]] = Counter()
        self._clock = clock
        self._queued: float | None = None
        self._syncing: float | None = None

    def queued_update(self) -> None:
        """Something changed that needs new rules."""
        self.last_queued = self._clock.now()
        if self._queued is None:
            self._queued = asyncio.get_running_loop().time()

    def sync_begins(self) -> None:
        """What changed until now is being written; what changes from now on is not."""
        if self._syncing is None:
            self._syncing = self._queued
        self._queued = None

    def sync_failed(self) -> None:
        """It waits further; if nothing had changed, it waits from now on."""
        if self._syncing is None and self._queued is None:
            self._syncing = asyncio.get_running_loop().time()

    def updated(self) -> None:
        """The rules are in place."""
        self._syncing = None
        self.last_updated = self._clock.now()

    def sync_node(self, node: Object) -> None:
        """Our node is new or different."""
        taints = node.get("spec", {}).get("taints") or ()
        self.node_eligible = "deletionTimestamp" not in node["metadata"] and not any(
            taint["key"] == TO_BE_DELETED_TAINT for taint in taints
        )

    def is_healthy(self) -> bool:
        """Whether no change has waited too long."""
        since = self._queued if self._syncing is None else self._syncing
        return since is None or asyncio.get_running_loop().time() - since < self.timeout

    def healthz(self) -> tuple[int, str]:
        """Status and body: whether balancers should send to this node."""
        return self._answer("healthz", {"nodeEligible": self.node_eligible})

    def livez(self) -> tuple[int, str]:
        """Status and body: whether the proxy works."""
        return self._answer("livez", {})

    def _answer(self, path: str, more: dict[str, bool]) -> tuple[int, str]:
        healthy = self.is_healthy()
        status = 200 if healthy and all(more.values()) else 503
        self.answers[path, status] += 1
        now = format_micro_time(self._clock.now())
        wrote = format_micro_time(self.last_updated) if self.last_updated else NEVER
        family = {"lastUpdated": wrote, "healthy": healthy}
        body = {
            "lastUpdated": now if status == 200 else wrote,
            "currentTime": now,
            **more,
            "healthy": healthy,
            "status": {self.family: family} if self.last_updated else {},
        }
        return status, json.dumps(body, separators=(",", ":"))
