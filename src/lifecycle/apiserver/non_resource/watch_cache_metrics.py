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
from collections.abc import Iterator, Mapping

from lifecycle.apiserver.filters.metrics import head
from lifecycle.apiserver.storage.cacher.cache_watcher import Criteria
from lifecycle.apiserver.storage.cacher.cacher import Cacher

CONSISTENT_READS = "apiserver_watch_cache_consistent_read_total"
EVENTS_RECEIVED = "apiserver_watch_cache_events_received_total"
LONG_RUNNING = "apiserver_longrunning_requests"
WATCH_EVENTS = "apiserver_watch_events_total"


def scope(criteria: Criteria) -> str:
    """How much of the cluster a watch is about, as `cleanScope` says it."""
    if criteria.name:
        return "resource"
    return "namespace" if criteria.namespace else "cluster"


def watch_cache_lines(cachers: Mapping[tuple[str, str], Cacher]) -> Iterator[str]:
    """The families, a line for each resource about which there is something to say."""
    caches = sorted(cachers.items())
    yield from head(
        CONSISTENT_READS, "counter", "Lists without a version that the cache answered."
    )
    for (group, resource), cacher in caches:
        if cacher.consistent_reads:
            yield (
                f'{CONSISTENT_READS}{{fallback="false",group="{group}",'
                f'resource="{resource}",success="true"}} {cacher.consistent_reads}'
            )
    yield from head(EVENTS_RECEIVED, "counter", "Changes that the store told of.")
    for (group, resource), cacher in caches:
        if cacher.events_received:
            yield (
                f'{EVENTS_RECEIVED}{{group="{group}",resource="{resource}"}}'
                f" {cacher.events_received}"
            )
    yield from head(WATCH_EVENTS, "counter", "Watch events handed to clients.")
    for (group, resource), cacher in caches:
        if cacher.events_sent:
            yield (
                f'{WATCH_EVENTS}{{group="{group}",resource="{resource}",'
                f'version="{cacher.resource.version}"}} {cacher.events_sent}'
            )
    yield from head(LONG_RUNNING, "gauge", "Watches that are open now.")
    for (group, resource), cacher in caches:
        scopes = Counter(scope(watcher.criteria) for watcher in cacher.watchers())
        for name, count in sorted(scopes.items()):
            yield (
                f'{LONG_RUNNING}{{component="apiserver",group="{group}",'
                f'resource="{resource}",scope="{name}",subresource="",verb="WATCH",'
                f'version="{cacher.resource.version}"}} {count}'
            )
