"""Claims that want to be larger: no volume in here can grow, so somebody outside is
waited for, and that is said.

Upstream: `pkg/controller/volume/expand/expand_controller.go`
(`expandController.syncHandler`), v1.36. Left out: volumes of removed in-tree plugins
that a CSI driver has taken over.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import resource
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue


class ExpandController:
    """Looks at a claim when it is new, and when its request has grown."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._claims = informers.informer(resource("persistentvolumeclaims"))
        self._recorder = EventRecorder(client, "volume_expand", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._claims.add_event_handler(add=self._enqueue, update=self._updated)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._claims.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync,
                workers=2,
                name="persistentvolume-expander-controller",
            )
        finally:
            await self._recorder.stop()

    def _updated(self, old: Object, new: Object) -> None:
        if _requested(new) > _requested(old):
            self._enqueue(new)

    def _enqueue(self, claim: Object) -> None:
        phase = (claim.get("status") or {}).get("phase")
        if phase == "Bound" and _wants_more(claim):
            self._queue.add(meta_namespace_key(claim))

    async def _sync(self, key: str) -> None:
        claim = self._claims.indexer.get_by_key(key)
        if claim is None:
            return
        await self._check_bound(claim)
        if _wants_more(claim):  # it may have grown while its volume was waited for
            message = "waiting for an external controller to expand this PVC"
            self._recorder.event(claim, "Normal", "ExternalExpanding", message)

    async def _check_bound(self, claim: Object) -> None:
        """Nobody in here watches volumes, so one that is not there yet, or not yet the
        claim's, is asked for again, later each time. Raises RetryError and StatusError.
        """
        meta, name = claim["metadata"], claim["spec"].get("volumeName")
        if not name:
            raise RetryError("resource name may not be empty")
        volume = await self._client.get(resource("persistentvolumes"), name)
        reference = volume["spec"].get("claimRef") or {}
        if (reference.get("namespace"), reference.get("uid")) != (
            meta["namespace"],
            meta["uid"],
        ):
            raise RetryError(
                "persistent Volume is not bound to PVC being updated :"
                f" {meta_namespace_key(claim)}"
            )


def _wants_more(claim: Object) -> bool:
    """More than it has."""
    capacity = (claim.get("status") or {}).get("capacity") or {}
    size = parse_quantity(capacity.get("storage") or "0").milli()
    return _requested(claim) > size


def _requested(claim: Object) -> int:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return parse_quantity(requests.get("storage") or "0").milli()
