"""Metrics: how many requests of which kind, and how long they took.

Counted where a request is served, innermost, so refusals further out are not among
them. Nor is what nothing here serves: a path, a resource or a method that there is not,
of which a client may think up any number. A watch counts when it begins and takes part
in no histogram of lengths: it is as long as its client wants.

Upstream: `apiserver/pkg/endpoints/metrics/metrics.go` (`InstrumentHandlerFunc`,
`MonitorRequest`, `CleanScope`, `CanonicalVerb`), v1.36. Left out: sizes, watches that
are open, the SLI histograms.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from lifecycle.api.http.wire import Handler, Request, RequestInfo, Response
from lifecycle.api.resources import find_resource
from lifecycle.apiserver.audit.context import annotate_at_end
from lifecycle.apiserver.filters.request_info import is_long_running
from lifecycle.apiserver.registry.strategies import strategy_for

BUCKETS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10,
    15, 20, 30, 45, 60
)  # fmt: skip
"""Upper bounds in seconds."""
CANONICAL = {
    "create": "POST",
    "get": "GET",
    "list": "LIST",
    "watch": "WATCH",
    "update": "PUT",
    "patch": "PATCH",
    "apply": "APPLY",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
}
READ_ONLY = frozenset({"get", "list", "watch", "head"})


class Histogram:
    """Counts by bucket, sum and number."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """One more."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.sum += seconds

    def add(self, other: Histogram) -> None:
        """All of another's."""
        self.counts = [
            mine + theirs
            for mine, theirs in zip(self.counts, other.counts, strict=True)
        ]
        self.sum += other.sum


def clean_scope(info: RequestInfo) -> str:
    """`resource`, `namespace` or `cluster`: how much of the cluster a request is
    about.
    """
    if info.name:
        return "resource"
    if info.namespace:
        return "namespace"
    return "cluster" if info.is_resource_request else ""


class Kind:
    """Requests with the same labels: how often which code, and how long."""

    __slots__ = ("codes", "deprecated", "durations", "key", "labels", "lasting", "load")

    def __init__(
        self, key: tuple[object, ...], info: RequestInfo, dry_run: bool
    ) -> None:
        self.key = key
        resource = info.is_resource_request
        self.labels = (
            "All" if dry_run else "",
            info.group,
            info.resource if resource else "",
            clean_scope(info),
            (
                info.subresource
                if resource
                else info.path
                if info.path in _KNOWN_PATHS
                else ""
            ),
            CANONICAL.get(info.verb, info.verb.upper()),
            info.version,
        )
        self.codes: dict[int, int] = {}
        self.durations = Histogram()
        self.lasting = is_long_running(info)
        self.load = "readOnly" if info.verb in READ_ONLY else "mutating"
        row = find_resource(info.group, info.version, info.resource)
        self.deprecated = row is not None and bool(
            strategy_for(row.api_version, row.kind).deprecation
        )


class RequestMetrics:
    """The families about requests. Labels are worked out when somebody asks for them,
    not for each request.
    """

    def __init__(self) -> None:
        self.kinds: dict[tuple[object, ...], Kind] = {}
        self.in_flight = {"mutating": 0, "readOnly": 0}

    def kind(self, info: RequestInfo, dry_run: bool) -> Kind:
        """The drawer of a request; one that is not in use yet, if it is the first."""
        key = (
            info.verb,
            info.group,
            info.version,
            info.resource,
            info.subresource,
            not info.name,
            not info.namespace,
            dry_run,
            (
                ""
                if info.is_resource_request
                else info.path
                if info.path in _KNOWN_PATHS
                else "/"
            ),
        )
        return self.kinds.get(key) or Kind(key, info, dry_run)

    def served(self, kind: Kind, code: int) -> Kind:
        """One more of a kind has been served. Returns its drawer."""
        kind = self.kinds.setdefault(kind.key, kind)
        kind.codes[code] = kind.codes.get(code, 0) + 1
        return kind

    def lines(self) -> Iterator[str]:
        """The text of the families."""
        yield from head(
            "apiserver_request_total",
            "counter",
            "Requests answered, by verb, resource and code.",
        )
        total: Counter[tuple[tuple[str, ...], int]] = Counter()
        lengths: dict[tuple[str, ...], Histogram] = {}
        for kind in self.kinds.values():  # several may have the same labels
            for code, count in kind.codes.items():
                total[kind.labels, code] += count
            if not kind.lasting:
                lengths.setdefault(kind.labels, Histogram()).add(kind.durations)
        for (labels, code), count in sorted(total.items()):
            yield f'apiserver_request_total{{code="{code}",{_labels(labels)}}} {count}'
        name = "apiserver_request_duration_seconds"
        yield from head(name, "histogram", "Seconds until a request was answered.")
        for labels, histogram in sorted(lengths.items(), key=lambda item: item[0]):
            text, running = _labels(labels), 0
            for bound, count in zip((*BUCKETS, "+Inf"), histogram.counts, strict=True):
                running += count
                yield (
                    f"{name}_bucket{{{text},"
                    f'le="{bound if isinstance(bound, str) else format(bound, "g")}"}}'
                    f" {running}"
                )
            yield f"{name}_sum{{{text}}} {histogram.sum:.9g}"
            yield f"{name}_count{{{text}}} {running}"
        yield from head(
            "apiserver_current_inflight_requests", "gauge", "Requests being served now."
        )
        for name, count in sorted(self.in_flight.items()):
            yield (
                f'apiserver_current_inflight_requests{{request_kind="{name}"}} {count}'
            )


_KNOWN_PATHS = frozenset(
    {"/healthz", "/livez", "/readyz", "/version", "/metrics", "/apis", "/api"}
)
_LABELS = ("dry_run", "group", "resource", "scope", "subresource", "verb", "version")


def head(name: str, kind: str, about: str) -> Iterator[str]:
    """The two lines before a family."""
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _labels(values: tuple[str, ...]) -> str:
    return 'component="apiserver",' + ",".join(
        f'{name}="{value}"' for name, value in zip(_LABELS, values, strict=True)
    )


def _is_served(response: Response) -> bool:
    """A 404 that does not say of what is no object's."""
    if response.status != 404:
        return response.status != 405
    return bool((response.obj or {}).get("details"))


def with_metrics(handler: Handler, metrics: RequestMetrics | None) -> Handler:
    """Count and measure. Without metrics the handler stays as it is."""
    if metrics is None:
        return handler
    in_flight = metrics.in_flight

    async def measured(request: Request) -> Response:
        info = request.info
        assert info is not None, "request info comes first"
        kind = metrics.kind(info, "dryRun" in request.query)
        if kind.deprecated:
            annotate_at_end("k8s.io/deprecated", "true")
        seconds = 0.0
        if kind.lasting:
            response = await handler(request)
        else:
            in_flight[kind.load] += 1
            started = time.perf_counter()
            try:
                response = await handler(request)
            finally:
                in_flight[kind.load] -= 1
            seconds = time.perf_counter() - started
        if _is_served(response):
            kind = metrics.served(kind, response.status)
            if not kind.lasting:
                kind.durations.observe(seconds)
        return response

    return measured
