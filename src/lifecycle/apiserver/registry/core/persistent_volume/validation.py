"""Persistent volumes.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePersistentVolumeSpec`,
`ValidatePersistentVolumeUpdate`), v1.36.
"""

from __future__ import annotations

import posixpath

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    named,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.persistent_volume.sources import (
    MISSPELT,
    PLACES,
    VOLUME_SOURCES,
)
from lifecycle.apiserver.registry.core.persistent_volume_claim import (
    VOLUME_MODES,
    positive,
    validate_access_modes,
)
from lifecycle.apiserver.registry.core.pod.placement import (
    validate_node_selector,
)
from lifecycle.apiserver.registry.rest.differences import internal_difference
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)

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


def validate(volume: Object) -> list[FieldError]:
    """A new volume."""
    errors = validate_core_object_meta(
        volume.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    return errors + validate_volume_spec(volume.get("spec") or {}, "spec")


_INLINE = "in the context of inline volumes"


def validate_volume_spec(
    spec: Object, path: str, *, inline: bool = False
) -> list[FieldError]:
    """Modes, capacity and exactly one source. `inline`: the spec stands in a
    VolumeAttachment.
    """
    errors: list[FieldError] = []
    if inline:
        for field in ("claimRef", "capacity"):
            if spec.get(field):
                errors.append(
                    forbidden(f"{path}.{field}", f"may not be specified {_INLINE}")
                )
        if spec.get("csi") is None:
            errors.append(required(f"{path}.csi", f"has to be specified {_INLINE}"))
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(f"{path}.accessModes"))
    errors += validate_access_modes(modes, f"{path}.accessModes")
    errors += (
        [] if inline else _validate_capacity(spec.get("capacity"), f"{path}.capacity")
    )
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and inline and policy != "Retain":
        errors.append(
            forbidden(
                f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}"
            )
        )
    elif policy and not inline and policy not in RECLAIM_POLICIES:
        errors.append(
            not_supported(
                f"{path}.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES
            )
        )
    affinity = spec.get("nodeAffinity")
    if affinity is not None and inline:
        errors.append(
            forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
        )
    elif affinity is not None and affinity.get("required") is None:
        errors.append(
            required(
                f"{path}.nodeAffinity.required",
                "must specify required node constraints",
            )
        )
    elif affinity is not None:
        errors += validate_node_selector(
            affinity["required"], f"{path}.nodeAffinity.required"
        )
    errors += _validate_volume_source(spec, affinity is not None, path)
    return errors + _validate_class_and_mode(spec, path, inline)


def _validate_capacity(sent: Object | None, path: str) -> list[FieldError]:
    capacity = sent or {}
    errors = [] if capacity else [required(path)]
    if set(capacity) != {"storage"}:
        shown = None if sent is None else dict(sorted(capacity.items()))
        errors.append(not_supported(path, shown, ("storage",)))
    for name, amount in capacity.items():
        value = parse_quantity(amount).value()
        if value < 0:
            why = "must be a valid resource quantity"
            errors.append(invalid(f"{path}[{name}]", value, why))
        errors += positive(amount, f"{path}[{name}]")
    return errors


def _validate_class_and_mode(spec: Object, path: str, inline: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, mode, attributes = (
        spec.get(f)
        for f in ("storageClassName", "volumeMode", "volumeAttributesClassName")
    )
    if name and inline:
        errors.append(
            forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}")
        )
    elif name:
        errors += [
            invalid(f"{path}.storageClassName", name, why)
            for why in content.dns1123_subdomain(name)
        ]
    if mode is not None and inline and mode != "Filesystem":
        errors.append(
            forbidden(
                f"{path}.volumeMode",
                f"may not specify volumeMode other than Filesystem {_INLINE}",
            )
        )
    elif mode is not None and not inline and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    if attributes is not None:
        here = f"{path}.volumeAttributesClassName"
        if not attributes:
            errors.append(required(here, "an empty string is disallowed"))
        else:
            errors += [
                invalid(here, attributes, why)
                for why in content.dns1123_subdomain(attributes)
            ]
        if spec.get("csi") is None:
            errors.append(
                required(
                    f"{path}.csi",
                    "has to be specified when using volumeAttributesClassName",
                )
            )
    return errors


def _validate_volume_source(
    spec: Object, has_affinity: bool, path: str
) -> list[FieldError]:
    sources = [
        key for key, value in spec.items() if key not in _PLAIN and value is not None
    ]
    if not sources:
        return [required(path, "must specify a volume type")]
    if len(sources) > 1:
        sources = [source for source in VOLUME_SOURCES if source in sources]
    kind, source = sources[0], spec[sources[0]]
    errors = VOLUME_SOURCES[kind](source, f"{path}.{PLACES.get(kind, kind)}")
    if "flexVolume" in sources[1:]:  # judged even where it is one too many
        sources.remove("flexVolume")
        errors += VOLUME_SOURCES["flexVolume"](spec["flexVolume"], f"{path}.flexVolume")
    if kind == "local" and not has_affinity:
        errors.append(
            required(f"{path}.nodeAffinity", "Local volume requires node affinity")
        )
    for extra in sources[1:]:
        errors.append(
            forbidden(
                f"{path}.{MISSPELT.get(extra, extra)}",
                "may not specify more than 1 volume type",
            )
        )
    recycled = spec.get("persistentVolumeReclaimPolicy") == "Recycle"
    if (
        kind == "hostPath"
        and recycled
        and posixpath.normpath(source.get("path") or ".") in ("/", "//")
    ):
        why = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", why))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The source stays; so does the mode. (Upstream asks twice whether it is sound.)"""
    errors = validate(new) * 2
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    source, old_source = (
        {k: v for k, v in one.items() if k not in _PLAIN} for one in (spec, before)
    )
    if _may_set_expand_secret(source, old_source):
        source["csi"] = {
            key: value
            for key, value in source["csi"].items()
            if key != "controllerExpandSecretRef"
        }
    if source != old_source:
        detail = internal_difference(
            "core/v1.PersistentVolumeSource", old_source, source
        )
        errors.append(
            forbidden(
                "spec.persistentvolumesource",
                f"spec.persistentvolumesource is immutable after creation\n{detail}",
            )
        )
    if spec.get("volumeMode") != before.get("volumeMode"):
        errors.append(invalid("volumeMode", named(spec.get("volumeMode")), IMMUTABLE))
    if (
        before.get("nodeAffinity") is not None
        and spec.get("nodeAffinity") != before["nodeAffinity"]
    ):
        detail = internal_value("*core/v1.VolumeNodeAffinity", spec.get("nodeAffinity"))
        why = "field is immutable, except for updating from beta label to GA"
        errors.append(invalid("nodeAffinity", detail, why))
    if (
        before.get("volumeAttributesClassName") is not None
        and spec.get("volumeAttributesClassName") is None
    ):
        errors.append(
            forbidden(
                "spec.volumeAttributesClassName",
                "update from non-nil value to nil is forbidden",
            )
        )
    return errors


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Its metadata."""
    return validate_core_object_meta_update(new["metadata"], old["metadata"])


def _may_set_expand_secret(source: Object, old_source: Object) -> bool:
    """A CSI volume without a secret for growing may be given one."""
    csi, old_csi = source.get("csi"), old_source.get("csi")
    return (
        csi is not None
        and old_csi is not None
        and old_csi.get("controllerExpandSecretRef") is None
    )
