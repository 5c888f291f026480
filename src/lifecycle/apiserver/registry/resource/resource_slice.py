"""ResourceSlices: the devices that a driver has on a node.

Upstream: `pkg/registry/resource/resourceslice/strategy.go`,
`pkg/apis/resource/v1/{defaults,conversion}.go`,
`pkg/printers/internalversion/printers.go` (`printResourceSlice`), v1.36. Left out:
validation beyond the metadata.
"""

from __future__ import annotations

from lifecycle.api.clock import Clock
from lifecycle.api.human_duration import age
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.field_labels import NAME as METADATA_NAME
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(resource_slice: Object) -> None:
    """A ResourceSlice: a taint is as old as its first appearance."""
    for device in (resource_slice.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = Clock().timestamp()


def _selectable_fields(slice_: Object) -> dict[str, str]:
    spec = slice_.get("spec") or {}
    return {
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.driver": spec.get("driver", ""),
    }


FIELD_LABELS = FieldLabels((METADATA_NAME, *_selectable_fields({})), _selectable_fields)


def print_resource_slice(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get resourceslices`."""
    spec = obj.get("spec") or {}
    pool = (spec.get("pool") or {}).get("name", "")
    return [
        obj["metadata"]["name"],
        spec.get("nodeName") or "",
        spec.get("driver", ""),
        pool,
        age(obj, now),
    ]


_SPEC = "resource/v1.ResourceSliceSpec"

PRINTER = Printer(
    (
        NAME,
        Column("Node", field(_SPEC, "nodeName")),
        Column("Driver", field(_SPEC, "driver")),
        Column("Pool", field("resource/v1.ResourcePool", "name")),
        AGE,
    ),
    print_resource_slice,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    returns_deleted_object=True,
    generation=Generation.SPEC,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
