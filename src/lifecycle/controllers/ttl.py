"""How long a kubelet may trust what it has cached: an annotation on each node, longer
in larger clusters.

Upstream: `pkg/controller/ttl/ttl_controller.go` (`Controller`, `ttlBoundaries`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue

OBJECT_TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl"

# (fewest nodes, most nodes, seconds); neighbouring steps overlap, so that a cluster at
# a boundary does not flap
TTL_BOUNDARIES = (
    (0, 100, 0),
    (90, 500, 15),
    (450, 1000, 30),
    (900, 2000, 60),
    (1800, 1 << 31, 300),
)


class TTLController:
    """Annotates nodes."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._step = 0
        self._nodes = informers.informer(resource("nodes"))
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._nodes.add_event_handler(
            add=self._node_added,
            update=lambda old, new: self._queue.add(new["metadata"]["name"]),
            delete=lambda node: self.cluster_size_changed(),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._nodes.wait_for_sync()
        await run_workers(
            self._queue, self._sync_node, workers=5, name="ttl-controller"
        )

    @property
    def desired_ttl_seconds(self) -> int:
        """The value for the number of nodes there are."""
        return TTL_BOUNDARIES[self._step][2]

    def cluster_size_changed(self) -> None:
        """A node came or went. A new step concerns all nodes, but each is only written
        at its own next event, as upstream does.
        """
        count = len(self._nodes.indexer)
        fewest, most, _ = TTL_BOUNDARIES[self._step]
        if count > most:
            self._step += 1
        elif count < fewest:
            self._step -= 1

    def _node_added(self, node: Object) -> None:
        self.cluster_size_changed()
        self._queue.add(node["metadata"]["name"])

    async def _sync_node(self, name: str) -> None:
        node = self._nodes.indexer.get_by_key(name)
        value = str(self.desired_ttl_seconds)
        if (
            node is None
            or (node["metadata"].get("annotations") or {}).get(OBJECT_TTL_ANNOTATION)
            == value
        ):
            return
        patch = {"metadata": {"annotations": {OBJECT_TTL_ANNOTATION: value}}}
        await self._client.patch(
            resource("nodes"), name, "", patch, patch_type=STRATEGIC_MERGE_PATCH
        )
