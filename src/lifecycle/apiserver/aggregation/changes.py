"""What wakes the availability checks: changes of APIServices, and of Services and
EndpointSlices while one of them matters.

Upstream: the informers' event handlers in
`kube-aggregator/pkg/controllers/status/remote/remote_available_controller.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from lifecycle.api.resources import resource
from lifecycle.apiserver.aggregation.aggregator import Aggregator
from lifecycle.apiserver.storage.cacher.cache_watcher import Criteria
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.webhook.service_resolver import ENDPOINT_SLICES, SERVICES


class ChangeFollower:
    """Follows the server's own caches. `start()` on the loop, `await stop()` at the
    end.
    """

    def __init__(
        self, aggregator: Aggregator, cachers: Mapping[tuple[str, str], Cacher]
    ) -> None:
        self._aggregator = aggregator
        self._cachers = cachers
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self) -> None:
        """From now on."""
        self._follow("apiservices.apiregistration.k8s.io")
        self._look()

    async def stop(self) -> None:
        """No more."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    def _look(self) -> None:
        self._aggregator.look()
        if self._aggregator.has_remote:
            for name in (SERVICES, ENDPOINT_SLICES):
                if name not in self._tasks:
                    self._follow(name)

    def _follow(self, name: str) -> None:
        row = resource(name)
        self._tasks[name] = asyncio.create_task(
            self._changes(self._cachers[row.store_key]), name=f"follow {name}"
        )

    async def _changes(self, cacher: Cacher) -> None:
        while True:
            watcher = cacher.watch(Criteria(), None, initial=False, bookmarks=False)
            self._look()  # nobody was told what came before the watch was open
            try:
                async for _ in watcher:
                    watcher.take()  # however many came at once, one look is enough
                    self._look()
            finally:
                await watcher.aclose()
