"""How many replicas a measurement asks for.

The rule is simple: so many times as many pods as the usage is above its target. The
care goes into what has not been measured. Pods that are not ready yet, or tell nothing,
are first left out; then counted as if they would speak against the change: idle when it
would be more pods, fully used when it would be fewer. If that turns the change around,
nothing changes at all.

Upstream: `pkg/controller/podautoscaler/replica_calculator.go` (`ReplicaCalculator`),
`metrics/utilization.go`, v1.36. Left out: overflow of 64-bit sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.quantity import parse_quantity
from lifecycle.controllers.pod_readiness import is_pod_ready, pod_phase
from lifecycle.controllers.podautoscaler.metrics_client import MetricsError, PodMetric

CPU_INITIALIZATION_PERIOD = 300.0
"""Seconds after a pod's start in which its CPU counts only while it is ready: starting
is no load.
"""
INITIAL_READINESS_DELAY = 30.0
MAX_REPLICAS = 2**31 - 1


class Tolerances(NamedTuple):
    """How far from the target nothing is done."""

    scale_down: float = 0.1
    scale_up: float = 0.1

    def is_within(self, ratio: float) -> bool:
        """Whether a usage is near enough to its target."""
        return 1.0 - self.scale_down <= ratio <= 1.0 + self.scale_up


class Proposal(NamedTuple):
    """A number of replicas, what was measured (thousandths), and the same as percentage
    of requests where there is a request.
    """

    replicas: int
    usage: int
    utilization: int | None = None


@dataclass(slots=True)
class PodGroups:
    """Names of pods by what their measurement is worth."""

    ready: int = 0
    unready: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)


def group_pods(
    pods: list[Object], metrics: Mapping[str, PodMetric], resource: str, now: float
) -> PodGroups:
    """Pods on their way out are ignored; CPU of pods that have not come up yet does not
    count.
    """
    groups = PodGroups()
    for pod in pods:
        name = pod["metadata"]["name"]
        if "deletionTimestamp" in pod["metadata"] or pod_phase(pod) == "Failed":
            groups.ignored.add(name)
        elif pod_phase(pod) == "Pending":
            groups.unready.add(name)
        elif name not in metrics:
            groups.missing.add(name)
        elif resource == "cpu" and _is_unready(pod, metrics[name], now):
            groups.unready.add(name)
        else:
            groups.ready += 1
    return groups


def _is_unready(pod: Object, metric: PodMetric, now: float) -> bool:
    condition, start = (
        get_condition(pod, "Ready"),
        (pod.get("status") or {}).get("startTime"),
    )
    if condition is None or not start:
        return True
    started, changed = parse_time(start), parse_time(condition["lastTransitionTime"])
    if started + CPU_INITIALIZATION_PERIOD > now:
        return bool(
            condition["status"] == "False" or metric.timestamp < changed + metric.window
        )
    return bool(
        condition["status"] == "False" and started + INITIAL_READINESS_DELAY > changed
    )


def calculate_requests(
    pods: list[Object], container: str, resource: str
) -> dict[str, int]:
    """What each pod requests: for itself, or all its containers together, or the one
    named. Raises MetricsError.
    """
    return {pod["metadata"]["name"]: _request(pod, container, resource) for pod in pods}


def _request(pod: Object, container: str, resource: str) -> int:
    name, spec = pod["metadata"]["name"], pod["spec"]
    whole = (spec.get("resources") or {}).get("requests")
    if whole and not container:
        if resource not in whole:
            raise MetricsError(
                f"missing pod-level request for {resource} in Pod {name}"
            )
        return parse_quantity(whole[resource]).milli()
    sidecars = [
        c
        for c in spec.get("initContainers") or ()
        if c.get("restartPolicy") == "Always"
    ]
    requests = [
        c for c in (*spec["containers"], *sidecars) if container in ("", c["name"])
    ]
    if not requests:
        raise MetricsError(f"container {container} not found in Pod {name}")
    total = 0
    for each in requests:
        request = ((each.get("resources") or {}).get("requests") or {}).get(resource)
        if request is None:
            raise MetricsError(
                f"missing request for {resource} in container {each['name']} of Pod"
                f" {name}"
            )
        total += parse_quantity(request).milli()
    return total


def utilization(
    metrics: Mapping[str, PodMetric], requests: Mapping[str, int], target: int
) -> tuple[float, int, int]:
    """Ratio to the target, percentage of the requests, average usage. Raises
    MetricsError.
    """
    known = [name for name in metrics if name in requests]
    used, requested = (
        sum(metrics[name].value for name in known),
        sum(requests[name] for name in known),
    )
    if requested == 0:
        raise MetricsError("no metrics returned matched known pods")
    percentage = used * 100 // requested
    return percentage / target, percentage, used // len(known)


def _average(metrics: Mapping[str, PodMetric]) -> int:
    return sum(metric.value for metric in metrics.values()) // len(metrics)


class ReplicaCalculator:
    """The arithmetic, for one moment and one target's pods."""

    def __init__(
        self, pods: list[Object], current: int, tolerances: Tolerances, clock: Clock
    ) -> None:
        self._pods, self._current, self._tolerances, self._clock = (
            pods,
            current,
            tolerances,
            clock,
        )

    def resource_replicas(
        self,
        metrics: dict[str, PodMetric],
        target: int,
        resource: str,
        container: str = "",
    ) -> Proposal:
        """For a percentage of what the pods request. Raises MetricsError. Upstream:
        `GetResourceReplicas`.
        """
        groups = self._group_pods(metrics, resource)
        requests = calculate_requests(self._pods, container, resource)
        _, percentage, usage = utilization(metrics, requests, target)
        replicas = self._replicas(
            groups,
            metrics,
            lambda measured: utilization(measured, requests, target)[0],
            lambda pod: requests[pod] * max(100, target) // 100,
        )
        return Proposal(replicas, usage, percentage)

    def plain_replicas(
        self, metrics: dict[str, PodMetric], target: int, resource: str = ""
    ) -> Proposal:
        """For an average value per pod. Raises MetricsError. Upstream:
        `calcPlainMetricReplicas`.
        """
        groups = self._group_pods(metrics, resource)
        usage = _average(metrics)
        replicas = self._replicas(
            groups,
            metrics,
            lambda measured: _average(measured) / target,
            lambda pod: target,
        )
        return Proposal(replicas, usage)

    def value_replicas(self, usage: int, target: int) -> Proposal:
        """For one value that all pods bring about together. Raises MetricsError.
        Upstream: `getUsageRatioReplicaCount`.
        """
        ratio = usage / target
        if self._current == 0:  # from nothing there is only the value to go by
            return Proposal(math.ceil(ratio), usage)
        if self._tolerances.is_within(ratio):
            return Proposal(self._current, usage)
        if not self._pods:
            raise MetricsError(
                "unable to calculate ready pods: no pods returned by selector while"
                " calculating replica count"
            )
        ready = sum(
            1 for pod in self._pods if pod_phase(pod) == "Running" and is_pod_ready(pod)
        )
        return Proposal(min(math.ceil(ratio * ready), MAX_REPLICAS), usage)

    def per_pod_replicas(
        self, usage: int, target: int, status_replicas: int
    ) -> Proposal:
        """For one value that is shared among the pods. Upstream:
        `GetExternalPerPodMetricReplicas`.
        """
        replicas = status_replicas
        ratio = usage / (target * replicas) if replicas else math.inf
        if not self._tolerances.is_within(ratio):
            replicas = min(math.ceil(usage / target), MAX_REPLICAS)
        return Proposal(
            replicas, math.ceil(usage / status_replicas) if status_replicas else usage
        )

    def _group_pods(self, metrics: dict[str, PodMetric], resource: str) -> PodGroups:
        """Group the pods, and take out of the metrics what does not count. Raises
        MetricsError.
        """
        if not self._pods:
            raise MetricsError(
                "no pods returned by selector while calculating replica count"
            )
        groups = group_pods(self._pods, metrics, resource, self._clock.now())
        for name in (*groups.ignored, *groups.unready):
            metrics.pop(name, None)
        if not metrics:
            raise MetricsError(
                "did not receive metrics for targeted pods (pods might be unready)"
            )
        return groups

    def _replicas(
        self,
        groups: PodGroups,
        metrics: dict[str, PodMetric],
        ratio_of: Callable[[Mapping[str, PodMetric]], float],
        fully_used: Callable[[str], int],
    ) -> int:
        ratio = ratio_of(metrics)
        more_with_unready = bool(groups.unready) and ratio > 1.0
        if not more_with_unready and not groups.missing:
            return (
                self._current
                if self._tolerances.is_within(ratio)
                else math.ceil(ratio * groups.ready)
            )
        for name in groups.missing:
            if ratio != 1.0:
                metrics[name] = PodMetric(fully_used(name) if ratio < 1.0 else 0)
        if more_with_unready:
            metrics.update(dict.fromkeys(groups.unready, PodMetric(0)))
        new_ratio = ratio_of(metrics)
        turned = ratio < 1.0 < new_ratio or new_ratio < 1.0 < ratio
        if self._tolerances.is_within(new_ratio) or turned:
            return self._current
        replicas = math.ceil(new_ratio * len(metrics))
        wrong_way = (new_ratio < 1.0 and replicas > self._current) or (
            new_ratio > 1.0 and replicas < self._current
        )
        return self._current if wrong_way else replicas
