"""One watch per resource, shared by everybody who cares.

An informer joins a reflector, the queue, and an indexer, and tells its handlers what
changed. The contract, which the tests hold it to:

* per object, each handler sees a subsequence of the object's states, in order, never an
  older one after a newer;
* between ADD and DELETE there are only UPDATEs, each from the state last seen to the
  next;
* when changes stop, the indexer and what every handler saw last are what the server
  has, whatever watches broke on the way;
* the indexer is never behind what a handler is being told.

Handlers are plain functions, called on the loop, in batches, one after the other: no
task and no copy per event. They must be quick: put a key into a work queue and return.
Objects are shared; handlers read them and never write. A handler's failure is logged
and harms nobody else.

An object that disappeared while no watch ran is announced as a delete with its last
known state (client-go wraps that one in `DeletedFinalStateUnknown`).

Upstream: `client-go/tools/cache/shared_informer.go` (`sharedIndexInformer`,
`processorListener`), `controller.go` (`processDeltas`),
`client-go/informers/factory.go`, v1.36. Left out: resync, transforms, the buffer per
listener (handlers here never block).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.client.indexer import Indexer, IndexFunc
from lifecycle.client.real_fifo import DELETED, RealFIFO, nobody
from lifecycle.client.reflector import Reflector
from lifecycle.client.rest import Client

log = logging.getLogger(__name__)

AddHandler = Callable[[Object], None]
UpdateHandler = Callable[[Object, Object], None]
DeleteHandler = Callable[[Object], None]

BATCH = 500
PATIENCE = 0.01
"""So many deltas are handled, or so many seconds of it pass, before the loop may do
something else: one pod may give its handlers as much to do as a thousand others.
"""


@dataclass(slots=True, eq=False)
class Handlers:
    """One registration; hand it to `remove_event_handler` to end it."""

    add: AddHandler | None
    update: UpdateHandler | None
    delete: DeleteHandler | None


class SharedInformer:
    """The shared picture of one resource (of one namespace, or selection, if given).

    `indexer` is the cache; read it, never write it.
    """

    def __init__(
        self,
        client: Client,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        use_watch_list: bool = False,
        indexers: dict[str, IndexFunc] | None = None,
    ) -> None:
        self.resource = resource
        self.indexer = Indexer(indexers)
        self._fifo = RealFIFO(self.indexer)
        self.reflector = Reflector(
            client,
            resource,
            self._fifo,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            use_watch_list=use_watch_list,
        )
        self._handlers: list[Handlers] = []
        self._task: asyncio.Task[None] | None = None
        self._synced: asyncio.Event | None = None

    @property
    def has_synced(self) -> bool:
        """True once the first list has reached the indexer and every handler."""
        return self._fifo.has_synced

    def add_event_handler(
        self,
        add: AddHandler | None = None,
        update: UpdateHandler | None = None,
        delete: DeleteHandler | None = None,
    ) -> Handlers:
        """Tell these functions about changes. What is in the indexer already is
        announced as adds, at once.
        """
        handlers = Handlers(add, update, delete)
        if add is not None:
            for obj in self.indexer.list():
                _call(add, obj)
        self._handlers = [*self._handlers, handlers]
        return handlers

    def remove_event_handler(self, handlers: Handlers) -> None:
        """No more calls."""
        self._handlers = [h for h in self._handlers if h is not handlers]

    def add_indexers(self, indexers: dict[str, IndexFunc]) -> None:
        """More ways to look objects up; allowed at any time."""
        self.indexer.add_indexers(indexers)

    def start(self) -> None:
        """Start the reflector; once is enough, more does no harm. Needs a running
        loop.
        """
        if self._task is None:
            self._fifo.on_pending = self._on_pending
            self._task = asyncio.get_running_loop().create_task(
                self.reflector.run(), name=f"reflector {self.resource.plural}"
            )

    async def stop(self) -> None:
        """Stop watching. The indexer keeps what it has for as long as somebody holds
        the informer, which does not hold itself.
        """
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._fifo.on_pending = nobody

    async def wait_for_sync(self) -> None:
        """Wait for `has_synced`; starts the informer if nobody has. Upstream:
        `cache.WaitForCacheSync`.
        """
        self.start()
        if self.has_synced:
            return
        if self._synced is None:
            self._synced = asyncio.Event()
        await self._synced.wait()

    def _on_pending(self) -> None:
        asyncio.get_running_loop().call_soon(self._process_deltas)

    def _process_deltas(self) -> None:
        """Out of the queue, first into the indexer, then to the handlers."""
        indexer, fifo = self.indexer, self._fifo
        time = asyncio.get_running_loop().time
        until = time() + PATIENCE
        for _ in range(min(BATCH, len(fifo))):
            kind, key, obj = fifo.pop()
            if kind == DELETED:
                indexer.remove(key)  # told as well if it was not there
                for handlers in self._handlers:
                    if handlers.delete is not None:
                        _call(handlers.delete, obj)
            else:
                old = indexer.set(key, obj)
                for handlers in self._handlers:
                    if old is not None:
                        if handlers.update is not None:
                            _call(handlers.update, old, obj)
                    elif handlers.add is not None:
                        _call(handlers.add, obj)
            if time() > until:
                break
        if len(self._fifo):
            self._on_pending()
        if self._synced is not None and self.has_synced:
            self._synced.set()


def _call(handler: Callable[..., None], *objects: Object) -> None:
    try:
        handler(*objects)
    except Exception:
        log.exception("handler failed for %s", objects[-1]["metadata"].get("name"))


class SharedInformerFactory:
    """Hands out the one informer per resource and selection, so that a component costs
    the server one watch, not one per controller.
    """

    def __init__(self, client: Client, *, use_watch_list: bool = False) -> None:
        self.client = client
        self._use_watch_list = use_watch_list
        self._informers: dict[tuple[str, str, str, str, str, str], SharedInformer] = {}

    def informer(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> SharedInformer:
        """The shared informer; made on first use, started by `start` or
        `wait_for_sync`.
        """
        key = (
            resource.group,
            resource.version,
            resource.plural,
            namespace,
            label_selector,
            field_selector,
        )
        informer = self._informers.get(key)
        if informer is None:
            informer = self._informers[key] = SharedInformer(
                self.client,
                resource,
                namespace=namespace,
                label_selector=label_selector,
                field_selector=field_selector,
                use_watch_list=self._use_watch_list,
            )
        return informer

    def start(self) -> None:
        """Start every informer that has been asked for and does not run yet."""
        for informer in list(self._informers.values()):
            informer.start()

    @property
    def has_synced(self) -> bool:
        """Whether every informer asked for so far has."""
        return all(informer.has_synced for informer in self._informers.values())

    async def wait_for_cache_sync(self) -> None:
        """Wait until every informer asked for so far has synced; starts them if need
        be.
        """
        await asyncio.gather(
            *(informer.wait_for_sync() for informer in list(self._informers.values()))
        )

    async def stop(self) -> None:
        """Stop every informer."""
        await asyncio.gather(
            *(informer.stop() for informer in list(self._informers.values()))
        )
