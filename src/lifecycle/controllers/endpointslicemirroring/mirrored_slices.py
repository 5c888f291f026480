"""What the slices of hand-made Endpoints should be, and what has to be written for
that.

A subset becomes one slice for each family of addresses it has. An address in the list
of those not ready stays there with `ready: false`. At most a thousand addresses of a
subset are mirrored, and nothing is spread over several slices: this is a bridge, not a
second home.

Upstream: `pkg/controller/endpointslicemirroring/reconciler.go` (`reconcile`,
`reconcileByPortMapping`), `reconciler_helpers.go` (`desiredCalc`, `recycleSlices`),
`utils.go` (`newEndpointSlice`, `addressToEndpoint`), v1.36. Left out: metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lifecycle.api import fast_json
from lifecycle.api.canonical_ip import canonical_ip
from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice.owned_slices import (
    LABEL_MANAGED_BY,
    LABEL_SERVICE_NAME,
)
from lifecycle.controllers.endpointslice.service_slices import in_order, port_map_key
from lifecycle.controllers.owner_references import new_controller_ref

CONTROLLER_NAME = "endpointslicemirroring-controller.k8s.io"
LABEL_SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LAST_CHANGE_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
MAX_ENDPOINTS_PER_SUBSET = 1000

Key = tuple[str, bytes]
"""Address type and ports: what the endpoints of one slice have in common."""


@dataclass(slots=True)
class Changes:
    """What is to be written, and how many addresses could not be mirrored, for which of
    two reasons.
    """

    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    invalid: int = 0
    too_many: int = 0


def should_mirror(endpoints: Object) -> bool:
    """Not if they say so themselves, nor if they were only ever a lock for leader
    election.
    """
    meta = endpoints["metadata"]
    skip = (meta.get("labels") or {}).get(LABEL_SKIP_MIRROR) == "true"
    return not skip and LEADER not in (meta.get("annotations") or {})


def mirror(endpoints: Object, existing: Sequence[Object]) -> Changes:
    """What to write so that `existing`, the slices made from these Endpoints before,
    say the same as they do.
    """
    changes = Changes()
    desired = _desired_endpoints(endpoints, changes)
    by_key: dict[Key, list[Object]] = {}
    for endpoint_slice in existing:
        by_key.setdefault(
            _key(endpoint_slice["addressType"], endpoint_slice.get("ports") or []), []
        ).append(endpoint_slice)
    for key, (ports, slice_endpoints) in desired.items():
        before = by_key.pop(key, [])
        changes.delete += before[1:]
        new = new_endpoint_slice(endpoints, ports, key[0], slice_endpoints)
        if not before:
            changes.create.append(new)
        elif not _is_unchanged(before[0], new):
            changes.update.append(_in_place_of(new, before[0]))
    for left in by_key.values():
        changes.delete += left
    _recycle(changes)
    return changes


def _desired_endpoints(
    endpoints: Object, changes: Changes
) -> dict[Key, tuple[list[Object], list[Object]]]:
    desired: dict[Key, tuple[list[Object], list[Object]]] = {}
    for subset in endpoints.get("subsets") or ():
        ports = in_order([_port(port) for port in subset.get("ports") or ()])
        ready, not_ready = (
            subset.get("addresses") or [],
            subset.get("notReadyAddresses") or [],
        )
        added = invalid = 0
        for address, is_ready in [
            *((a, True) for a in ready),
            *((a, False) for a in not_ready),
        ]:
            if added >= MAX_ENDPOINTS_PER_SUBSET:
                break
            endpoint = address_to_endpoint(address, is_ready)
            if endpoint is None:
                invalid += 1
                continue
            added += 1
            family = "IPv6" if ":" in endpoint["addresses"][0] else "IPv4"
            desired.setdefault(_key(family, ports), (ports, []))[1].append(endpoint)
        changes.invalid += invalid
        changes.too_many += len(ready) + len(not_ready) - added - invalid
    return desired


def _key(address_type: str, ports: Sequence[Object]) -> Key:
    return address_type, port_map_key(ports)


def _port(port: Object) -> Object:
    known = {
        "name": port.get("name", ""),
        "protocol": port.get("protocol", "TCP"),
        "port": port["port"],
    }
    return (
        {**known, "appProtocol": port["appProtocol"]}
        if "appProtocol" in port
        else known
    )


def address_to_endpoint(address: Object, ready: bool) -> Object | None:
    """One address of Endpoints as an endpoint; None if it is not an IP address."""
    ip = canonical_ip(address["ip"])
    if not ip:
        return None
    endpoint: Object = {"addresses": [ip], "conditions": {"ready": ready}}
    for key in ("hostname", "targetRef", "nodeName"):
        if address.get(key):
            endpoint[key] = address[key]
    return endpoint


def new_endpoint_slice(
    endpoints: Object,
    ports: list[Object],
    address_type: str,
    slice_endpoints: list[Object],
) -> Object:
    """A slice made from Endpoints: their labels and annotations, but for those that are
    about themselves.
    """
    meta = endpoints["metadata"]
    labels = {
        **(meta.get("labels") or {}),
        LABEL_SERVICE_NAME: meta["name"],
        LABEL_MANAGED_BY: CONTROLLER_NAME,
    }
    dropped = (LAST_APPLIED, LAST_CHANGE_TRIGGER_TIME)
    annotations = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key not in dropped
    }
    metadata: Object = {
        "generateName": f"{meta['name']}-",
        "namespace": meta["namespace"],
        "labels": labels,
        "ownerReferences": [
            new_controller_ref({"kind": "Endpoints", "apiVersion": "v1", **endpoints})
        ],
    }
    if annotations:
        metadata["annotations"] = annotations
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": metadata,
        "addressType": address_type,
        "endpoints": slice_endpoints,
        "ports": ports or None,  # a nil slice in Go
    }


def _is_unchanged(existing: Object, new: Object) -> bool:
    def content(endpoint_slice: Object) -> tuple[object, ...]:
        meta = endpoint_slice["metadata"]
        ends = sorted(
            fast_json.dumps(endpoint, option=fast_json.OPT_SORT_KEYS)
            for endpoint in endpoint_slice.get("endpoints") or ()
        )
        return ends, meta.get("labels") or {}, meta.get("annotations") or {}

    return content(existing) == content(new)


def _in_place_of(new: Object, existing: Object) -> Object:
    """`new` in the place of `existing`."""
    metadata = {
        key: value for key, value in new["metadata"].items() if key != "generateName"
    }
    return {**new, "metadata": {**metadata, "name": existing["metadata"]["name"]}}


def _recycle(changes: Changes) -> None:
    """A slice to delete and one to create, of the same family, are one to update."""
    for doomed in list(changes.delete):
        new = next(
            (n for n in changes.create if n["addressType"] == doomed["addressType"]),
            None,
        )
        if new is not None:
            changes.create.remove(new)
            changes.delete.remove(doomed)
            name = doomed["metadata"]["name"]  # it still says how names are made
            metadata = {**new["metadata"], "name": name}
            changes.update.append({**new, "metadata": metadata})
