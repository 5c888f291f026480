"""Claims that want to be larger: no volume in here can grow, so somebody outside is
waited for, and that is said.

Upstream: `pkg/controller/volume/expand/expand_controller.go`
(`expandController.syncHandler`), v1.36. Left out: volumes of removed in-tree plugins
that a CSI driver has taken over.
"""

from __future__ import annotations

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
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
        self._claims = informers.informer(resource("persistentvolumeclaims"))
        self._volumes = informers.informer(resource("persistentvolumes"))
        self._recorder = EventRecorder(client, "volume_expand", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._claims.add_event_handler(add=self._enqueue, update=self._updated)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._volumes.wait_for_sync()
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
        status = claim.get("status") or {}
        size = parse_quantity(
            (status.get("capacity") or {}).get("storage") or "0"
        ).milli()
        if status.get("phase") == "Bound" and _requested(claim) > size:
            self._queue.add(meta_namespace_key(claim))

    async def _sync(self, key: str) -> None:
        claim = self._claims.indexer.get_by_key(key)
        if claim is None:
            return
        volume = self._volumes.indexer.get_by_key(claim["spec"].get("volumeName") or "")
        reference = ((volume or {}).get("spec") or {}).get("claimRef") or {}
        if reference.get("uid") == claim["metadata"]["uid"]:
            message = "waiting for an external controller to expand this PVC"
            self._recorder.event(claim, "Normal", "ExternalExpanding", message)


def _requested(claim: Object) -> int:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return parse_quantity(requests.get("storage") or "0").milli()
