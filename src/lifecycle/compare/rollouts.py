"""Whether a rollout kept to its arithmetic.

How many steps a rollout takes follows from how fast containers start, so two clusters
may differ in it. What each step may be does not: a step up fills what `maxSurge` leaves
room for and no more, a step down leaves what `maxUnavailable` demands, every step is
one write and one event. A cluster's watch tells all of it, and each side is held to it
on its own.

Upstream: `pkg/controller/deployment/rolling.go`, `util/deployment_util.go`
(`NewRSNewReplicas`, `MaxSurge`, `MaxUnavailable`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.inspector import Exchange

STEPS = "steps of a rollout"
COMBINED = "(combined from similar events): "
"""Where the recorder puts events together, only the last of them is told."""
_SCALED = re.compile(
    r"(?:\(combined from similar events\): )?"
    r"Scaled (?:up|down) replica set (\S+) (?:from (\d+) )?to (\d+)"
)


Step = tuple[str, int | None, int]
"""A ReplicaSet, and from how many to how many. Older events do not say the first."""


def step_of(message: str) -> Step | None:
    """The step that an event tells of."""
    match = _SCALED.match(message)
    if match is None:
        return None
    return match[1], int(match[2]) if match[2] else None, int(match[3])


@dataclass(slots=True, frozen=True)
class Limits:
    """What one state of a Deployment's spec allows."""

    replicas: int
    at_most: int
    at_least: int

    @classmethod
    def of(cls, spec: dict[str, Any]) -> Limits:
        """The strategy's numbers, percentages resolved: surge up, the other down."""
        replicas = spec.get("replicas", 1)
        rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
        surge = -(-_hundredths(rolling.get("maxSurge", 0), replicas) // 100)
        unavailable = _hundredths(rolling.get("maxUnavailable", 0), replicas) // 100
        if not surge and not unavailable:
            unavailable = 1
        return cls(replicas, replicas + surge, max(replicas - unavailable, 0))


def _hundredths(value: int | str, of: int) -> int:
    if isinstance(value, str):
        return int(value.removesuffix("%")) * of
    return value * 100


@dataclass(slots=True)
class _Deployment:
    limits: list[Limits] = field(default_factory=list)
    replica_sets: dict[str, int] = field(default_factory=dict)
    has_been_available: bool = False

    @property
    def total(self) -> int:
        return sum(self.replica_sets.values())


@dataclass(slots=True)
class Rollouts:
    """One cluster's rollouts, read from its watch, and the `complaints` about them.
    `generations`: those that each ReplicaSet was seen with; `raised`: by how much it
    was, each time.
    """

    checks: int = 0
    complaints: list[str] = field(default_factory=list)
    steps: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    generations: dict[str, set[int]] = field(default_factory=dict)
    raised: dict[str, list[int]] = field(default_factory=dict)
    _deployments: dict[str, _Deployment] = field(default_factory=dict)
    _generations: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, lines: Iterable[dict[str, Any]], exchanges: Sequence[Exchange]
    ) -> Rollouts:
        """Read the watch, then hold the recorded events against it."""
        rollouts = cls()
        for line in lines:
            event, obj = line["event"], line["event"].get("object") or {}
            if event.get("type") in ("ADDED", "MODIFIED"):
                if obj.get("kind") == "Deployment":
                    rollouts._deployment(obj)
                elif obj.get("kind") == "ReplicaSet":
                    rollouts._replica_set(obj)
            elif event.get("type") == "DELETED" and obj.get("kind") == "ReplicaSet":
                rollouts._of(obj).replica_sets.pop(obj["metadata"]["name"], None)
        told: dict[str, dict[str, Any]] = {}
        for exchange in exchanges:
            if isinstance(exchange.response, dict):
                for item in exchange.response.get("items") or ():
                    if item.get("reason") == "ScalingReplicaSet":
                        rollouts._event(item.get("message", ""))
                        told[f"{item['metadata']['name']} {item['message']}"] = item
        rollouts._told(list(told.values()))
        return rollouts

    def taken(self, step: Step) -> int:
        """How often the watch saw a step."""
        return sum(
            times
            for (name, before, now), times in self.steps.items()
            if (name, now) == (step[0], step[2]) and step[1] in (None, before)
        )

    def _told(self, events: list[dict[str, Any]]) -> None:
        """Where events were asked for at all, every step is told in one, or lost among
        those that were put together.
        """
        if not events:
            return
        steps = [step_of(event["message"]) for event in events]
        untold = [
            step
            for step in self.steps
            if step not in steps and (step[0], None, step[2]) not in steps
        ]
        together = sum(
            event.get("count", 1)
            for event in events
            if event["message"].startswith(COMBINED)
        )
        self._hold(
            len(untold) <= together, f"{len(untold)} steps nobody told, {together} may"
        )

    def _hold(self, condition: bool, complaint: str) -> None:
        self.checks += 1
        if not condition:
            self.complaints.append(complaint)

    def _of(self, replica_set: dict[str, Any]) -> _Deployment:
        owners = replica_set["metadata"].get("ownerReferences") or ()
        uid = next((o["uid"] for o in owners if o.get("controller")), "")
        return self._deployments.setdefault(uid, _Deployment())

    def _deployment(self, obj: dict[str, Any]) -> None:
        deployment = self._deployments.setdefault(obj["metadata"]["uid"], _Deployment())
        limits = Limits.of(obj["spec"])
        if not deployment.limits or deployment.limits[-1] != limits:
            # the controller may not have heard of the newest ones yet
            deployment.limits = [*deployment.limits[-1:], limits]
            deployment.has_been_available = False
        available = (obj.get("status") or {}).get("availableReplicas", 0)
        if deployment.has_been_available:
            self._hold(
                available >= limits.at_least,
                f"Deployment {obj['metadata']['name']}: {available} available,"
                f" {limits.at_least} wanted at least",
            )
        elif available >= limits.at_least:
            deployment.has_been_available = True

    def _replica_set(self, obj: dict[str, Any]) -> None:
        deployment, name = self._of(obj), obj["metadata"]["name"]
        now = obj["spec"].get("replicas", 0)
        before = deployment.replica_sets.get(name)
        deployment.replica_sets[name] = now
        generation = obj["metadata"].get("generation", 0)
        self.generations.setdefault(name, set()).add(generation)
        if before is not None:
            expected = self._generations[name] + (before != now)
            self._hold(
                generation == expected,
                f"ReplicaSet {name}: generation {generation} after"
                f" {expected - 1} writes of its spec",
            )
        self._generations[name] = generation
        before = before or 0
        if now == before:
            return
        self.steps[name, before, now] += 1
        total = deployment.total
        step = f"ReplicaSet {name} from {before} to {now}"
        if now > before:
            self.raised.setdefault(name, []).append(now - before)
            self._hold(
                any(
                    total <= limits.at_most
                    and (total == limits.at_most or now == limits.replicas)
                    for limits in deployment.limits
                ),
                f"{step}: {total} together, {_most(deployment)} wanted",
            )
        else:
            self._hold(
                any(total >= limits.at_least for limits in deployment.limits),
                f"{step}: {total} left together",
            )

    def _event(self, message: str) -> None:
        step = step_of(message)
        self._hold(
            step is not None and self.taken(step) > 0, f"{message}: nobody saw it"
        )


def _most(deployment: _Deployment) -> str:
    return " or ".join(str(limits.at_most) for limits in deployment.limits)
