"""A range of pod addresses for every node: `spec.podCIDR`.

The cluster's range is cut into equal pieces, /24 by default, and each node gets the
next free one when it appears; a node that goes gives its piece back.

Upstream: `pkg/controller/nodeipam/ipam/range_allocator.go` (`rangeAllocator`),
`cidrset/cidr_set.go`, v1.36. Left out: dual stack, the cloud allocators.
"""

from __future__ import annotations

import ipaddress

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue

NODE_CIDR_MASK_SIZE = 24


class CIDRSet:
    """The pieces of a range, and which are taken."""

    def __init__(self, cluster_cidr: str, mask_size: int = NODE_CIDR_MASK_SIZE) -> None:
        self._network = ipaddress.IPv4Network(cluster_cidr)
        self._mask_size = mask_size
        self._size = 1 << (32 - mask_size)
        self._count = max(1, self._network.num_addresses // self._size)
        self._used: set[int] = set()
        self._next = 0

    def allocate_next(self) -> str | None:
        """The next free piece; None if there is none. Pieces just given back are used
        last.
        """
        for offset in range(self._count):
            index = (self._next + offset) % self._count
            if index not in self._used:
                self._used.add(index)
                self._next = (index + 1) % self._count
                first = int(self._network.network_address) + index * self._size
                return f"{ipaddress.IPv4Address(first)}/{self._mask_size}"
        return None

    def occupy(self, cidr: str) -> None:
        """Take a piece that a node has already."""
        index = self._index(cidr)
        if index is not None:
            self._used.add(index)

    def release(self, cidr: str) -> None:
        """Give a piece back."""
        index = self._index(cidr)
        if index is not None:
            self._used.discard(index)

    def _index(self, cidr: str) -> int | None:
        address = ipaddress.IPv4Network(cidr, strict=False).network_address
        if address not in self._network:
            return None
        return (int(address) - int(self._network.network_address)) // self._size


class NodeIPAMController:
    """Gives each node its pod range."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._cidrs = CIDRSet("10.244.0.0/16")
        self._pending: dict[str, str] = {}
        self._nodes = informers.informer(resource("nodes"))
        self._recorder = EventRecorder(client, "cidrAllocator", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._nodes.add_event_handler(
            add=self._enqueue_node,
            update=lambda old, new: self._enqueue_node(new),
            delete=self._node_deleted,
        )

    def set_cluster_cidr(
        self, cluster_cidr: str, mask_size: int = NODE_CIDR_MASK_SIZE
    ) -> None:
        """Use another range; before `run`. A thousand nodes with /24 each need a /14 or
        larger.
        """
        self._cidrs = CIDRSet(cluster_cidr, mask_size)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._nodes.wait_for_sync()
            await run_workers(
                self._queue, self._sync_node, workers=5, name="node-ipam-controller"
            )
        finally:
            await self._recorder.stop()

    def _enqueue_node(self, node: Object) -> None:
        cidr = node["spec"].get("podCIDR") if node.get("spec") else None
        if cidr:
            self._pending.pop(node["metadata"]["name"], None)
            self._cidrs.occupy(cidr)
        else:
            self._queue.add(node["metadata"]["name"])

    def _node_deleted(self, node: Object) -> None:
        cidr = (node.get("spec") or {}).get("podCIDR") or self._pending.pop(
            node["metadata"]["name"], None
        )
        if cidr:
            self._cidrs.release(cidr)

    async def _sync_node(self, name: str) -> None:
        node = self._nodes.indexer.get_by_key(name)
        if node is None or (node.get("spec") or {}).get("podCIDR"):
            return
        cidr = self._pending.get(name) or self._cidrs.allocate_next()
        if cidr is None:
            self._recorder.event(
                node,
                "Normal",
                "CIDRNotAvailable",
                f"Node {name} status is now: CIDRNotAvailable",
            )
            raise RetryError(
                "CIDR allocation failed; there are no remaining CIDRs left to allocate"
                " in the accepted range"
            )
        self._pending[name] = cidr
        patch = {"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}}
        await self._client.patch(
            resource("nodes"), name, "", patch, patch_type=STRATEGIC_MERGE_PATCH
        )
