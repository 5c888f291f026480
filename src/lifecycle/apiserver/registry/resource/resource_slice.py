"""ResourceSlices: the devices that a driver has on a node.

Upstream: `pkg/registry/resource/resourceslice/strategy.go`,
`pkg/apis/resource/v1/{defaults,conversion}.go`,
`pkg/apis/resource/validation/validation.go` (`ValidateResourceSlice` …),
`pkg/printers/internalversion/printers.go` (`printResourceSlice`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.loop.clock import Clock
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.resource.slice_validation import validate_slice_spec
from lifecycle.apiserver.registry.rest.field_labels import NAME as METADATA_NAME
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(resource_slice: Object) -> None:
    """A ResourceSlice: a taint is as old as its first appearance."""
    for device in (resource_slice.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = Clock().timestamp()


_DISABLED_ATTRIBUTES = ("bools", "ints", "strings", "versions")
"""Behind `DRAListTypeAttributes`."""


def drop_disabled_fields(resource_slice: Object) -> None:
    """Lists as attributes, and what a device means for a node's allocatable resources:
    1.36 has both switched off.
    """
    spec = resource_slice.get("spec") or {}
    if not any(map(_has_disabled_fields, spec.get("devices") or ())):
        return
    devices = []
    for device in spec["devices"]:
        device = {**device}
        device.pop("nodeAllocatableResourceMappings", None)
        if device.get("attributes"):
            device["attributes"] = {
                name: {
                    key: one
                    for key, one in attribute.items()
                    if key not in _DISABLED_ATTRIBUTES
                }
                for name, attribute in device["attributes"].items()
            }
        devices.append(device)
    resource_slice["spec"] = {**spec, "devices": devices}


def _has_disabled_fields(device: Object) -> bool:
    return "nodeAllocatableResourceMappings" in device or any(
        key in attribute
        for attribute in (device.get("attributes") or {}).values()
        for key in _DISABLED_ATTRIBUTES
    )


def validate(resource_slice: Object) -> list[FieldError]:
    """A new slice."""
    errors = validate_core_object_meta(
        resource_slice.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    return errors + validate_slice_spec(resource_slice.get("spec") or {}, None, "spec")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Driver, pool and node stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + validate_slice_spec(
        new.get("spec") or {}, old.get("spec") or {}, "spec"
    )


def warnings_on_create(resource_slice: Object) -> list[str]:
    """Of capitals in the driver's name."""
    driver = (resource_slice.get("spec") or {}).get("driver", "")
    if driver == driver.lower():
        return []
    return [
        "spec.driver: driver names should be lowercase;"
        f" {go_quote(driver)} contains uppercase characters"
    ]


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
    prepare_for_create=drop_disabled_fields,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=lambda new, old: drop_disabled_fields(new),
    validate_update=validate_update,
    warnings_on_update=lambda new, old: warnings_on_create(new),
    returns_deleted_object=True,
    generation=Generation.SPEC,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
