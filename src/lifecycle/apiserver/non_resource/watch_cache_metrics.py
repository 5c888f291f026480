"""What the watch caches have heard, said and answered, for `/metrics`.

Who runs a server reads here whether a burst of changes comes from the store
(`events_received`), how many clients each of them goes to (`watch_events`), who watches
now (`longrunning_requests`), and how many lists were as fresh as the store without
being read from it (`consistent_read`).

Upstream: `apiserver/pkg/storage/cacher/metrics/metrics.go` (`EventsReceivedCounter`,
`ConsistentReadTotal`), `apiserver/pkg/endpoints/metrics/metrics.go` (`WatchEvents`,
`longRunningRequestsGauge`), v1.36. Left out: requests that last and are no watches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from lifecycle.apiserver.filters.metrics import head
from lifecycle.apiserver.storage.cacher.cache_watcher import Criteria
from lifecycle.apiserver.storage.cacher.cacher import Cacher

LONG_RUNNING = "apiserver_longrunning_requests"

Labels = Callable[[Cacher], tuple[str, ...]]
COUNTERS: tuple[tuple[str, str, Callable[[Cacher], int], Labels], ...] = (
    (
        "apiserver_watch_cache_consistent_read_total",
        "Lists without a version that the cache answered.",
        lambda cacher: cacher.consistent_reads,
        lambda cacher: ('fallback="false"', 'success="true"'),
    ),
    (
        "apiserver_watch_cache_events_received_total",
        "Changes that the store told of.",
        lambda cacher: cacher.events_received,
        lambda cacher: (),
    ),
    (
        "apiserver_watch_events_total",
        "Watch events handed to clients.",
        lambda cacher: cacher.events_sent,
        lambda cacher: (f'version="{cacher.resource.version}"',),
    ),
)
"""Name, what it counts, where the count is, and its labels besides the resource."""


def scope(criteria: Criteria) -> str:
    """How much of the cluster a watch is about, as `cleanScope` says it."""
    if criteria.name:
        return "resource"
    return "namespace" if criteria.namespace else "cluster"


def watch_cache_lines(cachers: Mapping[tuple[str, str], Cacher]) -> Iterator[str]:
    """The families, a line for each resource about which there is something to say."""
    caches = sorted(cachers.items())
    for name, about, count_of, labels_of in COUNTERS:
        yield from head(name, "counter", about)
        for (group, resource), cacher in caches:
            if count := count_of(cacher):
                own = (f'group="{group}"', f'resource="{resource}"')
                labels = ",".join(sorted((*own, *labels_of(cacher))))
                yield f"{name}{{{labels}}} {count}"
    yield from head(LONG_RUNNING, "gauge", "Watches that are open now.")
    for (group, resource), cacher in caches:
        scopes = Counter(scope(watcher.criteria) for watcher in cacher.watchers())
        for name, count in sorted(scopes.items()):
            yield (
                f'{LONG_RUNNING}{{component="apiserver",group="{group}",'
                f'resource="{resource}",scope="{name}",subresource="",verb="WATCH",'
                f'version="{cacher.resource.version}"}} {count}'
            )
