"""Making the slices of a Service say what its pods are, with as few writes as possible.

Pods with the same ports share slices, at most 100 endpoints to each. What is already in a slice stays there;
what is new first fills slices that have to be written anyway, then one unchanged slice with just enough room,
then new slices. Nothing is ever moved to pack slices better: a write of a slice is sent to every node.

A Service without endpoints keeps one empty slice, so that a reader can tell *none* from *not looked yet*.

Upstream: `endpointslice/reconciler.go` (`Reconciler`, `reconcileByAddressType`, `reconcileByPortMapping`,
`finalize`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.indexer import Indexer
from lifecycle.client.rest import Client
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.endpointslice.endpointslice_tracker import EndpointSliceTracker
from lifecycle.controllers.endpointslice.owned_slices import LABEL_MANAGED_BY, LABEL_SERVICE_NAME, create_slices
from lifecycle.controllers.endpointslice.pod_endpoints import (
    address_types_for_service,
    endpoint_ports,
    pod_to_endpoint,
)
from lifecycle.controllers.endpointslice.traffic_distribution import hints_for
from lifecycle.controllers.fnv import fnv128a
from lifecycle.controllers.go_dump import dump_for_hash
from lifecycle.controllers.keyed_worker import RetryError
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import new_controller_ref
from lifecycle.controllers.service_pods import (
    IS_HEADLESS_SERVICE,
    LAST_CHANGE_TRIGGER_TIME,
    is_service_ip_set,
    should_pod_be_in_endpoints,
)

MAX_ENDPOINTS_PER_SLICE = 100
CONTROLLER_NAME = "endpointslice-controller.k8s.io"
RESERVED_LABELS = frozenset({LABEL_SERVICE_NAME, LABEL_MANAGED_BY, IS_HEADLESS_SERVICE})


@dataclass(slots=True)
class Changes:
    """What is to be written."""

    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)


@dataclass(slots=True)
class _Wanted:
    """The endpoints that share ports, by what identifies them."""

    ports: list[Object]
    endpoints: dict[tuple[str, ...], Object] = field(default_factory=dict)


class Reconciler:
    """Computes and writes the slices of one Service at a time."""

    def __init__(self, client: Client, nodes: Indexer, tracker: EndpointSliceTracker) -> None:
        self._client = client
        self._nodes = nodes
        self._tracker = tracker

    async def reconcile(
        self, service: Object, pods: Sequence[Object], existing: Sequence[Object], trigger_time: str
    ) -> None:
        """Write what differs. Raises StatusError, and RetryError if a pod's node is not known (yet)."""
        types = address_types_for_service(service)
        missing: list[str] = []
        for address_type in types:
            slices = [s for s in existing if s["addressType"] == address_type]
            changes, missing_nodes = self.reconcile_by_address_type(service, pods, slices, address_type)
            missing += missing_nodes
            await self._finalize(service, changes, trigger_time)
        stray = Changes(delete=[s for s in existing if s["addressType"] not in types])
        await self._finalize(service, stray, trigger_time)
        if missing:
            raise RetryError(missing[0])

    def reconcile_by_address_type(
        self, service: Object, pods: Sequence[Object], existing: Sequence[Object], address_type: str
    ) -> tuple[Changes, list[str]]:
        """What to write for one address type, and complaints about pods on unknown nodes."""
        wanted, missing = self._wanted(service, pods, address_type)
        changes = Changes()
        by_ports: dict[bytes, list[Object]] = {}
        for endpoint_slice in existing:
            owners = endpoint_slice["metadata"].get("ownerReferences") or ()
            if any(ref["uid"] == service["metadata"]["uid"] for ref in owners):
                by_ports.setdefault(port_map_key(endpoint_slice.get("ports") or []), []).append(endpoint_slice)
            else:
                changes.delete.append(endpoint_slice)
        for key, group in wanted.items():
            _reconcile_by_port_mapping(service, by_ports.get(key, []), group, address_type, changes)
        for key, slices in by_ports.items():
            if key not in wanted:
                changes.delete += slices
        if len(changes.delete) == len(existing) and not changes.create:
            placeholder = new_endpoint_slice(service, None, address_type)
            if len(changes.delete) == 1 and _same_placeholder(changes.delete[0], placeholder):
                changes.delete.clear()
            else:
                changes.create.append(placeholder)
        return changes, missing

    def _wanted(
        self, service: Object, pods: Sequence[Object], address_type: str
    ) -> tuple[dict[bytes, _Wanted], list[str]]:
        wanted: dict[bytes, _Wanted] = {}
        missing: list[str] = []
        distribution = service["spec"].get("trafficDistribution")
        for pod in pods:
            if not should_pod_be_in_endpoints(pod, include_terminating=True):
                continue
            ports = endpoint_ports(service, pod)
            group = wanted.setdefault(port_map_key(ports), _Wanted(in_order(ports)))
            node = self._nodes.get_by_key(pod["spec"].get("nodeName", ""))
            if node is None and not service["spec"].get("publishNotReadyAddresses"):
                name = pod["spec"].get("nodeName", "")
                key = meta_namespace_key(service)
                missing.append(f"skipping Pod {pod['metadata']['name']} for Service {key}: Node {name} Not Found")
                continue
            endpoint = pod_to_endpoint(pod, node, service, address_type)
            if endpoint["addresses"]:
                hints = hints_for(endpoint, distribution)
                if hints:
                    endpoint["hints"] = hints
                group.endpoints[_identity(endpoint)] = endpoint
        return wanted, missing

    async def _finalize(self, service: Object, changes: Changes, trigger_time: str) -> None:
        """Write. A slice to create and one to delete become one update."""
        slices = resource("endpointslices.discovery.k8s.io")
        key, namespace = meta_namespace_key(service), service["metadata"]["namespace"]
        deletes: list[Object] = []
        for doomed in changes.delete:
            owners = doomed["metadata"].get("ownerReferences") or ()
            ours = any(ref["uid"] == service["metadata"]["uid"] for ref in owners)
            if changes.create and ours and changes.create[-1]["addressType"] == doomed["addressType"]:
                reused = changes.create.pop()
                reused["metadata"]["name"] = doomed["metadata"]["name"]
                changes.update.append(reused)
            else:
                deletes.append(doomed)
        if "deletionTimestamp" not in service["metadata"]:
            for new in changes.create:
                _set_trigger_time(new, trigger_time)
            if not await create_slices(self._client, self._tracker, key, changes.create, namespace):
                return
        for changed in changes.update:
            _set_trigger_time(changed, trigger_time)
            self._tracker.update(key, await self._client.update(slices, changed))
        for doomed in deletes:
            await self._client.delete(slices, doomed["metadata"]["name"], namespace)
            self._tracker.expect_deletion(key, doomed)


def _reconcile_by_port_mapping(
    service: Object, existing: Sequence[Object], wanted: _Wanted, address_type: str, changes: Changes
) -> None:
    """Share out the endpoints of one set of ports."""
    left = dict(wanted.endpoints)
    updates: list[Object] = []
    unchanged: list[Object] = []
    for endpoint_slice in existing:
        old = endpoint_slice.get("endpoints") or []
        kept = [left.pop(identity) for identity in map(_identity, old) if identity in left]
        if old and not kept:
            changes.delete.append(endpoint_slice)
        elif kept != old or _labels_changed(endpoint_slice, service):
            copy = mutable_copy(endpoint_slice)
            copy["endpoints"] = kept
            copy["metadata"]["labels"] = endpoint_slice_labels(service)
            updates.append(copy)
        else:
            unchanged.append(endpoint_slice)
    rest = list(left.values())
    for copy in sorted(updates, key=lambda s: -len(s["endpoints"])):
        room = MAX_ENDPOINTS_PER_SLICE - len(copy["endpoints"])
        copy["endpoints"] += rest[:room]
        rest = rest[room:]
    changes.update += updates
    while rest:
        target = _slice_to_fill(unchanged, len(rest)) if len(rest) < MAX_ENDPOINTS_PER_SLICE else None
        if target is not None:
            unchanged.remove(target)
            copy = mutable_copy(target)
            copy["endpoints"] = [*(copy.get("endpoints") or ()), *rest]
            changes.update.append(copy)
            return
        new = new_endpoint_slice(service, wanted.ports, address_type)
        new["endpoints"], rest = rest[:MAX_ENDPOINTS_PER_SLICE], rest[MAX_ENDPOINTS_PER_SLICE:]
        changes.create.append(new)


def _slice_to_fill(slices: Sequence[Object], count: int) -> Object | None:
    """The fullest slice that has room for all of them. Upstream: `utils.go` (`getSliceToFill`)."""
    sizes = {number: len(s.get("endpoints") or ()) for number, s in enumerate(slices)}
    fits = [number for number, size in sizes.items() if size + count <= MAX_ENDPOINTS_PER_SLICE]
    return slices[max(fits, key=lambda number: sizes[number])] if fits else None


def port_map_key(ports: Sequence[Object]) -> bytes:
    """Equal for equal sets of ports."""
    return b",".join(sorted(orjson.dumps(port, option=orjson.OPT_SORT_KEYS) for port in ports))


def in_order(ports: list[Object]) -> list[Object]:
    """Ports as a slice lists them: by the hash of their printed form. Upstream: `portsInOrder`."""
    if len(ports) < 2:
        return ports
    return sorted(ports, key=lambda port: fnv128a(dump_for_hash("discovery/v1.EndpointPort", port).encode()))


def _identity(endpoint: Object) -> tuple[str, ...]:
    """What makes two endpoints the same one in different states: addresses, host name and the pod's name.

    A pod that comes back under its name and address stays in its place. Upstream: `util/endpointset.go` (`hashEndpoint`).
    """
    pod = endpoint.get("targetRef") or {}
    addresses = ",".join(sorted(endpoint["addresses"]))
    return addresses, endpoint.get("hostname", ""), pod.get("namespace", ""), pod.get("name", "")


def endpoint_slice_labels(service: Object) -> dict[str, str]:
    """The Service's own labels and the three that say whose slice it is."""
    labels = {k: v for k, v in (service["metadata"].get("labels") or {}).items() if k not in RESERVED_LABELS}
    if not is_service_ip_set(service):
        labels[IS_HEADLESS_SERVICE] = ""
    return {**labels, LABEL_MANAGED_BY: CONTROLLER_NAME, LABEL_SERVICE_NAME: service["metadata"]["name"]}


def _labels_changed(endpoint_slice: Object, service: Object) -> bool:
    """Whether the Service's own labels differ from those copied to the slice."""
    mine = {k: v for k, v in (endpoint_slice["metadata"].get("labels") or {}).items() if k not in RESERVED_LABELS}
    theirs = {k: v for k, v in (service["metadata"].get("labels") or {}).items() if k not in RESERVED_LABELS}
    return mine != theirs


def new_endpoint_slice(service: Object, ports: list[Object] | None, address_type: str) -> Object:
    """A slice with no endpoints yet; without ports it is the placeholder of a Service that has none."""
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "generateName": f"{service['metadata']['name']}-",
            "namespace": service["metadata"]["namespace"],
            "labels": endpoint_slice_labels(service),
            "ownerReferences": [new_controller_ref({"kind": "Service", "apiVersion": "v1", **service})],
        },
        "addressType": address_type,
        "endpoints": None,
        "ports": ports,
    }


def _same_placeholder(existing: Object, placeholder: Object) -> bool:
    return (
        not existing.get("endpoints")
        and not existing.get("ports")
        and existing["metadata"].get("labels") == placeholder["metadata"]["labels"]
    )


def _set_trigger_time(endpoint_slice: Object, trigger_time: str) -> None:
    annotations = endpoint_slice["metadata"].setdefault("annotations", {})
    if trigger_time:
        annotations[LAST_CHANGE_TRIGGER_TIME] = trigger_time
    else:
        annotations.pop(LAST_CHANGE_TRIGGER_TIME, None)
    if not annotations:
        del endpoint_slice["metadata"]["annotations"]
