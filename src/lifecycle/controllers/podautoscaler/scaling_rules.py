"""From what the metrics ask for to what is done: steadied, and not too much at once.

A recommendation is *stabilized*: of those of the last while, scaling down takes the
highest (five minutes, unless the behavior says otherwise), scaling up the lowest (at
once, unless the behavior says otherwise). Then it is *limited*: by the autoscaler's
bounds, and by how much may change within a period. Without a behavior the only limit
is: at most double, or four.

Upstream: `pkg/controller/podautoscaler/horizontal.go` (`normalizeDesiredReplicas`,
`normalizeDesiredReplicasWithBehaviors`, `storeScaleEvent`), v1.36.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lifecycle.api.http.wire import Object

DOWNSCALE_STABILIZATION_WINDOW = 300.0
SCALE_UP_LIMIT_FACTOR, SCALE_UP_LIMIT_MINIMUM = 2, 4

Sample = tuple[int, float]
"""A number and when it was noted."""

_FASTER = "the desired replica count is {}creasing faster than the maximum scale rate"
_TOO_MANY = (
    "TooManyReplicas",
    "the desired replica count is more than the maximum replica count",
)
_TOO_FEW = (
    "TooFewReplicas",
    "the desired replica count is less than the minimum replica count",
)
_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_STEADIED_UP = (
    "ScaleUpStabilized",
    (
        "recent recommendations were lower than current one, applying the lowest recent"
        " recommendation"
    ),
)
_STEADIED_DOWN = (
    "ScaleDownStabilized",
    (
        "recent recommendations were higher than current one, applying the highest"
        " recent recommendation"
    ),
)
_READY = ("ReadyForNewScale", "recommended size matches current size")


@dataclass(slots=True)
class ScaleHistory:
    """What an autoscaler remembers: unsteadied recommendations, and what was added and
    taken away.
    """

    recommendations: list[Sample] = field(default_factory=list)
    ups: list[Sample] = field(default_factory=list)
    downs: list[Sample] = field(default_factory=list)

    def store_scale_event(
        self, behavior: Object | None, before: int, after: int, now: float
    ) -> None:
        """Note a change, for the limits of a behavior. Upstream: `storeScaleEvent`."""
        if behavior is None:
            return
        events, rules = (
            (self.ups, behavior["scaleUp"])
            if after > before
            else (self.downs, behavior["scaleDown"])
        )
        longest = max(
            (policy["periodSeconds"] for policy in rules.get("policies") or ()),
            default=0,
        )
        _note(events, (abs(after - before), now), lambda at: at < now - longest)


class Normalized(NamedTuple):
    """What to do, and reason and message of the conditions AbleToScale (always true)
    and ScalingLimited.
    """

    replicas: int
    able: tuple[str, str]
    limited: bool
    limit: tuple[str, str]


class Bounds(NamedTuple):
    """The autoscaler's own bounds, and where it stands."""

    current: int
    minimum: int
    maximum: int


def normalize(
    history: ScaleHistory,
    behavior: Object | None,
    bounds: Bounds,
    desired: int,
    now: float,
) -> Normalized:
    """Steady and limit what the metrics ask for, and remember it."""
    if behavior is None:
        steadied, able = _stabilize(history, desired, now), _STEADIED_DOWN
        replicas, limit = _limit(bounds, steadied)
    else:
        steadied = _stabilize_with_behaviors(
            history, behavior, bounds.current, desired, now
        )
        able = _STEADIED_UP if desired >= bounds.current else _STEADIED_DOWN
        replicas, limit = _limit_with_behaviors(
            history, behavior, bounds, steadied, now
        )
    return Normalized(
        replicas, able if steadied != desired else _READY, replicas != steadied, limit
    )


def _note(samples: list[Sample], new: Sample, is_old: Callable[[float], bool]) -> None:
    """Keep a sample, in the place of one that nobody asks for any more if there is
    one.
    """
    old = [index for index, (_, at) in enumerate(samples) if is_old(at)]
    if old:
        samples[old[-1]] = new
    else:
        samples.append(new)


def _stabilize(history: ScaleHistory, desired: int, now: float) -> int:
    cutoff = now - DOWNSCALE_STABILIZATION_WINDOW
    highest = max(
        [desired, *(value for value, at in history.recommendations if at >= cutoff)]
    )
    _note(history.recommendations, (desired, now), lambda at: at < cutoff)
    return highest


def _stabilize_with_behaviors(
    history: ScaleHistory, behavior: Object, current: int, desired: int, now: float
) -> int:
    """As little as possible: the current number, brought between the lowest and the
    highest recent recommendation.
    """
    up_window = behavior["scaleUp"].get("stabilizationWindowSeconds") or 0
    down_window = behavior["scaleDown"].get("stabilizationWindowSeconds")
    up = now - up_window
    down = now - (
        DOWNSCALE_STABILIZATION_WINDOW if down_window is None else down_window
    )
    lowest = min(
        [desired, *(value for value, at in history.recommendations if at > up)]
    )
    highest = max(
        [desired, *(value for value, at in history.recommendations if at > down)]
    )
    _note(history.recommendations, (desired, now), lambda at: at < up and at < down)
    return min(max(current, lowest), highest)


def _limit(bounds: Bounds, desired: int) -> tuple[int, tuple[str, str]]:
    """Upstream: `convertDesiredReplicasWithRules`."""
    fastest = max(SCALE_UP_LIMIT_FACTOR * bounds.current, SCALE_UP_LIMIT_MINIMUM)
    if desired < bounds.minimum:
        return bounds.minimum, _TOO_FEW
    if desired > min(bounds.maximum, fastest):
        if bounds.maximum > fastest:
            return fastest, ("ScaleUpLimit", _FASTER.format("in"))
        return bounds.maximum, _TOO_MANY
    return desired, _WITHIN


def _limit_with_behaviors(
    history: ScaleHistory, behavior: Object, bounds: Bounds, desired: int, now: float
) -> tuple[int, tuple[str, str]]:
    """Upstream: `convertDesiredReplicasWithBehaviorRate`."""
    current = bounds.current
    if desired > current:
        fastest = max(
            current, _scale_up_limit(history, behavior["scaleUp"], current, now)
        )
        if desired > min(bounds.maximum, fastest):
            if bounds.maximum > fastest:
                return fastest, ("ScaleUpLimit", _FASTER.format("in"))
            return bounds.maximum, _TOO_MANY
    elif desired < current:
        fastest = min(
            current, _scale_down_limit(history, behavior["scaleDown"], current, now)
        )
        if desired < max(bounds.minimum, fastest):
            if bounds.minimum < fastest:
                return fastest, ("ScaleDownLimit", _FASTER.format("de"))
            return bounds.minimum, _TOO_FEW
    return desired, _WITHIN


def _changed_within(samples: Iterable[Sample], seconds: float, now: float) -> int:
    return sum(value for value, at in samples if at > now - seconds)


def _at_period_start(
    history: ScaleHistory, policy: Object, current: int, now: float
) -> int:
    period = policy["periodSeconds"]
    return (
        current
        - _changed_within(history.ups, period, now)
        + _changed_within(history.downs, period, now)
    )


def _scale_up_limit(
    history: ScaleHistory, rules: Object, current: int, now: float
) -> int:
    """The most replicas that the policies allow; the least if the policy is Min.
    Upstream: `calculateScaleUpLimitWithScalingRules`.
    """
    if rules.get("selectPolicy") == "Disabled":
        return current
    limits = []
    for policy in rules.get("policies") or ():
        start = _at_period_start(history, policy, current, now)
        if policy["type"] == "Pods":
            limits.append(start + policy["value"])
        else:  # rounded up: otherwise one pod could never become two
            limits.append(math.ceil(start * (1 + policy["value"] / 100)))
    return (min if rules.get("selectPolicy") == "Min" else max)(limits, default=current)


def _scale_down_limit(
    history: ScaleHistory, rules: Object, current: int, now: float
) -> int:
    """The fewest replicas that the policies allow; the most if the policy is Min.
    Upstream: `calculateScaleDownLimitWithBehaviors`.
    """
    if rules.get("selectPolicy") == "Disabled":
        return current
    limits = []
    for policy in rules.get("policies") or ():
        start = _at_period_start(history, policy, current, now)
        if policy["type"] == "Pods":
            limits.append(start - policy["value"])
        else:
            limits.append(int(start * (1 - policy["value"] / 100)))
    return (max if rules.get("selectPolicy") == "Min" else min)(limits, default=current)
