"""How long pods take to start: what the kubelet counts for Prometheus.

`kubelet_pod_worker_start_duration_seconds`: from the moment the kubelet first saw the
pod until its worker began. `kubelet_pod_start_duration_seconds`: until all its
containers run. `kubelet_pod_start_sli_duration_seconds`: from the pod's creation, less
what pulling images and init containers took; pods with volumes that hold state are not
in it. That is what the scalability promise is about.
`kubelet_pod_worker_duration_seconds`: each transaction, from the moment somebody asked
for it, by what was asked (`create`, `update`, `sync`, `kill`).

Upstream: `pkg/kubelet/kubelet.go` (`SyncPod`), `metrics/metrics.go`,
`util/pod_startup_latency_tracker.go` (`ObservedPodOnWatch`, `hasPodStartedSLO`,
`isStatefulPod`, `calculateImagePullingTime`), v1.36. There the clock stops when the
kubelet's own watch brings the running status back, here when it is written. Left out:
`kubelet_pod_start_total_duration_seconds`, which subtracts nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time

POD_WORKER_START = "kubelet_pod_worker_start_duration_seconds"
POD_WORKER = "kubelet_pod_worker_duration_seconds"
POD_START = "kubelet_pod_start_duration_seconds"
POD_START_SLI = "kubelet_pod_start_sli_duration_seconds"
START_BUCKETS = (
    0.5,
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    20,
    30,
    45,
    60,
    120,
    180,
    240,
    300,
    360,
    480,
    600,
    900,
    1200,
    1800,
    2700,
    3600,
)
"""Seconds, of the two `pod_start` histograms."""

DEFAULT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

STATELESS_VOLUMES = ("secret", "configMap", "downwardAPI", "emptyDir", "projected")
"""A pod that has any other volume is a stateful one, for the promise."""

HELP = {
    POD_WORKER_START: (
        "Duration in seconds from kubelet seeing a pod to starting a worker."
    ),
    POD_WORKER: (
        "Duration in seconds to sync a single pod. Broken down by operation type:"
        " create, update, or sync"
    ),
    POD_START: (
        "Duration in seconds from kubelet seeing a pod for the first time to the pod"
        " starting to run"
    ),
    POD_START_SLI: (
        "Duration in seconds to start a pod, excluding time to pull images and run init"
        " containers, measured from pod creation timestamp to when all its containers"
        " are reported as started and observed via watch"
    ),
}


class Histogram:
    """Counts of values by bucket, with sum and number: Prometheus' histogram."""

    __slots__ = ("_bounds", "_counts", "count", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.count = 0
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """One more."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.count += 1
        self.sum += value

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """Text as `/metrics` shows it: buckets hold all that is at most their bound."""
        total = 0
        for bound, count in zip(
            (*map(_number, self._bounds), "+Inf"), self._counts, strict=True
        ):
            total += count
            joined = ",".join(part for part in (labels, f'le="{bound}"') if part)
            yield f"{name}_bucket{{{joined}}} {total}"
        label_part = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{label_part} {self.sum:g}"
        yield f"{name}_count{label_part} {self.count}"


def has_pod_started(status: Object) -> bool:
    """Whether each container runs. Upstream: `hasPodStartedSLO`."""
    return all(
        (container["state"].get("running") or {}).get("startedAt")
        for container in status.get("containerStatuses") or ()
    )


def is_stateful(pod: Object) -> bool:
    """Whether a volume of the pod may hold state. Upstream: `isStatefulPod`."""
    return any(
        not any(volume.get(kind) is not None for kind in STATELESS_VOLUMES)
        for volume in pod["spec"].get("volumes") or ()
    )


def covered(times: Iterable[tuple[float, float]]) -> float:
    """How long any of the times lasted; where they overlap they count once. Upstream:
    `calculateImagePullingTime`.
    """
    total, until = 0.0, float("-inf")
    for begin, end in sorted(times):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def init_container_runtime(status: Object) -> float:
    """How long the init containers that have ended ran, one after the other."""
    ended = (
        container["state"].get("terminated") or {}
        for container in status.get("initContainerStatuses") or ()
    )
    return sum(
        max(0.0, parse_time(one["finishedAt"]) - parse_time(one["startedAt"]))
        for one in ended
        if one.get("startedAt") and one.get("finishedAt")
    )


def _number(value: float) -> str:
    return f"{value:g}"


class StartupMetrics:
    """One node's. Times are seconds of the clock."""

    def __init__(self) -> None:
        self._histograms: dict[tuple[str, str], Histogram] = {}
        self._first_seen: dict[str, float] = {}
        self._pulls: dict[str, list[tuple[float, float]]] = {}
        self._observed: set[str] = set()

    def histogram(self, name: str, operation: str = "") -> Histogram:
        """Made when first asked for."""
        bounds = (
            START_BUCKETS if name in (POD_START, POD_START_SLI) else DEFAULT_BUCKETS
        )
        return self._histograms.setdefault((name, operation), Histogram(bounds))

    def first_seen(self, uid: str, now: float) -> None:
        """The pod came in from its source."""
        self._first_seen.setdefault(uid, now)

    def worker_started(self, uid: str, now: float) -> None:
        """Its first transaction begins."""
        if uid in self._first_seen:
            self.histogram(POD_WORKER_START).observe(now - self._first_seen[uid])

    def transaction(self, operation: str, seconds: float) -> None:
        """A transaction ended. Upstream: `SyncPodType.String`."""
        self.histogram(POD_WORKER, operation).observe(seconds)

    def pulling(self, uid: str, begin: float, end: float) -> None:
        """An image was pulled."""
        self._pulls.setdefault(uid, []).append((begin, end))

    def running(self, pod: Object, status: Object, now: float) -> None:
        """A status is to be written. The first in which all containers run counts."""
        uid = pod["metadata"]["uid"]
        if uid not in self._first_seen or uid in self._observed:
            return
        if not has_pod_started(status):
            return
        self._observed.add(uid)
        self.histogram(POD_START).observe(now - self._first_seen[uid])
        if is_stateful(pod):
            return
        created = pod["metadata"].get("creationTimestamp")
        whole = now - (parse_time(created) if created else self._first_seen[uid])
        apart = covered(self._pulls.get(uid, ())) + init_container_runtime(status)
        self.histogram(POD_START_SLI).observe(max(whole - apart, 0.0))

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._first_seen.pop(uid, None)
        self._pulls.pop(uid, None)
        self._observed.discard(uid)

    def counts(self) -> Mapping[str, int]:
        """How many observations each histogram has, all operations together."""
        totals: dict[str, int] = {}
        for (name, _), histogram in self._histograms.items():
            totals[name] = totals.get(name, 0) + histogram.count
        return totals

    def text(self) -> str:
        """The `/metrics` page's part about this."""
        lines: list[str] = []
        for name in (POD_START, POD_START_SLI, POD_WORKER, POD_WORKER_START):
            entries = [
                (op, h)
                for (known, op), h in sorted(self._histograms.items())
                if known == name
            ]
            if entries:
                lines += [
                    f"# HELP {name} [ALPHA] {HELP[name]}",
                    f"# TYPE {name} histogram",
                ]
            for operation, histogram in entries:
                lines += histogram.lines(
                    name, f'operation_type="{operation}"' if operation else ""
                )
        return "".join(f"{line}\n" for line in lines)
