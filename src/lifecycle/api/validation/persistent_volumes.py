"""Persistent volumes.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePersistentVolumeSpec`, `ValidatePersistentVolumeUpdate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid, not_supported, required
from lifecycle.api.validation import content
from lifecycle.api.validation.differences import differences
from lifecycle.api.validation.file_paths import validate_no_backsteps
from lifecycle.api.validation.object_meta import IMMUTABLE, validate_core_object_meta
from lifecycle.api.validation.persistent_volume_claims import VOLUME_MODES, positive, validate_access_modes
from lifecycle.api.validation.placement import validate_node_selector
from lifecycle.api.validation.volumes import validate_csi_driver_name, validate_host_path, validate_nfs
from lifecycle.api.wire import Object

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


def validate_volume(volume: Object) -> list[FieldError]:
    """A new volume: modes, capacity and exactly one source."""
    errors = validate_core_object_meta(volume.get("metadata") or {}, False, content.name_is_dns_subdomain)
    spec = volume.get("spec") or {}
    modes, capacity = spec.get("accessModes") or [], spec.get("capacity") or {}
    if not modes:
        errors.append(required("spec.accessModes"))
    errors += validate_access_modes(modes, "spec.accessModes")
    if not capacity:
        errors.append(required("spec.capacity"))
    if set(capacity) != {"storage"}:
        errors.append(not_supported("spec.capacity", dict(sorted(capacity.items())) or None, ("storage",)))
    for name, amount in capacity.items():
        errors += positive(amount, f"spec.capacity[{name}]")
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
