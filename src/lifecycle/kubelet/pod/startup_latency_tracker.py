"""How long pods take to start: what the kubelet counts for Prometheus.

`kubelet_pod_worker_start_duration_seconds`: from the moment the kubelet first saw the
pod until its worker began. `kubelet_pod_start_duration_seconds`: until all its
containers run. `kubelet_pod_start_sli_duration_seconds`: from the pod's creation, less
what pulling images took, which is what the scalability promise is about.
`kubelet_pod_worker_duration_seconds`: each transaction, by kind (`create`, `update`,
`sync`, `terminate`).

Upstream: `pkg/kubelet/kubelet.go` (`SyncPod`), `metrics/metrics.go`,
`util/pod_startup_latency_tracker.go`, v1.36. Left out: start-up of stateful pods apart,
the image pulls of the `_total_` variant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

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


def _number(value: float) -> str:
    return f"{value:g}"


class StartupMetrics:
    """One node's. Times are seconds of the clock."""

    def __init__(self) -> None:
        self._histograms: dict[tuple[str, str], Histogram] = {}
        self._first_seen: dict[str, float] = {}
        self._pulling: dict[str, tuple[float, float]] = {}
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
        """A transaction ended."""
        self.histogram(POD_WORKER, operation).observe(seconds)

    def pulling(self, uid: str, begin: float, end: float) -> None:
        """An image was pulled; pulls that overlap count once, from the first to the
        last.
        """
        known = self._pulling.get(uid)
        self._pulling[uid] = (
            (min(begin, known[0]), max(end, known[1])) if known else (begin, end)
        )

    def running(self, uid: str, created: float, now: float) -> None:
        """All its containers run; only the first time counts."""
        if uid not in self._first_seen or uid in self._observed:
            return
        self._observed.add(uid)
        self.histogram(POD_START).observe(now - self._first_seen[uid])
        begin, end = self._pulling.get(uid, (0.0, 0.0))
        self.histogram(POD_START_SLI).observe(max(now - created - (end - begin), 0.0))

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._first_seen.pop(uid, None)
        self._pulling.pop(uid, None)
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
