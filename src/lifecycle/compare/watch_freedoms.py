"""Where two watchers may have seen a field take different ways, and how far.

Counters take different ways to the same end while pods start in parallel. But not any:
between equal ends, a ReplicaSet's counts only rise or only fall, and a Deployment's
stay between what `maxUnavailable` leaves and what `maxSurge` allows. An endpoint may
have been written down before it was ready, or only then. A container's start may have
been tried twice. Everything else runs through the same values.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.compare.accidents import RETRIED_START, START_FAILED
from lifecycle.compare.masked import ABSENT
from lifecycle.compare.rollouts import STEPS, Limits

EARLY = "endpoints written down before they were ready"
COUNTS = "counts while pods come and go"
TRIGGERS = "updates that ready pods led to"
WAYS = (EARLY, STEPS, COUNTS, TRIGGERS, RETRIED_START)

ARRIVALS = "#arrivals"
"""Counted beside a Service's fields: the endpoints that came, each with a ready pod."""

Values = dict[str, list[str]]
"""`segment:path` → the distinct values that a field had there, in order, as JSON."""

_COUNTERS = re.compile(
    r"/status/(replicas|(available|ready|unavailable|terminating|updated"
    r"|fullyLabeled)Replicas)"
)
_GENERATIONS = ("/metadata/generation", "/status/observedGeneration")
_TRIGGER_TIME = "/endpoints.kubernetes.io/last-change-trigger-time"
_OF_A_START = re.compile(
    r"/status/containerStatuses/[^/]+/(lastState|state/waiting|restartCount)(/.*)?"
)
_UNREADY = {
    "Endpoints": {"/state": '"notReadyAddresses"'},
    "EndpointSlice": {
        "/endpoint/conditions/ready": "false",
        "/endpoint/conditions/serving": "false",
    },
}
"""What an endpoint says of itself as long as its pod is not ready."""


@dataclass(slots=True, frozen=True)
class Ways:
    """A field's values in one segment, ours and theirs; `lives` are all the values of
    the two objects. `lawful`: every rollout of both sides kept to its arithmetic.
    """

    ours: Sequence[str]
    theirs: Sequence[str]
    segment: str
    lives: tuple[Values, Values]
    lawful: bool = False

    @property
    def same_ends(self) -> bool:
        """Whether both begin alike and end alike."""
        return self.ours[0] == self.theirs[0] and self.ours[-1] == self.theirs[-1]

    @property
    def folded(self) -> bool:
        """Whether one only left out some of the other's values."""
        return _is_subsequence(self.ours, self.theirs) or _is_subsequence(
            self.theirs, self.ours
        )

    def limits(self) -> tuple[Limits, Limits]:
        """What the two Deployments' specs allowed."""
        return _limits(self.lives[0], self.segment), _limits(
            self.lives[1], self.segment
        )


def freedom(kind: str, path: str, ways: Ways) -> str | None:
    """The freedom that lets two sequences differ; None if nothing does."""
    if kind in _UNREADY and path in _UNREADY[kind]:
        early = [_UNREADY[kind][path], *ways.ours], [_UNREADY[kind][path], *ways.theirs]
        return EARLY if early[0] == ways.theirs or early[1] == ways.ours else None
    if kind in _UNREADY and path.endswith(_TRIGGER_TIME) and ways.same_ends:
        return TRIGGERS if all(map(_triggered, _sides(ways))) else None
    if kind == "Pod" and _OF_A_START.fullmatch(path):
        retried = any(map(_failed_start, ways.lives))
        return RETRIED_START if retried and ways.folded else None
    if kind == "ReplicaSet" and path in _GENERATIONS:
        return STEPS if ways.lawful and _rising(ways) else None
    if kind == "ReplicaSet" and ways.same_ends:
        return _of_a_replica_set(path, ways)
    if kind == "Deployment" and ways.same_ends and _COUNTERS.fullmatch(path):
        return COUNTS if _within_limits(path, ways) else None
    return None


def _sides(ways: Ways) -> list[tuple[Sequence[str], int]]:
    """Each side's values, and how many endpoints came."""
    return [
        (values, int(life.get(f"{ways.segment}:{ARRIVALS}", ["0"])[0]))
        for values, life in zip((ways.ours, ways.theirs), ways.lives, strict=True)
    ]


def _triggered(side: tuple[Sequence[str], int]) -> bool:
    """Between updates that a pod's readiness led to, there may be others, which have no
    time; of the former there are not more than pods that became ready, and one if any
    did.
    """
    values, arrivals = side
    came = sum(value != ABSENT for value in values[1:])
    by_turns = len(set(values)) <= 2 and ABSENT in values
    return by_turns and min(arrivals, 1) <= came <= arrivals


def _rising(ways: Ways) -> bool:
    return all(
        all(a < b for a, b in itertools.pairwise(_numbers(values)))
        for values in (ways.ours, ways.theirs)
    )


def _of_a_replica_set(path: str, ways: Ways) -> str | None:
    if path == "/status/terminatingReplicas":
        sides = zip((ways.ours, ways.theirs), ways.lives, strict=True)
        bounded = all(
            max(_numbers(values)) <= max(_numbers(_specs(life, ways.segment)))
            for values, life in sides
        )
        return COUNTS if bounded else None
    if path == "/spec/replicas" or _COUNTERS.fullmatch(path):
        one_way = _monotone(ways.ours) and _monotone(ways.theirs)
        return STEPS if one_way else None
    return None


def _within_limits(path: str, ways: Ways) -> bool:
    """Counts of a Deployment are sums over its ReplicaSets' statuses, of which one may
    be a step behind another: a step is at most what surge and unavailable make
    together.
    """
    for values, limits in zip((ways.ours, ways.theirs), ways.limits(), strict=True):
        numbers = _numbers(values)
        step = limits.at_most - limits.at_least
        least = 0
        held_up = path in (
            "/status/replicas",
            "/status/availableReplicas",
            "/status/readyReplicas",
        )
        if held_up and numbers[0] >= limits.at_least:
            least = limits.at_least
        if min(numbers) < least or max(numbers) > limits.at_most + step:
            return False
    return True


def _limits(life: Values, segment: str) -> Limits:
    surge, unavailable = (
        json.loads(carried(life, f"{segment}:/spec/strategy/rollingUpdate/{name}")[-1])
        for name in ("maxSurge", "maxUnavailable")
    )
    return Limits.of(
        {
            "replicas": max(_numbers(carried(life, f"{segment}:/spec/replicas"))),
            "strategy": {
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}
            },
        }
    )


def _specs(life: Values, segment: str) -> list[str]:
    return carried(life, f"{segment}:/spec/replicas")


def _failed_start(life: Values) -> bool:
    return any(
        START_FAILED.search(value)
        for where, values in life.items()
        if where.endswith("/message")
        for value in values
    )


def _numbers(values: Sequence[str]) -> list[int]:
    return [0 if value == ABSENT else int(json.loads(value)) for value in values]


def _monotone(values: Sequence[str]) -> bool:
    pairs = list(itertools.pairwise(_numbers(values)))
    return all(a <= b for a, b in pairs) or all(a >= b for a, b in pairs)


def carried(values: Values, where: str) -> list[str]:
    """The values in a segment; untouched there, the value carried over from the segment
    before.
    """
    if where in values:
        return values[where]
    segment, _, path = where.partition(":")
    for before in range(int(segment) - 1, -1, -1):
        if f"{before}:{path}" in values:
            return values[f"{before}:{path}"][-1:]
    return [ABSENT]


def _is_subsequence(short: Sequence[str], long: Sequence[str]) -> bool:
    rest = iter(long)
    return all(value in rest for value in short)
