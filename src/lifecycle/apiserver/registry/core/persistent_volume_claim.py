"""Persistent volume claims: on their own, and as templates in pods and StatefulSets.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_PersistentVolumeClaim`),
`pkg/registry/core/persistentvolumeclaim/strategy.go`,
`pkg/apis/core/validation/validation.go` (`ValidatePersistentVolumeClaim` …),
`pkg/printers/internalversion/printers.go` (`printPersistentVolumeClaim`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_claim_spec_defaults
from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    named,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.quantity import canonical_quantity, parse_quantity
from lifecycle.api.resource_names import is_native_resource
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.data_sources import prepare_data_sources
from lifecycle.apiserver.registry.core.pod.resources import (
    NOT_POSITIVE,
    validate_quantity,
)
from lifecycle.apiserver.registry.core.volumes_and_claims import (
    access_modes,
    beta_class_warnings,
    fractional_storage_warnings,
    or_unset,
    phase,
    storage_class_name,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.differences import internal_difference
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(claim: Object) -> None:
    """Phase and mode."""
    status = claim.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    set_claim_spec_defaults(claim.setdefault("spec", {}))
    round_up_resource_list(status.get("capacity"))


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(claim: Object) -> None:
    """Pending; one data source, two spellings."""
    claim["status"] = {"phase": "Pending"}
    if claim.get("spec"):
        prepare_data_sources(claim["spec"], None)


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    if new.get("spec"):
        new["spec"] = dict(new["spec"])
        prepare_data_sources(new["spec"], old.get("spec"))


# --- validation -----------------------------------------------------------------------


ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def validate(claim: Object) -> list[FieldError]:
    """A new claim."""
    errors = validate_core_object_meta(
        claim.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + validate_claim_spec(claim.get("spec") or {}, "spec")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Only the size of a bound claim may change, and the volume be filled in."""
    errors = validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate(new)
    spec, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    old_size = ((before.get("resources") or {}).get("requests") or {}).get(
        "storage", "0"
    )
    if not before.get("volumeName") and spec.get("volumeName"):
        before["volumeName"] = spec["volumeName"]
    if (
        spec.get("storageClassName") is not None
        and before.get("storageClassName") is None
    ):
        spec.pop("storageClassName")
    if (new.get("status") or {}).get("phase") == "Bound":
        requests = (spec.get("resources") or {}).get("requests")
        if requests:
            spec["resources"] = {
                **spec["resources"],
                "requests": {**requests, "storage": old_size},
            }
        spec["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    if _set_fields(spec) != _set_fields(before):
        difference = internal_difference(
            "core/v1.PersistentVolumeClaimSpec", before, spec
        )
        why = (
            "spec is immutable after creation except resources.requests and"
            " volumeAttributesClassName for bound claims"
        )
        errors.append(forbidden("spec", f"{why}\n{difference}"))
    if parse_quantity(size) < parse_quantity(old_size):
        capacity = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
        if parse_quantity(size) <= parse_quantity(capacity):
            errors.append(
                forbidden(
                    "spec.resources.requests.storage",
                    "field can not be less than status.capacity",
                )
            )
    if (new.get("spec") or {}).get("volumeMode") != (old.get("spec") or {}).get(
        "volumeMode"
    ):
        errors.append(
            invalid(
                "volumeMode",
                named((new.get("spec") or {}).get("volumeMode")),
                IMMUTABLE,
            )
        )
    class_name, applied = (
        (new.get("spec") or {}).get("volumeAttributesClassName"),
        (old.get("status") or {}).get("currentVolumeAttributesClassName"),
    )
    if (
        applied is not None
        and not class_name
        and class_name != (old.get("spec") or {}).get("volumeAttributesClassName")
    ):
        what = "nil" if class_name is None else "empty string"
        why = (
            f"update to {what} is forbidden when"
            " status.currentVolumeAttributesClassName is not nil"
        )
        errors.append(forbidden("spec.volumeAttributesClassName", why))
    return errors


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """What there is, and how far it has grown."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if not (new.get("spec") or {}).get("accessModes"):
        errors.append(required("Spec.accessModes"))
    status = new.get("status") or {}
    for name, amount in (status.get("capacity") or {}).items():
        errors += _basic_amount(amount, f"status.capacity[{name}]")
    here = "status.allocatedResourceStatuses"
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        errors += _validate_resource_key(name, here)
        if state not in _RESIZE_STATES:
            errors.append(not_supported(here, name, _RESIZE_STATES))
    here = "status.allocatedResources"
    for name, amount in (status.get("allocatedResources") or {}).items():
        refused = _validate_resource_key(name, here)
        refused = refused or _basic_amount(amount, f"{here}[{name}]")
        errors += refused or validate_quantity("storage", amount, f"{here}[{name}]")
    return errors


_RESIZE_STATES = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)


def _basic_amount(amount: str, path: str) -> list[FieldError]:
    value = parse_quantity(amount).value()
    return (
        [invalid(path, value, "must be a valid resource quantity")] if value < 0 else []
    )


def _validate_resource_key(name: str, path: str) -> list[FieldError]:
    errors = [invalid(path, name, why) for why in content.qualified_name(name)]
    if errors:
        return errors
    if not is_native_resource(name) or name == "storage":
        return []
    return [not_supported(path, name, ("storage",), plain=True)]


def _set_fields(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if value is not None}


def validate_claim_spec(spec: Object, path: str) -> list[FieldError]:
    """Access modes, a size, and where the volume comes from."""
    errors: list[FieldError] = []
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(
            required(f"{path}.accessModes", "at least 1 access mode is required")
        )
    errors += validate_label_selector(spec.get("selector"), f"{path}.selector")
    errors += validate_access_modes(modes, f"{path}.accessModes")
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        errors.append(required(f"{path}.resources[storage]"))
    else:
        errors += positive(storage, f"{path}.resources[storage]")
    if spec.get("storageClassName"):
        name = spec["storageClassName"]
        errors += [
            invalid(f"{path}.storageClassName", name, why)
            for why in content.dns1123_subdomain(name)
        ]
    mode = spec.get("volumeMode")
    errors += validate_enum(f"{path}.volumeMode", mode, VOLUME_MODES)
    for key in ("dataSource", "dataSourceRef"):
        source = spec.get(key)
        if source is not None:
            errors += [
                required(f"{path}.{key}.{subkey}")
                for subkey in ("name", "kind")
                if not source.get(subkey)
            ]
            group = source.get("apiGroup") or ""
            if not group and source.get("kind", "") != "PersistentVolumeClaim":
                why = (
                    "must be 'PersistentVolumeClaim' when referencing the default"
                    " apiGroup"
                )
                errors.append(invalid(f"{path}.{key}", source.get("kind", ""), why))
            if group:
                errors += [
                    invalid(f"{path}.{key}.apiGroup", group, why)
                    for why in content.dns1123_subdomain(group)
                ]
            namespace = source.get("namespace")
            if namespace:
                errors += [
                    invalid(f"{path}.{key}.namespace", namespace, why)
                    for why in content.dns1123_label(namespace)
                ]
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if (
        source is not None and reference is not None
    ):  # upstream shows a path object here, which prints as {}
        if reference.get("namespace"):
            errors.append(
                invalid(
                    path,
                    {},
                    "may not be specified when dataSourceRef.namespace is specified",
                )
            )
        elif any(
            source.get(subkey) != reference.get(subkey)
            for subkey in ("apiGroup", "kind", "name")
        ):
            errors.append(invalid(path, {}, "must match dataSourceRef"))
    class_ = spec.get("volumeAttributesClassName")
    if class_:
        errors += [
            invalid(f"{path}.volumeAttributesClassName", class_, why)
            for why in content.dns1123_subdomain(class_)
        ]
    return errors


def validate_access_modes(modes: list[str], path: str) -> list[FieldError]:
    """Known ones; and the one for a single pod only alone."""
    errors = [
        not_supported(path, mode, ACCESS_MODES)
        for mode in modes
        if mode not in ACCESS_MODES
    ]
    if "ReadWriteOncePod" in modes and any(
        mode in ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes
    ):
        errors.append(
            forbidden(path, "may not use ReadWriteOncePod with other access modes")
        )
    return errors


def positive(amount: str, path: str) -> list[FieldError]:
    """A quantity above zero."""
    return (
        []
        if parse_quantity(amount) > parse_quantity("0")
        else [invalid(path, amount, NOT_POSITIVE)]
    )


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(claim: Object) -> list[str]:
    """Of the annotation that `storageClassName` has replaced, and half bytes."""
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests")
    return [
        *beta_class_warnings(claim),
        *fractional_storage_warnings(requests, "spec.resources.requests"),
    ]


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- table ----------------------------------------------------------------------------


def print_persistent_volume_claim(claim: Object, now: float) -> Cells:
    """The cells of `kubectl get persistentvolumeclaims`."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    volume = spec.get("volumeName", "")
    return [
        claim["metadata"]["name"],
        phase(claim),
        volume,
        canonical_quantity((status.get("capacity") or {}).get("storage", "0"))
        if volume
        else "",
        access_modes(status.get("accessModes")) if volume else "",
        storage_class_name(claim),
        or_unset(spec.get("volumeAttributesClassName")),
        age(claim, now),
        or_unset(spec.get("volumeMode")),
    ]


_PVC = "core/v1.PersistentVolumeClaim"

PRINTER = Printer(
    (
        NAME,
        Column("Status", field(f"{_PVC}Status", "phase")),
        Column("Volume", field(f"{_PVC}Spec", "volumeName")),
        Column("Capacity", field(f"{_PVC}Status", "capacity")),
        Column("Access Modes", field(f"{_PVC}Status", "accessModes")),
        Column("StorageClass", "StorageClass of the pvc"),
        Column("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
        AGE,
        Column("VolumeMode", field(f"{_PVC}Spec", "volumeMode"), priority=1),
    ),
    print_persistent_volume_claim,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update, validate_status_update
        )
    },
    returns_deleted_object=True,
    printer=PRINTER,
)
