"""What a slice of a Service looks like: its name, labels, owner and ports.

Upstream: `endpointslice/utils.go` (`newEndpointSlice`, `setEndpointSliceLabels`,
`ownedBy`), `util/controller_utils.go` (`NewPortMapKey`, `portsInOrder`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api import fast_json
from lifecycle.api.go.fnv import fnv128a
from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice.owned_slices import (
    LABEL_MANAGED_BY,
    LABEL_SERVICE_NAME,
)
from lifecycle.controllers.go_dump import dump_for_hash
from lifecycle.controllers.owner_references import new_controller_ref
from lifecycle.controllers.service_pods import IS_HEADLESS_SERVICE, is_service_ip_set

CONTROLLER_NAME = "endpointslice-controller.k8s.io"
RESERVED_LABELS = frozenset({LABEL_SERVICE_NAME, LABEL_MANAGED_BY, IS_HEADLESS_SERVICE})


def endpoint_slice_labels(service: Object) -> dict[str, str]:
    """The Service's own labels and the three that say whose slice it is."""
    labels = {
        k: v
        for k, v in (service["metadata"].get("labels") or {}).items()
        if k not in RESERVED_LABELS
    }
    if not is_service_ip_set(service):
        labels[IS_HEADLESS_SERVICE] = ""
    return {
        **labels,
        LABEL_MANAGED_BY: CONTROLLER_NAME,
        LABEL_SERVICE_NAME: service["metadata"]["name"],
    }


def labels_changed(endpoint_slice: Object, service: Object) -> bool:
    """Whether the Service's own labels differ from those copied to the slice."""
    mine = {
        k: v
        for k, v in (endpoint_slice["metadata"].get("labels") or {}).items()
        if k not in RESERVED_LABELS
    }
    theirs = {
        k: v
        for k, v in (service["metadata"].get("labels") or {}).items()
        if k not in RESERVED_LABELS
    }
    return mine != theirs


def new_endpoint_slice(
    service: Object, ports: list[Object] | None, address_type: str
) -> Object:
    """A slice with no endpoints yet; without ports it is the placeholder of a Service
    that has none. An empty list of ports does not survive the wire: it arrives as nil.
    """
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "generateName": f"{service['metadata']['name']}-",
            "namespace": service["metadata"]["namespace"],
            "labels": endpoint_slice_labels(service),
            "ownerReferences": [
                new_controller_ref({"kind": "Service", "apiVersion": "v1", **service})
            ],
        },
        "addressType": address_type,
        "endpoints": None,
        "ports": ports or None,
    }


def is_placeholder(existing: Object, placeholder: Object) -> bool:
    """Whether a slice is the one that stands for *none*, with the labels it should
    have. Upstream: `placeholderSliceCompare`.
    """
    return (
        not existing.get("endpoints")
        and not existing.get("ports")
        and existing["metadata"].get("labels") == placeholder["metadata"]["labels"]
    )


def is_owned_by(endpoint_slice: Object, service: Object) -> bool:
    """Whether a slice is this Service's, not that of an earlier one of its name.
    Upstream: `ownedBy`.
    """
    owner = ("Service", "v1", service["metadata"]["uid"])
    references = endpoint_slice["metadata"].get("ownerReferences") or ()
    return any(
        (ref["kind"], ref["apiVersion"], ref["uid"]) == owner for ref in references
    )


def port_map_key(ports: Sequence[Object]) -> bytes:
    """Equal for equal sets of ports."""
    return b",".join(
        sorted(fast_json.dumps(port, option=fast_json.OPT_SORT_KEYS) for port in ports)
    )


def in_order(ports: list[Object]) -> list[Object]:
    """Ports as a slice lists them: by the hash of their printed form. Upstream:
    `portsInOrder`.
    """
    if len(ports) < 2:
        return ports
    return sorted(
        ports,
        key=lambda port: fnv128a(
            dump_for_hash("discovery/v1.EndpointPort", port).encode()
        ),
    )
