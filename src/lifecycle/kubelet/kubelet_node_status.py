"""A node introduces itself, and keeps its lease and its status fresh.

It creates its Node (or takes over the one that is there), and is Ready once pods can be
connected: for a hollow runtime when it has a range of addresses to give from, for a
real one when the runtime says that its network is ready.

It watches that Node, too, as others write there: labels, taints, a range of addresses,
resources of theirs.

Upstream: `pkg/kubelet/kubelet_node_status.go` (`registerWithAPIServer`,
`tryUpdateNodeStatus`), `kubelet.go` (`updateRuntimeUp`, `nodeLister`),
`component-helpers/apimachinery/lease/controller.go`, v1.36. Upstream looks every five
seconds whether the runtime is well, here it is every ten, with the lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import REQUEST_ERRORS, STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import Image
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.apis.services import VersionResponse
from lifecycle.kubelet.nodestatus.machine_info import (
    PAPER_CAPACITY,
    paper_machine_info,
)
from lifecycle.kubelet.nodestatus.setters import (
    KUBELET_PORT,
    LEASE_NAMESPACE,
    NETWORK_NOT_READY,
    condition_event,
    initial_node,
    lease,
    node_conditions,
    node_status,
    node_status_has_changed,
    plain_version,
)
from lifecycle.kubelet.runtime_state import RuntimeState
from lifecycle.kubelet.status.status_patch import status_patch

log = logging.getLogger(__name__)

RUNTIME_CHECK_PERIOD = 0.5
"""Seconds between questions to a real runtime that is not ready yet."""

STATUS_REPORT_FREQUENCY = 300.0
"""Seconds between reports of an unchanged node status."""

FIRST_STEP, LONGEST_STEP = 0.1, 7.0
"""Seconds between two tries to register: twice as long each time, up to the second."""

NodeEvent = Callable[[str, str, str], None]
"""Takes type, reason and message of an event about the node."""


def nobody_is_told(kind: str, reason: str, message: str) -> None:
    """For nodes of which there may be thousands."""


@dataclass(slots=True)
class Machine:
    """What there is to say about a node. `pod_cidr`: empty where the controllers choose
    it.
    """

    name: str
    address: str
    pod_cidr: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Object] = ()
    capacity: Mapping[str, str] = field(default_factory=lambda: PAPER_CAPACITY)
    allocatable: Mapping[str, str] = field(default_factory=lambda: PAPER_CAPACITY)
    provider_id: str = ""
    info: Mapping[str, str] = field(default_factory=paper_machine_info)


class Seen(NamedTuple):
    """What of a node's status may be different from one moment to the next."""

    version: VersionResponse
    runtime_status: Mapping[str, Any]
    images: Sequence[Image]
    pressures: tuple[str, ...]
    network_error: str


class NodeRegistration:
    """One node's. `asks_runtime`: whether the runtime has a network of its own, which
    may not be ready. `healthy()`: why the kubelet itself is not well, empty if it is.
    `pressures()`: `MemoryPressure` and the like, where the node is short of something.
    """

    def __init__(
        self,
        client: Client,
        machine: Machine,
        runtime: Runtime,
        clock: Clock,
        *,
        asks_runtime: bool = False,
        healthy: Callable[[], str] = str,
        pressures: Callable[[], Sequence[str]] = tuple,
        runtime_state: RuntimeState | None = None,
        event: NodeEvent = nobody_is_told,
    ) -> None:
        self._client = client
        self._machine = machine
        self._runtime = runtime
        self._clock = clock
        self._asks_runtime = asks_runtime
        self._healthy = healthy
        self._pressures = pressures
        self._runtime_state = runtime_state or RuntimeState()
        self._event = event
        self._told: dict[str, str] = {}
        self._port = KUBELET_PORT
        self._lease: Object | None = None
        self._pod_cidr = ""
        self._last_report = 0.0
        self._known: tuple[Object, Seen] | None = None
        """A status, and what was seen when it had nothing to add to it."""
        self.registered = asyncio.Event()
        """Set once the node is there, with its status."""
        self.node: Object = {}
        """As last heard of; empty before it is registered."""
        self._gone = False
        self._heard_of = asyncio.Event()
        selector = f"metadata.name={machine.name}"
        self._informer = SharedInformer(
            client, resource("nodes"), field_selector=selector, use_watch_list=True
        )
        self._informer.add_event_handler(
            self._heard, lambda old, new: self._heard(new), self._deleted
        )
        self.network_error = NETWORK_NOT_READY
        """Why pods cannot be connected; empty if they can."""

    def _initial_node(self) -> Object:
        machine = self._machine
        return initial_node(
            machine.name,
            machine.labels,
            machine.taints,
            machine.provider_id,
            machine.pod_cidr,
            machine.info.get("architecture", "amd64"),
        )

    def node_as_known(self) -> Object:
        """The node, or what it is going to be: static pods are admitted even if no API
        server answers, and if somebody has deleted the node. Upstream: `getNodeAnyWay`.
        """
        return self._initial_node() if self._gone or not self.node else self.node

    def _heard(self, node: Object) -> None:
        """From the watch: it may be behind the answers to our own writes."""
        known = (self.node.get("metadata") or {}).get("resourceVersion", "0")
        if int(node["metadata"]["resourceVersion"]) >= int(known):
            self.node = node
        self._gone = False
        self._heard_of.set()

    def _deleted(self, node: Object) -> None:
        self._gone = True

    async def stop(self) -> None:
        """Watch it no more."""
        await self._informer.stop()

    async def register(self, port: int = KUBELET_PORT) -> None:
        """Create the node, or take over the one that is there; then report its status.
        `port`: where this kubelet's own API is. It goes on until it succeeds. Upstream:
        `registerWithAPIServer`, which also waits before the first try.
        """
        self._port = port
        machine = self._machine
        node = self._initial_node()
        node["status"] = self._status({}, await self._look())
        told, step = False, FIRST_STEP
        while True:
            try:
                await self._try_register_with_api_server(node)
                break
            except REQUEST_ERRORS as error:
                level = logging.DEBUG
                if not told and not isinstance(error, OSError):
                    level, told = logging.ERROR, True  # it may not heal by itself
                text = "Unable to register node with API server: %s: %s"
                log.log(level, text, machine.name, error)
            await asyncio.sleep(step)
            step = min(2 * step, LONGEST_STEP)
        await self._note_pod_cidr(machine.pod_cidr)
        if self._asks_runtime:
            await self._ask_runtime()
        await self.renew_lease()
        await self._try_report_status()
        self._informer.start()
        self.registered.set()

    async def _try_register_with_api_server(self, node: Object) -> None:
        try:
            self.node = await self._client.create(resource("nodes"), node)
        except StatusError as error:
            if error.code != 409:
                raise
            await self.refresh()

    async def refresh(self) -> None:
        """Read the node anew. Raises StatusError."""
        self.node = await self._client.get(resource("nodes"), self._machine.name)

    async def _note_pod_cidr(self, known: str = "") -> None:
        pod_cidr = known or (self.node.get("spec") or {}).get("podCIDR", "")
        if pod_cidr and pod_cidr != self._pod_cidr:
            await self._runtime.update_runtime_config(pod_cidr)
            self._pod_cidr = pod_cidr
            if not self._asks_runtime:
                self.network_error = ""

    async def _ask_runtime(self) -> bool:
        """Whether the runtime now says something else about its network."""
        before = self.network_error
        try:
            status = await self._runtime.status()
            self._runtime_state.note(status)
            conditions = status["conditions"]
        except RuntimeServiceError as error:
            self.network_error = (
                f"container runtime status check may not have completed yet: {error}"
            )
            return before != self.network_error
        failing = [
            c
            for c in conditions
            if c["type"] in ("RuntimeReady", "NetworkReady") and not c["status"]
        ]
        self.network_error = "".join(
            f"container runtime {'network ' if c['type'] == 'NetworkReady' else ''}not"
            f" ready: {c['type']}=false reason:{c['reason']} message:{c['message']}"
            for c in failing[:1]
        )
        ill = self._healthy()
        if ill and not self.network_error:
            self.network_error = f"PLEG is not healthy: {ill}"
        return before != self.network_error

    async def until_network_ready(self) -> None:
        """Wait until pods can be connected."""
        if self._asks_runtime:
            while self.network_error:
                await asyncio.sleep(RUNTIME_CHECK_PERIOD)
                if not self._pod_cidr:
                    await self._note_pod_cidr()
                if await self._ask_runtime() and self.network_error:
                    await self._try_report_status()
        while self.network_error:
            self._heard_of.clear()
            # the answer to a report of the status may have brought it, and no change
            # follows
            await self._note_pod_cidr()
            if self.network_error:
                await self._heard_of.wait()
        await self._try_report_status()

    async def _try_report_status(self) -> None:
        try:
            await self.report_status()
        except REQUEST_ERRORS as error:  # housekeeping says it again
            log.debug("status of node %s: %s", self._machine.name, error)

    async def _look(self) -> Seen:
        version = await self._runtime.version()
        runtime_status = await self._runtime.status()
        self._runtime_state.note(runtime_status)
        images = await self._runtime.list_images()
        pressures = tuple(self._pressures())
        return Seen(version, runtime_status, images, pressures, self.network_error)

    def _status(self, old: Object, seen: Seen) -> Object:
        version = seen.version
        conditions = node_conditions(
            old.get("conditions") or [],
            self._clock.timestamp(),
            not seen.network_error,
            seen.network_error,
            seen.pressures,
        )
        self._tell(conditions)
        return node_status(
            old,
            self._machine.name,
            self._machine.address,
            self._machine.capacity,
            self._machine.allocatable,
            seen.images,
            conditions,
            f"{version.runtime_name}://{plain_version(version.runtime_version)}",
            self._machine.info,
            seen.runtime_status,
            self._port,
        )

    def _tell(self, conditions: Sequence[Object]) -> None:
        """An event for each condition that is another than before. That it is not ready
        yet, nobody is told. Upstream: `recordNodeStatusEvent`.
        """
        for each in conditions:
            kind, status = each["type"], each["status"]
            before = self._told.get(kind)
            self._told[kind] = status
            if before == status or (kind == "Ready" and before is None):
                continue
            reason = condition_event(kind, status)
            name = self._machine.name
            self._event("Normal", reason, f"Node {name} status is now: {reason}")

    async def report_status(self) -> None:
        """Patch what changed. Upstream: `tryUpdateNodeStatus`."""
        old = self.node.get("status") or {}
        new = {**old, **self._status(old, await self._look())}
        known = {c["type"] for c in new["conditions"]}
        new["conditions"] = [
            *new["conditions"],
            *(c for c in old.get("conditions") or () if c["type"] not in known),
        ]
        patch = status_patch(self.node["metadata"]["uid"], old, new)
        self._last_report = self._clock.now()
        if patch:
            self.node = await self._client.patch(
                resource("nodes"),
                self._machine.name,
                "",
                {"status": patch["status"]},
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )

    async def renew_lease(self) -> None:
        """Say that the node is there. What fails is tried again in time."""
        leases = resource("leases.coordination.k8s.io")
        name = self._machine.name
        fresh = lease(name, self.node["metadata"]["uid"], self._clock.micro_timestamp())
        try:
            if self._lease is not None:
                renewed = {
                    **self._lease,
                    "spec": {
                        **self._lease["spec"],
                        "renewTime": fresh["spec"]["renewTime"],
                    },
                }
                self._lease = await self._client.update(leases, renewed)
            else:
                self._lease = await self._client.create(leases, fresh, LEASE_NAMESPACE)
        except REQUEST_ERRORS as error:
            self._lease = None
            log.debug("lease of %s not renewed: %s", name, error)
            if isinstance(error, StatusError) and error.code == 409:
                try:
                    self._lease = await self._client.get(leases, name, LEASE_NAMESPACE)
                except REQUEST_ERRORS as refused:
                    log.debug("lease of %s: %s", name, refused)

    async def keep_fresh(self) -> None:
        """The lease, and the status if it is time or something changed: here, or there,
        where somebody may have written that this node is not heard of. Raises
        StatusError.
        """
        await self.renew_lease()
        if self._asks_runtime:
            await self._ask_runtime()
        if self._gone:
            return
        await self._note_pod_cidr()
        old = self.node.get("status") or {}
        seen = await self._look()
        due = self._clock.now() - self._last_report >= STATUS_REPORT_FREQUENCY
        if not due and self._is_known(old, seen):
            return
        if node_status_has_changed(old, self._status(old, seen)) or due:
            await self.report_status()
        else:
            self._known = old, seen

    def _is_known(self, status: Object, seen: Seen) -> bool:
        """Whether the same was seen last time, and the same status said it all: what it
        would be now is worked out only to be compared, and thousands of nodes do so.
        """
        if self._known is None:
            return False
        known, seen_before = self._known
        return known is status and seen_before == seen
