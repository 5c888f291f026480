"""Metadata: names, labels, annotations, owners, finalizers; and what an update may not
change.

Upstream: `apimachinery/pkg/api/validation/objectmeta.go` (`ValidateObjectMetaAccessor`,
`ValidateObjectMetaAccessorUpdate`),
`apimachinery/pkg/apis/meta/v1/validation/validation.go` (`ValidateLabels`,
`ValidateManagedFields`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    forbidden,
    internal,
    invalid,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.api.validation.content import NameFunction
from lifecycle.apiserver.registry.rest.numbers import NOT_NEGATIVE

IMMUTABLE = "field is immutable"
ANNOTATIONS_LIMIT = 256 * 1024


def validate_object_meta(
    meta: Object,
    namespaced: bool,
    name_function: NameFunction,
    path: str = "metadata",
    *,
    generated: bool = False,
) -> list[FieldError]:
    """Metadata at creation. `generated` selects the newer rule, which looks at the name
    only and not at `generateName`.
    """
    errors: list[FieldError] = []
    base, name = meta.get("generateName") or "", meta.get("name") or ""
    if base and generated and not name:
        errors.append(
            internal(
                f"{path}.name",
                f'generateName was specified ("{base}"), but no name was generated',
            )
        )
    elif base and not generated:
        errors += [
            invalid(f"{path}.generateName", base, why)
            for why in name_function(base, True)
        ]
    if not name:
        errors.append(required(f"{path}.name", "name or generateName is required"))
    else:
        for why in name_function(name, False):
            errors.append(invalid(f"{path}.name", name, why))
    namespace = meta.get("namespace") or ""
    if namespaced:
        if not namespace:
            errors.append(required(f"{path}.namespace"))
        else:
            for why in content.dns1123_label(namespace):
                errors.append(invalid(f"{path}.namespace", namespace, why))
    elif namespace:
        errors.append(forbidden(f"{path}.namespace", "not allowed on this type"))
    if meta.get("generation", 0) < 0:
        errors.append(invalid(f"{path}.generation", meta["generation"], NOT_NEGATIVE))
    errors += _validate_details(meta, path)
    errors += validate_finalizers(meta.get("finalizers"), f"{path}.finalizers")
    errors += validate_managed_fields(
        meta.get("managedFields"), f"{path}.managedFields"
    )
    return errors


def _validate_details(meta: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if meta.get("labels"):
        errors += validate_labels(meta["labels"], f"{path}.labels")
    if meta.get("annotations"):
        errors += validate_annotations(meta["annotations"], f"{path}.annotations")
    if meta.get("ownerReferences"):
        errors += validate_owner_references(
            meta["ownerReferences"], f"{path}.ownerReferences"
        )
    return errors


def validate_labels(labels: Object | None, path: str) -> list[FieldError]:
    """Keys and values of labels. Both are reported against the whole map, as upstream
    does.
    """
    errors: list[FieldError] = []
    for key, value in (labels or {}).items():
        for why in content.qualified_name(key):
            errors.append(invalid(path, key, why))
        for why in content.label_value(value):
            errors.append(invalid(path, value, why))
    return errors


def validate_label_name(name: str, path: str) -> list[FieldError]:
    """One label key."""
    return [invalid(path, name, why) for why in content.qualified_name(name)]


def validate_annotations(annotations: Object | None, path: str) -> list[FieldError]:
    """Keys (case does not matter) and the total size."""
    errors: list[FieldError] = []
    size = 0
    for key, value in (annotations or {}).items():
        for why in content.qualified_name(key.lower()):
            errors.append(invalid(path, key, why))
        size += len(key.encode()) + len(value.encode())
    if size > ANNOTATIONS_LIMIT:
        errors.append(too_long(path, ANNOTATIONS_LIMIT))
    return errors


def validate_owner_references(references: list[Object], path: str) -> list[FieldError]:
    """Complete references, at most one controller, and no Event as an owner."""
    errors: list[FieldError] = []
    controller = ""
    for reference in references:
        api_version, kind = (
            reference.get("apiVersion") or "",
            reference.get("kind") or "",
        )
        if not api_version.rpartition("/")[2] or api_version.count("/") > 1:
            errors.append(
                invalid(f"{path}.apiVersion", api_version, "version must not be empty")
            )
        for key in ("kind", "name", "uid"):
            if not reference.get(key):
                errors.append(invalid(f"{path}.{key}", "", "must not be empty"))
        if api_version == "v1" and kind == "Event":
            errors.append(
                invalid(
                    path, reference, "/v1, Kind=Event is disallowed from being an owner"
                )
            )
        if reference.get("controller"):
            mine = f"{kind}/{reference.get('name', '')}"
            if controller:
                why = (
                    'Only one reference can have Controller set to true. Found "true"'
                    f" in references for {controller} and {mine}"
                )
                errors.append(invalid(path, references, why))
            else:
                controller = mine
    return errors


def validate_finalizers(finalizers: list[str] | None, path: str) -> list[FieldError]:
    """Qualified names, and not both of the garbage collector's."""
    errors: list[FieldError] = []
    for finalizer in finalizers or ():
        errors += [
            invalid(path, finalizer, why) for why in content.qualified_name(finalizer)
        ]
    if finalizers and "orphan" in finalizers and "foregroundDeletion" in finalizers:
        errors.append(
            invalid(
                path,
                finalizers,
                "finalizer orphan and foregroundDeletion cannot be both set",
            )
        )
    return errors


def validate_managed_fields(
    entries: list[Object] | None, path: str
) -> list[FieldError]:
    """Operations, field format, manager names."""
    errors: list[FieldError] = []
    for index, entry in enumerate(entries or ()):
        operation, fields_type, manager = (
            entry.get("operation", ""),
            entry.get("fieldsType", ""),
            entry.get("manager", ""),
        )
        if operation not in ("Apply", "Update"):
            errors.append(
                invalid(
                    f"{path}[{index}].operation",
                    operation,
                    "must be `Apply` or `Update`",
                )
            )
        if fields_type and fields_type != "FieldsV1":
            errors.append(
                invalid(
                    f"{path}[{index}].fieldsType", fields_type, "must be `FieldsV1`"
                )
            )
        errors += validate_field_manager(manager, f"{path}[{index}].manager")
        if len(entry.get("subresource", "")) > 256:
            errors.append(too_long(f"{path}[{index}].subresource", 256))
    return errors


def validate_field_manager(manager: str, path: str) -> list[FieldError]:
    """At most 128 printable characters. Upstream: `ValidateFieldManager`."""
    if len(manager) <= 32 and manager.isprintable():  # four bytes each at most
        return []
    errors = [too_long(path, 128)] if len(manager.encode()) > 128 else []
    for position, char in enumerate(manager):
        if not char.isprintable():
            errors.append(
                invalid(
                    path,
                    manager,
                    f"invalid character U+{ord(char):04X} (at position {position})",
                )
            )
    return errors


_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def validate_kube_finalizer_name(name: str, path: str) -> list[FieldError]:
    """A finalizer without a domain must be one of Kubernetes' own."""
    if "/" in name or name in _STANDARD_FINALIZERS:
        return []
    return [
        invalid(
            path,
            name,
            "name is neither a standard finalizer name nor is it fully qualified",
        )
    ]


def _kube_finalizers(meta: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, name in enumerate(meta.get("finalizers") or ()):
        errors += validate_kube_finalizer_name(name, f"metadata.finalizers[{index}]")
    return errors


def validate_core_object_meta(
    meta: Object,
    namespaced: bool,
    name_function: NameFunction,
    *,
    generated: bool = False,
) -> list[FieldError]:
    """Metadata of the kinds in `k8s.io/api`: the general rules, and finalizers must be
    standard or qualified.
    """
    return validate_object_meta(
        meta, namespaced, name_function, generated=generated
    ) + _kube_finalizers(meta)


def validate_core_object_meta_update(new: Object, old: Object) -> list[FieldError]:
    """The same for an update."""
    return validate_object_meta_update(new, old) + _kube_finalizers(new)


_TEMPLATE_HAS_NO = {
    "name": "name",
    "generateName": "generateName",
    "namespace": "namespace",
    "selfLink": "selfLink",
    "uid": "uID",
    "resourceVersion": "resourceVersion",
    "generation": "generation",
    "creationTimestamp": "creationTimestamp",
    "deletionTimestamp": "deletionTimestamp",
    "deletionGracePeriodSeconds": "deletionGracePeriodSeconds",
    "ownerReferences": "ownerReferences",
    "finalizers": "finalizers",
    "managedFields": "managedFields",
}
"""What only an object itself has, as upstream derives the field's name from Go's."""


def validate_template_object_meta(meta: Object, path: str) -> list[FieldError]:
    """Metadata of objects to come: labels and annotations, nothing else. Zero and an
    empty text are nothing, but an empty list is something.

    Upstream: `ValidateTemplateObjectMeta` in `pkg/apis/core/validation/validation.go`.
    """
    errors = validate_annotations(meta.get("annotations"), f"{path}.annotations")
    errors += validate_labels(meta.get("labels"), f"{path}.labels")
    for key, shown in _TEMPLATE_HAS_NO.items():
        value = meta.get(key)
        is_pointer = key == "deletionGracePeriodSeconds"
        if value is not None and (is_pointer or value not in ("", 0)):
            errors.append(
                forbidden(f"{path}.{shown}", "cannot be set", of_empty=value == [])
            )
    return errors


_IDENTITY = ("name", "namespace", "uid")
_ABSENT = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def validate_object_meta_update(
    new: Object, old: Object, path: str = "metadata", *, sound: bool = False
) -> list[FieldError]:
    """Metadata of an update against what is stored. `sound`: by itself it has been
    found without fault already (`validate_object_meta`).
    """
    errors: list[FieldError] = []
    if old.get("deletionTimestamp") is not None:
        extra = sorted(
            set(new.get("finalizers") or ()) - set(old.get("finalizers") or ())
        )
        if extra:
            go_slice = "[]string{" + ", ".join(f'"{name}"' for name in extra) + "}"
            why = (
                "no new finalizers can be added if the object is being deleted, found"
                f" new finalizers {go_slice}"
            )
            errors.append(forbidden(f"{path}.finalizers", why))
    if not new.get("resourceVersion"):
        errors.append(
            invalid(f"{path}.resourceVersion", "", "must be specified for an update")
        )
    if new.get("generation", 0) < old.get("generation", 0):
        errors.append(
            invalid(
                f"{path}.generation",
                new.get("generation", 0),
                "must not be decremented",
            )
        )
    for key in _IDENTITY:
        if (new.get(key) or "") != (old.get(key) or ""):
            shown = new.get(key) or ""
            shown = Named(shown) if key == "uid" else shown
            errors.append(invalid(f"{path}.{key}", shown, IMMUTABLE))
    for key in _ABSENT:
        if new.get(key) != old.get(key):
            errors.append(invalid(f"{path}.{key}", new.get(key), IMMUTABLE))
    if not sound:
        errors += _validate_details(new, path)
        errors += validate_managed_fields(
            new.get("managedFields"), f"{path}.managedFields"
        )
    return errors
