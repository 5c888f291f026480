"""`/metrics`: what a monitor reads from the server, in Prometheus' text form.

The families that say how a server is: requests and their lengths, flow control's seats
and queues, objects of each resource, what its watch caches do, which added servers are
away.

Upstream: `apiserver/pkg/endpoints/metrics`, `pkg/util/flowcontrol/metrics`,
`kube-aggregator/pkg/controllers/status/metrics`, `apiserver/pkg/storage/etcd3/metrics`,
`apiserver/pkg/storage/cacher/metrics`, v1.36. Left out: the hundreds of other families.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from lifecycle.api.http.wire import Response
from lifecycle.apiserver.filters.metrics import RequestMetrics, head
from lifecycle.apiserver.filters.priority_and_fairness import FlowController
from lifecycle.apiserver.non_resource.watch_cache_metrics import watch_cache_lines
from lifecycle.apiserver.storage.cacher.cacher import Cacher

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"


class Metrics:
    """What the families are made of. `cachers`: by group and plural. `api_services`
    names the APIServices of added servers, and says of each whether it is available.
    """

    def __init__(
        self,
        requests: RequestMetrics,
        flow_control: FlowController | None,
        cachers: Mapping[tuple[str, str], Cacher],
        api_services: Callable[[], Iterable[tuple[str, bool]]],
    ) -> None:
        self.requests = requests
        self._flow_control = flow_control
        self._cachers = cachers
        self._api_services = api_services

    def serve(self) -> Response:
        """All of it."""
        text = "\n".join(self._lines()) + "\n"
        return Response(headers={"Content-Type": CONTENT_TYPE}, body=text.encode())

    def _lines(self) -> Iterator[str]:
        yield from self.requests.lines()
        if self._flow_control is not None:
            yield from flow_control_lines(self._flow_control)
        yield from head("apiserver_resource_objects", "gauge", "Objects in the store.")
        for (group, resource), cacher in sorted(self._cachers.items()):
            yield (
                f'apiserver_resource_objects{{group="{group}",resource="{resource}"}}'
                f" {len(cacher)}"
            )
        yield from watch_cache_lines(self._cachers)
        yield from head(
            "aggregator_unavailable_apiservice",
            "gauge",
            "Whether an APIService is unavailable.",
        )
        for name, available in self._api_services():
            yield (
                f'aggregator_unavailable_apiservice{{name="{name}"}}'
                f" {int(not available)}"
            )


def flow_control_lines(flow_control: FlowController) -> Iterator[str]:
    """Seats, queues and what became of requests, by level."""
    levels = [flow_control.levels[name] for name in sorted(flow_control.levels)]
    families: tuple[tuple[str, str, str, Callable[..., int]], ...] = (
        (
            "nominal_limit_seats",
            "gauge",
            "Seats that a level owns.",
            lambda level: level.nominal,
        ),
        (
            "lower_limit_seats",
            "gauge",
            "Seats that a level never lends.",
            lambda level: level.least,
        ),
        (
            "upper_limit_seats",
            "gauge",
            "Seats that a level may have by borrowing.",
            lambda level: level.most,
        ),
        (
            "current_limit_seats",
            "gauge",
            "Seats that a level has now.",
            lambda level: level.seats,
        ),
        (
            "current_executing_seats",
            "gauge",
            "Seats taken now.",
            lambda level: level.executing,
        ),
        (
            "current_inqueue_requests",
            "gauge",
            "Requests that wait now.",
            lambda level: level.waiting,
        ),
        (
            "dispatched_requests_total",
            "counter",
            "Requests that were let in.",
            lambda level: level.dispatched,
        ),
    )
    for name, kind, about, value in families:
        yield from head(f"apiserver_flowcontrol_{name}", kind, about)
        for level in levels:
            yield (
                f'apiserver_flowcontrol_{name}{{priority_level="{level.name}"}}'
                f" {value(level)}"
            )
    name = "apiserver_flowcontrol_rejected_requests_total"
    yield from head(name, "counter", "Requests that were turned away, and why.")
    for level in levels:
        for reason, count in (
            ("queue-full", level.rejected),
            ("time-out", level.timed_out),
            ("cancelled", level.cancelled),
        ):
            if count:
                yield (
                    f'{name}{{priority_level="{level.name}",reason="{reason}"}} {count}'
                )
