"""How much work is a request? One seat, usually.

A long list takes more: what it holds in memory at once, a seat for each 100 kB. A write
takes one, but the watchers who hear of it make work when it is done: a seat for each
ten of them, for a moment. No request may take more than a part of its level.

Upstream:
`apiserver/pkg/util/flowcontrol/request/{width,list_work_estimator,mutating_work_estimator,config}.go`
(with `SizeBasedListCostEstimate`), v1.36.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import RequestInfo
from lifecycle.apiserver.filters.queue_set import ONE_SEAT, Work
from lifecycle.apiserver.storage.stats import Stats

BYTES_PER_SEAT = 100_000
MOST_FROM_CACHE = 1_000_000
LARGEST_OBJECT = 1_500_000
MOST_LIST_SEATS, MOST_MUTATING_SEATS = 100, 10
WATCHES_PER_SEAT = 10
EVENT_SECONDS = 0.005
MUTATING = frozenset({"create", "update", "patch", "delete"})
MAX_SEATS_PERCENT = 0.15


def max_seats(nominal: int, hand_size: int) -> int:
    """The most seats that one request of a level may take. A level without queues
    (`hand_size=0`) names no limit: 0.
    """
    if not hand_size:
        return 0
    return max(1, min(math.ceil(nominal * MAX_SEATS_PERCENT), nominal // hand_size))


class WorkEstimator:
    """Estimates by what is stored (None: unknown resource) and by who watches."""

    def __init__(
        self,
        stats: Callable[[str, str], Stats | None],
        watchers: Callable[[RequestInfo], int] = lambda info: 0,
    ) -> None:
        self._stats, self._watchers = stats, watchers

    def estimate(
        self, info: RequestInfo, query: dict[str, list[str]], limit: int
    ) -> Work:
        """The work of a request whose level allows so many seats to one (0: as many as
        any).
        """
        if info.verb in ("list", "watch") and info.is_resource_request:
            return self._list(info, query, limit)
        if info.verb in MUTATING and info.is_resource_request:
            return self._mutating(info, limit)
        return ONE_SEAT

    def _list(self, info: RequestInfo, query: dict[str, list[str]], limit: int) -> Work:
        version = query.get("resourceVersion", [""])[0]
        if info.verb == "watch":
            wants_state = bool_parameter(query, "sendInitialEvents")
            if not wants_state and version not in ("", "0"):
                return ONE_SEAT
        stats = self._stats(info.group, info.resource)
        if stats is None:
            return ONE_SEAT
        most = min(limit or MOST_LIST_SEATS, MOST_LIST_SEATS)
        text = query.get("limit", [""])[0]
        if text and not text.isdigit():  # it will be refused further in
            return Work(most)
        query_limit = int(text or 0)
        size = stats.average_size or (LARGEST_OBJECT if stats.objects else 0)
        limited = min(stats.objects, query_limit) if query_limit else stats.objects
        exact = query.get("resourceVersionMatch", [""])[0] == "Exact" or (
            query_limit > 0 and version not in ("", "0")
        )
        from_store = info.verb == "list" and (
            exact or bool(query.get("continue", [""])[0])
        )
        if info.name:
            loaded = 1
        elif from_store and (info.field_selector or info.label_selector):
            loaded = max(limited, stats.objects // 2)
        else:
            loaded = limited
        memory = loaded * size if from_store else min(loaded * size, MOST_FROM_CACHE)
        return Work(min(max(math.ceil(memory / BYTES_PER_SEAT), 1), most))

    def _mutating(self, info: RequestInfo, limit: int) -> Work:
        if (info.resource, info.subresource) == (
            "serviceaccounts",
            "token",
        ):  # nobody hears of it
            return ONE_SEAT
        watchers = self._watchers(info)
        if watchers < WATCHES_PER_SEAT:
            return ONE_SEAT
        seats = math.ceil(watchers / WATCHES_PER_SEAT)
        fewer = min(seats, limit or MOST_MUTATING_SEATS, MOST_MUTATING_SEATS)
        return Work(1, fewer, seats * EVENT_SECONDS / fewer)
