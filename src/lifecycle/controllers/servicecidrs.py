"""Ranges of Service addresses that are in use stay: a finalizer on each ServiceCIDR,
and a condition that says how it is.

A range can be deleted when every address out of it is in another range too. Until then
it is on its way out: nothing new is picked from it, its condition says why it is still
there, and each address that is given back lets this controller look again. Even then it
waits a while, so that all API servers have heard of the deletion before the range is
gone.

Upstream: `pkg/controller/servicecidrs/servicecidrs_controller.go` (`Controller`,
`canDeleteCIDR`), v1.36. Left out: its events.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import APPLY_PATCH, STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue

FINALIZER = "networking.k8s.io/service-cidr-finalizer"
FIELD_MANAGER = "service-cidr-controller"
LABEL_MANAGED_BY = "ipaddress.kubernetes.io/managed-by"
LABEL_FAMILY = "ipaddress.kubernetes.io/ip-family"
ALLOCATOR = "ipallocator.k8s.io"
DELETION_GRACE_PERIOD = 10.0
WORKERS = 5
MAX_RETRIES = 15

READY = {"status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready"}
TERMINATING = {
    "status": "False",
    "reason": "Terminating",
    "message": (
        "There are still IPAddresses referencing the ServiceCIDR, please remove them or"
        " create a new ServiceCIDR"
    ),
}

Network = IPv4Network | IPv6Network


def networks_of(service_cidr: Object) -> list[Network]:
    """Its ranges."""
    return [
        ip_network(cidr) for cidr in (service_cidr.get("spec") or {}).get("cidrs") or ()
    ]


def contains(outer: Network, inner: Network) -> bool:
    """Whether all addresses of the one are in the other."""
    return (
        outer.version == inner.version
        and outer.prefixlen <= inner.prefixlen
        and inner.network_address in outer
    )


class ServiceCIDRsController:
    """Guards ServiceCIDRs."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._clock = clock
        self._cidrs = informers.informer(resource("servicecidrs.networking.k8s.io"))
        self._addresses = informers.informer(resource("ipaddresses.networking.k8s.io"))
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._cidrs.add_event_handler(
            add=self._cidr_added,
            update=lambda old, new: self._queue.add(new["metadata"]["name"]),
            delete=lambda service_cidr: self._queue.add(
                service_cidr["metadata"]["name"]
            ),
        )
        self._addresses.add_event_handler(
            add=self._address_changed, delete=self._address_changed
        )

    async def run(self) -> None:
        """Work until cancelled."""
        for informer in (self._cidrs, self._addresses):
            await informer.wait_for_sync()
        await run_workers(
            self._queue,
            self._sync,
            workers=WORKERS,
            name="service-cidr-controller",
            max_retries=MAX_RETRIES,
        )

    def _cidr_added(self, added: Object) -> None:
        """A new range may let another one go that is inside it, and the other way
        round.
        """
        self._queue.add(added["metadata"]["name"])
        for service_cidr in self._cidrs.indexer:
            pairs = (
                (one, other)
                for one in networks_of(added)
                for other in networks_of(service_cidr)
            )
            if any(
                contains(one, other) or contains(other, one) for one, other in pairs
            ):
                self._queue.add(service_cidr["metadata"]["name"])

    def _address_changed(self, address: Object) -> None:
        if (address["metadata"].get("labels") or {}).get(LABEL_MANAGED_BY) == ALLOCATOR:
            for name in self._with_address(address["metadata"]["name"]):
                self._queue.add(name)

    def _with_address(self, text: str) -> list[str]:
        """Names of the ServiceCIDRs that an address is in."""
        address = ip_address(text)
        return [
            str(service_cidr["metadata"]["name"])
            for service_cidr in self._cidrs.indexer
            if any(address in network for network in networks_of(service_cidr))
        ]

    async def _sync(self, name: str) -> None:
        service_cidr = self._cidrs.indexer.get_by_key(name)
        if service_cidr is None:
            return
        meta = service_cidr["metadata"]
        guarded = FINALIZER in (meta.get("finalizers") or ())
        if "deletionTimestamp" not in meta:
            if not guarded:
                await self._patch_metadata(name, {"finalizers": [FINALIZER]})
            await self._set_ready(service_cidr, READY)
        elif not self._can_delete(service_cidr):
            await self._set_ready(service_cidr, TERMINATING)
        else:
            left = (
                parse_time(meta["deletionTimestamp"])
                + DELETION_GRACE_PERIOD
                - self._clock.now()
            )
            if left > 0:
                self._queue.add_after(name, left)
            elif guarded:
                await self._patch_metadata(
                    name, {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}
                )

    def _can_delete(self, service_cidr: Object) -> bool:
        """Whether no address would be left without a range."""
        name = service_cidr["metadata"]["name"]
        others = [
            network for other in self._others(name) for network in networks_of(other)
        ]
        own = networks_of(service_cidr)
        if all(any(contains(other, network) for other in others) for network in own):
            return True
        families = {f"IPv{network.version}" for network in own}
        for address in self._addresses.indexer:
            labels = address["metadata"].get("labels") or {}
            ours = (
                labels.get(LABEL_MANAGED_BY) == ALLOCATOR
                and labels.get(LABEL_FAMILY) in families
            )
            if ours and self._with_address(address["metadata"]["name"]) == [name]:
                return False
        return True

    def _others(self, name: str) -> Iterator[Object]:
        return (
            other for other in self._cidrs.indexer if other["metadata"]["name"] != name
        )

    async def _patch_metadata(self, name: str, metadata: dict[str, Any]) -> None:
        patch = {"metadata": metadata}
        await self._client.patch(
            self._cidrs.resource, name, "", patch, patch_type=STRATEGIC_MERGE_PATCH
        )

    async def _set_ready(self, service_cidr: Object, ready: dict[str, str]) -> None:
        for condition in (service_cidr.get("status") or {}).get("conditions") or ():
            if (
                condition["type"] == "Ready"
                and {key: condition.get(key, "") for key in ready} == ready
            ):
                return
        name = service_cidr["metadata"]["name"]
        condition = {
            "type": "Ready",
            **ready,
            "lastTransitionTime": self._clock.timestamp(),
        }
        patch = {
            "kind": "ServiceCIDR",
            "apiVersion": "networking.k8s.io/v1",
            "metadata": {"name": name},
            "status": {"conditions": [condition]},
        }
        await self._client.patch(
            self._cidrs.resource,
            name,
            "",
            patch,
            patch_type=APPLY_PATCH,
            subresource="status",
            field_manager=FIELD_MANAGER,
            force=True,
        )
