"""Persistent volumes and claims.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePersistentVolumeSpec`, `ValidatePersistentVolumeClaimSpec`,
`ValidatePersistentVolumeClaimUpdate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid, not_supported, required
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.api.validation.compute_resources import NOT_POSITIVE
from lifecycle.api.validation.file_paths import validate_no_backsteps
from lifecycle.api.validation.label_selectors import validate_label_selector
from lifecycle.api.validation.object_meta import IMMUTABLE, validate_core_object_meta, validate_core_object_meta_update
from lifecycle.api.validation.placement import validate_node_selector
from lifecycle.api.validation.pods import differences
from lifecycle.api.validation.volumes import validate_csi_driver_name, validate_host_path, validate_nfs
from lifecycle.api.wire import Object

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_PLAIN = {
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeMode",
    "volumeAttributesClassName",
}


def _positive(amount: str, path: str) -> list[FieldError]:
    return [] if parse_quantity(amount) > parse_quantity("0") else [invalid(path, amount, NOT_POSITIVE)]


def _validate_access_modes(modes: list[str], path: str) -> list[FieldError]:
    errors = [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def validate_claim_spec(spec: Object, path: str) -> list[FieldError]:
    """Access modes, a size, and where the volume comes from."""
    errors: list[FieldError] = []
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    errors += validate_label_selector(spec.get("selector"), f"{path}.selector")
    errors += _validate_access_modes(modes, f"{path}.accessModes")
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        errors.append(required(f"{path}.resources[storage]"))
    else:
        errors += _positive(storage, f"{path}.resources[storage]")
    if spec.get("storageClassName"):
        name = spec["storageClassName"]
        errors += [invalid(f"{path}.storageClassName", name, why) for why in content.dns1123_subdomain(name)]
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    for field in ("dataSource", "dataSourceRef"):
        source = spec.get(field)
        if source is not None:
            errors += [required(f"{path}.{field}.{key}") for key in ("name", "kind") if not source.get(key)]
            group = source.get("apiGroup") or ""
            if not group and source.get("kind", "") != "PersistentVolumeClaim":
                why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
                errors.append(invalid(f"{path}.{field}", source.get("kind", ""), why))
            if group:
                errors += [invalid(f"{path}.{field}.apiGroup", group, why) for why in content.dns1123_subdomain(group)]
            namespace = source.get("namespace")
            if namespace:
                errors += [
                    invalid(f"{path}.{field}.namespace", namespace, why) for why in content.dns1123_label(namespace)
                ]
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is not None:  # upstream shows a path object here, which prints as {}
        if reference.get("namespace"):
            errors.append(invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified"))
        elif any(source.get(key) != reference.get(key) for key in ("apiGroup", "kind", "name")):
            errors.append(invalid(path, {}, "must match dataSourceRef"))
    class_ = spec.get("volumeAttributesClassName")
    if class_:
        errors += [
            invalid(f"{path}.volumeAttributesClassName", class_, why) for why in content.dns1123_subdomain(class_)
        ]
    return errors


def validate_claim(claim: Object) -> list[FieldError]:
    """A new claim."""
    errors = validate_core_object_meta(claim.get("metadata") or {}, True, content.name_is_dns_subdomain)
    return errors + validate_claim_spec(claim.get("spec") or {}, "spec")


def validate_claim_update(new: Object, old: Object) -> list[FieldError]:
    """Only the size of a bound claim may change, and the volume be filled in."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"]) + validate_claim(new)
    spec, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    old_size = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
    if not before.get("volumeName"):
        spec.pop("volumeName", None)
    if spec.get("storageClassName") is not None and before.get("storageClassName") is None:
        spec.pop("storageClassName")
    if (new.get("status") or {}).get("phase") == "Bound":
        for one in (spec, before):
            if one.get("resources"):
                requests = {k: v for k, v in (one["resources"].get("requests") or {}).items() if k != "storage"}
                one["resources"] = {**one["resources"], "requests": requests}
            one.pop("volumeAttributesClassName", None)
    changed = differences(before, spec, "spec")
    if changed:
        shown = "".join(f"  {line}\n" for line in changed)
        why = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        )
        errors.append(forbidden("spec", f"{why}\n{shown}"))
    if parse_quantity(size) < parse_quantity(old_size):
        capacity = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
        if parse_quantity(size) <= parse_quantity(capacity):
            errors.append(forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"))
    if (new.get("spec") or {}).get("volumeMode") != (old.get("spec") or {}).get("volumeMode"):
        errors.append(invalid("volumeMode", (new.get("spec") or {}).get("volumeMode"), IMMUTABLE))
    return errors


def validate_volume(volume: Object) -> list[FieldError]:
    """A new volume: modes, capacity and exactly one source."""
    errors = validate_core_object_meta(volume.get("metadata") or {}, False, content.name_is_dns_subdomain)
    spec = volume.get("spec") or {}
    modes, capacity = spec.get("accessModes") or [], spec.get("capacity") or {}
    if not modes:
        errors.append(required("spec.accessModes"))
    errors += _validate_access_modes(modes, "spec.accessModes")
    if not capacity:
        errors.append(required("spec.capacity"))
    if set(capacity) != {"storage"}:
        errors.append(not_supported("spec.capacity", dict(sorted(capacity.items())) or None, ("storage",)))
    for name, amount in capacity.items():
        errors += _positive(amount, f"spec.capacity[{name}]")
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in RECLAIM_POLICIES:
        errors.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES))
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        if affinity.get("required") is None:
            errors.append(required("spec.nodeAffinity.required", "must specify required node constraints"))
        else:
            errors += validate_node_selector(affinity["required"], "spec.nodeAffinity.required")
    errors += _validate_volume_source(spec, affinity is not None)
    name = spec.get("storageClassName")
    if name:
        errors += [invalid("spec.storageClassName", name, why) for why in content.dns1123_subdomain(name)]
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported("spec.volumeMode", mode, VOLUME_MODES))
    return errors


def _validate_volume_source(spec: Object, has_affinity: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    sources = [key for key, value in spec.items() if key not in _PLAIN and value is not None]
    if not sources:
        return [required("spec", "must specify a volume type")]
    for extra in sources[1:]:
        errors.append(forbidden(f"spec.{extra}", "may not specify more than 1 volume type"))
    kind, source = sources[0], spec[sources[0]]
    if kind == "hostPath":
        errors += validate_host_path(source, "spec.hostPath")
        if source.get("path", "").rstrip("/") == "" and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
            errors.append(
                forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
            )
    elif kind == "nfs":
        errors += validate_nfs(source, "spec.nfs")
    elif kind == "local":
        if not source.get("path"):
            errors.append(required("spec.local.path"))
        else:
            errors += validate_no_backsteps(source["path"], "spec.local.path")
        if not has_affinity:
            errors.append(required("spec.local.nodeAffinity", "Local volume requires node affinity"))
    elif kind == "csi":
        errors += validate_csi_driver_name(source.get("driver", ""), "spec.csi.driver")
        if not source.get("volumeHandle"):
            errors.append(required("spec.csi.volumeHandle"))
        for field in (
            "controllerPublishSecretRef",
            "controllerExpandSecretRef",
            "nodePublishSecretRef",
            "nodeExpandSecretRef",
        ):
            if source.get(field) is not None:
                errors += _validate_secret_reference(source[field], f"spec.csi.{field}")
    return errors


def _validate_secret_reference(reference: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field, rule in (("name", content.dns1123_subdomain), ("namespace", content.dns1123_label)):
        value = reference.get(field, "")
        if not value:
            errors.append(required(f"{path}.{field}"))
        else:
            errors += [invalid(f"{path}.{field}", value, why) for why in rule(value)]
    return errors


def validate_volume_update(new: Object, old: Object) -> list[FieldError]:
    """The source stays; so does the mode."""
    errors = validate_volume(new)
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    changed = differences(
        {k: v for k, v in before.items() if k not in _PLAIN}, {k: v for k, v in spec.items() if k not in _PLAIN}, "spec"
    )
    if changed:
        shown = "".join(f"  {line}\n" for line in changed)
        errors.append(
            forbidden(
                "spec.persistentvolumesource", f"spec.persistentvolumesource is immutable after creation\n{shown}"
            )
        )
    if spec.get("volumeMode") != before.get("volumeMode"):
        errors.append(invalid("volumeMode", spec.get("volumeMode"), IMMUTABLE))
    if before.get("nodeAffinity") is not None and spec.get("nodeAffinity") != before["nodeAffinity"]:
        errors.append(
            invalid(
                "nodeAffinity",
                spec.get("nodeAffinity"),
                "field is immutable, except for updating from beta label to GA",
            )
        )
    return errors
