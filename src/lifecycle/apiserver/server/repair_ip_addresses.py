"""Services and IPAddresses must tell the same story; who finds out when they do not.

A Service and its IPAddress are two writes. A server that dies between them, or cannot
reach its store for the second one, leaves half of the story behind: an address that
nobody has and nobody can have, or a Service whose address somebody else may be given.
So each server looks at both kinds, whenever one of them changes and every three minutes
in any case. A Service that has no IPAddress gets one; an IPAddress that no Service
speaks of is deleted, but not in its first minute: its Service may be on its way.

Upstream: `pkg/registry/core/service/ipallocator/controller/repairip.go`
(`RepairIPAddress`), v1.36; the post-start hook `start-service-ip-repair-controllers`.
Left out: events in `events.k8s.io`'s form (they are core/v1's here), five workers.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address, ip_network

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.service.addresses import (
    CONTROLLER_NAME,
    LABEL_MANAGED_BY,
    addresses_of,
    new_ip_address,
)
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue

NAME = "ipallocator-repair-controller"
INTERVAL = 180.0
"""Seconds between two looks at everything."""
GRACE_PERIOD = 60.0
"""Seconds that an IPAddress may be without its Service."""
MAX_RETRIES = 15


class RepairIPAddresses:
    """Repairs what one server sees; `start` and `stop` belong to it."""

    def __init__(self, client: Client, *, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        """Look after the addresses from now on."""
        self._tasks.start(self._run(), NAME)

    async def stop(self) -> None:
        """No more of it."""
        await self._tasks.stop()

    async def _run(self) -> None:
        informers = SharedInformerFactory(self._client)
        recorder = EventRecorder(self._client, NAME, clock=self._clock)
        try:
            await _Repair(self._client, informers, recorder, self._clock).run()
        finally:
            await recorder.stop()
            await informers.stop()


class _Repair:
    """One run of it, over informers of its own."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        recorder: EventRecorder,
        clock: Clock,
    ) -> None:
        self._client, self._recorder, self._clock = client, recorder, clock
        self._services = informers.informer(resource("services"))
        self._cidrs = informers.informer(resource("servicecidrs.networking.k8s.io"))
        self._addresses = informers.informer(resource("ipaddresses.networking.k8s.io"))
        self._service_keys: RateLimitingQueue[str] = RateLimitingQueue()
        self._address_keys: RateLimitingQueue[str] = RateLimitingQueue()
        self._watched = (
            (self._services, self._service_keys),
            (self._addresses, self._address_keys),
        )
        for informer, keys in self._watched:
            _queue_changes(informer, keys)

    async def run(self) -> None:
        """Work until cancelled."""
        for informer in (self._services, self._cidrs, self._addresses):
            await informer.wait_for_sync()
        async with asyncio.TaskGroup() as group:
            for keys, sync in (
                (self._service_keys, self._sync_service),
                (self._address_keys, self._sync_address),
            ):
                group.create_task(
                    run_workers(
                        keys, sync, workers=1, name=NAME, max_retries=MAX_RETRIES
                    )
                )
            while True:
                await asyncio.sleep(INTERVAL)
                for informer, keys in self._watched:
                    for obj in informer.indexer:
                        keys.add(meta_namespace_key(obj))

    async def _sync_service(self, key: str) -> None:
        service = self._services.indexer.get_by_key(key)
        if service is None:
            return
        for address in sorted(addresses_of(service)):
            await self._sync_cluster_ip(service, address)

    async def _sync_cluster_ip(self, service: Object, address: str) -> None:
        """A Service's address must be in a range, and its IPAddress must name it."""
        family = f"[IPv{ip_address(address).version}]: {address}"
        if not self._in_a_range(address):
            self._warn(
                service,
                "ClusterIPOutOfRange",
                f"Cluster IP {family} is not within any configured Service CIDR;"
                " please recreate service",
            )
            return
        found = self._addresses.indexer.get_by_key(address)
        if found is None and await self._is_stored(address):
            # it was written before the Service, and is heard of after it
            self._service_keys.add_after(meta_namespace_key(service), 1.0)
            return
        if found is None:
            self._warn(
                service,
                "ClusterIPNotAllocated",
                f"Cluster IP {family} is not allocated; repairing",
            )
            await self._create(address, service)
            return
        key, wanted = meta_namespace_key(service), new_ip_address(address, service)
        parent, ours = found["spec"]["parentRef"], wanted["spec"]["parentRef"]
        other = self._referenced(parent)
        if parent != ours and other is None:
            self._warn(
                service,
                "ClusterIPNotAllocated",
                f"the ClusterIP {family} for Service {key} has a wrong reference;"
                " repairing",
            )
            await self._recreate(address, service)
        elif parent != ours and other and address in addresses_of(other):
            # whose it is stays as it is: two servers would turn it back and forth
            self._warn(
                service,
                "ClusterIPAlreadyAllocated",
                f"Cluster IP {family.replace(': ', ':')} was assigned to multiple"
                " services; please recreate service",
            )
        elif not wanted["metadata"]["labels"].items() <= _labels(found).items():
            await self._recreate(address, service)

    async def _sync_address(self, name: str) -> None:
        """An IPAddress that the servers made must belong to a Service that says so."""
        address = self._addresses.indexer.get_by_key(name)
        if address is None or not _is_of_the_allocator(address):
            return
        parent = address["spec"]["parentRef"]
        if parent.get("group") or parent["resource"] != "services":
            self._warn(
                address,
                "IPAddressNotAllocated",
                f"IPAddress {name} appears to have been modified, not referencing a"
                f" Service {parent}: cleaning up",
            )
            await self._delete(name)
            return
        service, of = (
            self._referenced(parent),
            f"{parent['namespace']}/{parent['name']}",
        )
        if service is None:
            created = parse_time(address["metadata"]["creationTimestamp"])
            left = created + GRACE_PERIOD - self._clock.now()
            if left >= 0:
                self._address_keys.add_after(name, max(left, 1.0))
                return
            self._warn(
                address,
                "IPAddressNotAllocated",
                f"IPAddress: {name} for Service {of} appears to have leaked: cleaning"
                " up",
            )
            await self._delete(name)
        elif name not in addresses_of(service):
            self._warn(
                address,
                "IPAddressWrongReference",
                f"IPAddress: {name} for Service {of} has a wrong reference; cleaning"
                " up",
            )
            await self._delete(name)

    def _in_a_range(self, address: str) -> bool:
        return any(
            ip_address(address) in ip_network(cidr)
            for service_cidr in self._cidrs.indexer
            for cidr in service_cidr["spec"]["cidrs"]
        )

    def _referenced(self, parent: Object) -> Object | None:
        """The Service that a `parentRef` names."""
        if parent.get("group") or parent["resource"] != "services":
            return None
        key = f"{parent.get('namespace', '')}/{parent['name']}"
        return self._services.indexer.get_by_key(key)

    def _warn(self, obj: Object, reason: str, message: str) -> None:
        self._recorder.event(obj, "Warning", reason, message)

    async def _is_stored(self, address: str) -> bool:
        """Whether there is an IPAddress of which the informer has not heard yet.
        Upstream warns then, and finds out when it cannot make a second one.
        """
        try:
            await self._client.get(self._addresses.resource, address)
        except StatusError as error:
            if error.code != 404:
                raise
            return False
        return True

    async def _create(self, address: str, service: Object) -> None:
        await self._client.create(
            self._addresses.resource, new_ip_address(address, service)
        )

    async def _delete(self, name: str) -> None:
        try:
            await self._client.delete(self._addresses.resource, name)
        except StatusError as error:
            if error.code != 404:
                raise

    async def _recreate(self, address: str, service: Object) -> None:
        await self._delete(address)
        await self._create(address, service)


def _queue_changes(informer: SharedInformer, keys: RateLimitingQueue[str]) -> None:
    informer.add_event_handler(
        add=lambda obj: keys.add(meta_namespace_key(obj)),
        update=lambda old, new: keys.add(meta_namespace_key(new)),
        delete=lambda obj: keys.add(meta_namespace_key(obj)),
    )


def _labels(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _is_of_the_allocator(address: Object) -> bool:
    return _labels(address).get(LABEL_MANAGED_BY) == CONTROLLER_NAME
