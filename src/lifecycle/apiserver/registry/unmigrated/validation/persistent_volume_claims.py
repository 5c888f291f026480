"""Persistent volume claims: on their own, and as templates in pods and StatefulSets.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePersistentVolumeClaimSpec`,
`ValidatePersistentVolumeClaimUpdate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.differences import internal_difference
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.unmigrated.validation.compute_resources import (
    NOT_POSITIVE,
)

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def positive(amount: str, path: str) -> list[FieldError]:
    """A quantity above zero."""
    return (
        []
        if parse_quantity(amount) > parse_quantity("0")
        else [invalid(path, amount, NOT_POSITIVE)]
    )


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
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    for field in ("dataSource", "dataSourceRef"):
        source = spec.get(field)
        if source is not None:
            errors += [
                required(f"{path}.{field}.{key}")
                for key in ("name", "kind")
                if not source.get(key)
            ]
            group = source.get("apiGroup") or ""
            if not group and source.get("kind", "") != "PersistentVolumeClaim":
                why = (
                    "must be 'PersistentVolumeClaim' when referencing the default"
                    " apiGroup"
                )
                errors.append(invalid(f"{path}.{field}", source.get("kind", ""), why))
            if group:
                errors += [
                    invalid(f"{path}.{field}.apiGroup", group, why)
                    for why in content.dns1123_subdomain(group)
                ]
            namespace = source.get("namespace")
            if namespace:
                errors += [
                    invalid(f"{path}.{field}.namespace", namespace, why)
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
            source.get(key) != reference.get(key)
            for key in ("apiGroup", "kind", "name")
        ):
            errors.append(invalid(path, {}, "must match dataSourceRef"))
    class_ = spec.get("volumeAttributesClassName")
    if class_:
        errors += [
            invalid(f"{path}.volumeAttributesClassName", class_, why)
            for why in content.dns1123_subdomain(class_)
        ]
    return errors


def validate_claim(claim: Object) -> list[FieldError]:
    """A new claim."""
    errors = validate_core_object_meta(
        claim.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + validate_claim_spec(claim.get("spec") or {}, "spec")


def validate_claim_update(new: Object, old: Object) -> list[FieldError]:
    """Only the size of a bound claim may change, and the volume be filled in."""
    errors = validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate_claim(new)
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
    if _said(spec) != _said(before):
        shown = internal_difference("core/v1.PersistentVolumeClaimSpec", before, spec)
        why = (
            "spec is immutable after creation except resources.requests and"
            " volumeAttributesClassName for bound claims"
        )
        errors.append(forbidden("spec", f"{why}\n{shown}"))
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
            invalid("volumeMode", (new.get("spec") or {}).get("volumeMode"), IMMUTABLE)
        )
    wanted, applied = (
        (new.get("spec") or {}).get("volumeAttributesClassName"),
        (old.get("status") or {}).get("currentVolumeAttributesClassName"),
    )
    if (
        applied is not None
        and not wanted
        and wanted != (old.get("spec") or {}).get("volumeAttributesClassName")
    ):
        what = "nil" if wanted is None else "empty string"
        why = (
            f"update to {what} is forbidden when"
            " status.currentVolumeAttributesClassName is not nil"
        )
        errors.append(forbidden("spec.volumeAttributesClassName", why))
    return errors


def _said(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if value is not None}
