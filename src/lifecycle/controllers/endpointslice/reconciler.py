"""Making the slices of a Service say what its pods are, with as few writes as possible.

Pods with the same ports share slices, at most 100 endpoints to each. What is already in
a slice stays there; what is new first fills slices that have to be written anyway, then
one unchanged slice with just enough room, then new slices. Nothing is ever moved to
pack slices better: a write of a slice is sent to every node.

A Service without endpoints keeps one empty slice, so that a reader can tell *none* from
*not looked yet*.

Upstream: `endpointslice/reconciler.go` (`Reconciler`, `reconcileByAddressType`,
`reconcileByPortMapping`, `finalize`), `util/controller_utils.go`
(`EndpointsEqualBeyondHash`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.indexer import Indexer
from lifecycle.client.rest import Client
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.endpointslice.endpointslice_tracker import (
    EndpointSliceTracker,
)
from lifecycle.controllers.endpointslice.owned_slices import create_slices
from lifecycle.controllers.endpointslice.pod_endpoints import (
    address_types_for_service,
    endpoint_ports,
    pod_to_endpoint,
)
from lifecycle.controllers.endpointslice.service_slices import (
    endpoint_slice_labels,
    in_order,
    is_owned_by,
    is_placeholder,
    labels_changed,
    new_endpoint_slice,
    port_map_key,
)
from lifecycle.controllers.endpointslice.slice_changes import (
    Changes,
    Event,
    endpoints_of,
)
from lifecycle.controllers.endpointslice.topology_cache import (
    TopologyCache,
    wants_topology_hints,
)
from lifecycle.controllers.endpointslice.traffic_distribution import (
    TRAFFIC_DISTRIBUTIONS,
    reconcile_hints,
    remove_hints,
)
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.service_pods import (
    LAST_CHANGE_TRIGGER_TIME,
    should_pod_be_in_endpoints,
)

MAX_ENDPOINTS_PER_SLICE = 100


@dataclass(slots=True)
class _DesiredEndpoints:
    """The endpoints that share ports, by what identifies them."""

    ports: list[Object]
    endpoints: dict[tuple[str, ...], Object] = field(default_factory=dict)


class Reconciler:
    """Computes and writes the slices of one Service at a time."""

    def __init__(
        self,
        client: Client,
        nodes: Indexer,
        tracker: EndpointSliceTracker,
        topology: TopologyCache | None = None,
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._tracker = tracker
        self._topology = topology or TopologyCache()

    async def reconcile(
        self,
        service: Object,
        pods: Sequence[Object],
        existing: Sequence[Object],
        trigger_time: str,
    ) -> tuple[list[Event], list[str]]:
        """Write what differs. What there is to tell about the Service, and what went
        wrong: one family's trouble is not the other's.
        """
        types = address_types_for_service(service)
        key = meta_namespace_key(service)
        events: list[Event] = []
        errors: list[str] = []
        for address_type in types:
            slices = [s for s in existing if s["addressType"] == address_type]
            changes, missing_nodes = self.reconcile_by_address_type(
                service, pods, slices, address_type
            )
            errors += missing_nodes
            events += changes.events
            errors += await self._finalize(service, changes, trigger_time)
        for stray in existing:
            if stray["addressType"] not in types:
                self._topology.remove_hints(key, stray["addressType"])
                errors += await self._delete(service, stray, "error deleting")
        return events, errors

    def reconcile_by_address_type(
        self,
        service: Object,
        pods: Sequence[Object],
        existing: Sequence[Object],
        address_type: str,
    ) -> tuple[Changes, list[str]]:
        """What to write for one address type, and complaints about pods on unknown
        nodes.
        """
        desired_by_port_map, missing = self._desired_endpoints(
            service, pods, address_type
        )
        changes = Changes()
        existing_by_port_map: dict[bytes, list[Object]] = {}
        for endpoint_slice in existing:
            if is_owned_by(endpoint_slice, service):
                existing_by_port_map.setdefault(
                    port_map_key(endpoint_slice.get("ports") or []), []
                ).append(endpoint_slice)
            else:
                changes.delete.append(endpoint_slice)
        for key, desired in desired_by_port_map.items():
            _reconcile_by_port_mapping(
                service,
                existing_by_port_map.get(key, []),
                desired,
                address_type,
                changes,
            )
        for key, slices in existing_by_port_map.items():
            if key not in desired_by_port_map:
                changes.delete += slices
        if len(changes.delete) == len(existing) and not changes.create:
            placeholder = new_endpoint_slice(service, None, address_type)
            if len(changes.delete) == 1 and is_placeholder(
                changes.delete[0], placeholder
            ):
                changes.unchanged += changes.delete
                changes.delete.clear()
            else:
                changes.create.append(placeholder)
        self._set_hints(service, address_type, changes)
        return changes, missing

    def _set_hints(self, service: Object, address_type: str, changes: Changes) -> None:
        """The annotation goes before the field; with neither, there are no hints."""
        key = meta_namespace_key(service)
        if wants_topology_hints(service):
            self._topology.add_hints(key, address_type, changes)
            return
        self._topology.stop_hints(key, address_type, changes)
        distribution = service["spec"].get("trafficDistribution")
        if distribution in TRAFFIC_DISTRIBUTIONS:
            reconcile_hints(distribution, changes)
        else:
            remove_hints(changes)

    def _desired_endpoints(
        self, service: Object, pods: Sequence[Object], address_type: str
    ) -> tuple[dict[bytes, _DesiredEndpoints], list[str]]:
        desired_by_port_map: dict[bytes, _DesiredEndpoints] = {}
        missing: list[str] = []
        for pod in pods:
            if not should_pod_be_in_endpoints(pod, include_terminating=True):
                continue
            ports = endpoint_ports(service, pod)
            port_key = port_map_key(ports)
            group = desired_by_port_map.get(port_key)
            if group is None:
                # once: to put them in order is dear, and most pods have the same
                group = _DesiredEndpoints(in_order(ports))
                desired_by_port_map[port_key] = group
            node = self._nodes.get_by_key(pod["spec"].get("nodeName", ""))
            if node is None and not service["spec"].get("publishNotReadyAddresses"):
                name = pod["spec"].get("nodeName", "")
                key = meta_namespace_key(service)
                missing.append(
                    f"skipping Pod {pod['metadata']['name']} for Service {key}: Node"
                    f" {name} Not Found"
                )
                continue
            endpoint = pod_to_endpoint(pod, node, service, address_type)
            if endpoint["addresses"]:
                group.endpoints[_identity(endpoint)] = endpoint
        return desired_by_port_map, missing

    async def _finalize(
        self, service: Object, changes: Changes, trigger_time: str
    ) -> list[str]:
        """Write, until something goes wrong. A slice to create and one to delete become
        one update.
        """
        slices = resource("endpointslices.discovery.k8s.io")
        key, namespace = meta_namespace_key(service), service["metadata"]["namespace"]
        _recycle(service, changes)
        if "deletionTimestamp" not in service["metadata"]:
            for new in changes.create:
                _set_trigger_time(new, trigger_time)
            try:
                if not await create_slices(
                    self._client, self._tracker, key, changes.create, namespace
                ):
                    return []
            except StatusError as error:
                return [
                    f"failed to create EndpointSlice for Service {key}: {error.message}"
                ]
        for changed in changes.update:
            _set_trigger_time(changed, trigger_time)
            try:
                self._tracker.update(key, await self._client.update(slices, changed))
            except StatusError as error:
                name = changed["metadata"]["name"]
                return [
                    f"failed to update {name} EndpointSlice for Service {key}:"
                    f" {error.message}"
                ]
        for doomed in changes.delete:
            problem = await self._delete(service, doomed, "failed to delete")
            if problem:
                return problem
        return []

    async def _delete(self, service: Object, doomed: Object, failure: str) -> list[str]:
        key, meta = meta_namespace_key(service), doomed["metadata"]
        try:
            await self._client.delete(
                resource("endpointslices.discovery.k8s.io"),
                meta["name"],
                meta["namespace"],
            )
        except StatusError as error:
            return [
                f"{failure} {meta['name']} EndpointSlice for Service {key}:"
                f" {error.message}"
            ]
        self._tracker.expect_deletion(key, doomed)
        return []


def _recycle(service: Object, changes: Changes) -> None:
    for doomed in list(changes.delete):
        if not changes.create:
            return
        if changes.create[-1]["addressType"] == doomed["addressType"] and is_owned_by(
            doomed, service
        ):
            reused = changes.create.pop()
            reused["metadata"]["name"] = doomed["metadata"]["name"]
            changes.delete.remove(doomed)
            changes.update.append(reused)


def _reconcile_by_port_mapping(
    service: Object,
    existing: Sequence[Object],
    desired: _DesiredEndpoints,
    address_type: str,
    changes: Changes,
) -> None:
    """Share out the endpoints of one set of ports."""
    desired_set = dict(desired.endpoints)
    updates: list[Object] = []
    unchanged: list[Object] = []
    for endpoint_slice in existing:
        old = endpoints_of(endpoint_slice)
        kept = [
            (e, desired_set.pop(identity))
            for e in old
            if (identity := _identity(e)) in desired_set
        ]
        differs = len(kept) != len(old) or any(
            not _same_beyond_identity(*pair) for pair in kept
        )
        if differs and not kept:
            changes.delete.append(endpoint_slice)
        elif differs or labels_changed(endpoint_slice, service):
            copy = mutable_copy(endpoint_slice)
            if differs:
                copy["endpoints"] = [new for _, new in kept]
            copy["metadata"]["labels"] = endpoint_slice_labels(service)
            updates.append(copy)
        else:
            unchanged.append(endpoint_slice)
    rest = list(desired_set.values())
    for copy in sorted(updates, key=lambda s: -len(endpoints_of(s))):
        room = max(0, MAX_ENDPOINTS_PER_SLICE - len(endpoints_of(copy)))
        copy["endpoints"] = [*endpoints_of(copy), *rest[:room]]
        rest = rest[room:]
    changes.update += updates
    while rest:
        target = (
            _slice_to_fill(unchanged, len(rest))
            if len(rest) < MAX_ENDPOINTS_PER_SLICE
            else None
        )
        if target is not None:
            unchanged.remove(target)
            copy = mutable_copy(target)
            copy["endpoints"] = [*endpoints_of(copy), *rest]
            changes.update.append(copy)
            break
        new = new_endpoint_slice(service, desired.ports, address_type)
        new["endpoints"], rest = (
            rest[:MAX_ENDPOINTS_PER_SLICE],
            rest[MAX_ENDPOINTS_PER_SLICE:],
        )
        changes.create.append(new)
    changes.unchanged += unchanged


def _slice_to_fill(slices: Sequence[Object], count: int) -> Object | None:
    """The fullest slice that has room for all of them. Upstream: `utils.go`
    (`getSliceToFill`).
    """
    sizes = {number: len(endpoints_of(s)) for number, s in enumerate(slices)}
    fits = [
        number
        for number, size in sizes.items()
        if size + count <= MAX_ENDPOINTS_PER_SLICE
    ]
    return slices[max(fits, key=lambda number: sizes[number])] if fits else None


def _identity(endpoint: Object) -> tuple[str, ...]:
    """What makes two endpoints the same one in different states: addresses, host name
    and the pod's name.

    A pod that comes back under its name and address stays in its place. Upstream:
    `util/endpointset.go` (`hashEndpoint`).
    """
    pod = endpoint.get("targetRef") or {}
    addresses = ",".join(sorted(endpoint["addresses"]))
    return (
        addresses,
        endpoint.get("hostname", ""),
        pod.get("namespace", ""),
        pod.get("name", ""),
    )


def _same_beyond_identity(old: Object, new: Object) -> bool:
    """Whether an endpoint is as it was. Its hints are decided later, for all endpoints
    together.
    """
    fields = ("nodeName", "zone", "conditions")
    return all(old.get(key) == new.get(key) for key in fields) and _pod_of(
        old
    ) == _pod_of(new)


def _pod_of(endpoint: Object) -> Object:
    """The pod's reference without its version, which some older controllers wrote
    there.
    """
    return {
        key: value
        for key, value in (endpoint.get("targetRef") or {}).items()
        if key != "resourceVersion"
    }


def _set_trigger_time(endpoint_slice: Object, trigger_time: str) -> None:
    annotations = endpoint_slice["metadata"].setdefault("annotations", {})
    if trigger_time:
        annotations[LAST_CHANGE_TRIGGER_TIME] = trigger_time
    else:
        annotations.pop(LAST_CHANGE_TRIGGER_TIME, None)
    if not annotations:
        del endpoint_slice["metadata"]["annotations"]
