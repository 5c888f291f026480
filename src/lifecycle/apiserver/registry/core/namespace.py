"""Namespaces: a name for others to live under, and a deletion that waits until they are
gone.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_Namespace`),
`pkg/registry/core/namespace/{strategy.go,storage/storage.go}`,
`pkg/apis/core/validation/validation.go` (`ValidateNamespace` …),
`pkg/printers/internalversion/printers.go` (`printNamespace`), v1.36.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.preconditions import unmet_precondition
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_kube_finalizer_name,
)
from lifecycle.apiserver.registry.rest.strategy import (
    STATUS_FIELDS,
    Strategy,
    UpdateStrategy,
)

# --- defaults -------------------------------------------------------------------------


def set_defaults(namespace: Object) -> None:
    """The phase, and the label that carries the name (a generated name gets its label
    when it is known: see the strategy).
    """
    status = namespace.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Active"
    set_name_label(namespace)


def set_name_label(namespace: Object) -> None:
    """`kubernetes.io/metadata.name`. Upstream: also
    `pkg/registry/core/namespace/strategy.go` (`Canonicalize`).
    """
    meta = namespace.get("metadata") or {}
    if meta.get("name"):
        labels = meta.get("labels")
        if labels is None or labels.get("kubernetes.io/metadata.name") != meta["name"]:
            meta["labels"] = {
                **(labels or {}),
                "kubernetes.io/metadata.name": meta["name"],
            }


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(namespace: Object) -> None:
    """Active, and held by the finalizer `kubernetes` of its spec."""
    namespace["status"] = {"phase": "Active"}
    spec = namespace.get("spec") or {}
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        namespace["spec"] = {**spec, "finalizers": [*finalizers, "kubernetes"]}


def prepare_for_update(new: Object, old: Object) -> None:
    """Only `/finalize` takes finalizers off the spec."""
    if (old.get("spec") or {}).get("finalizers") is not None:
        finalizers = old["spec"]["finalizers"]
        new["spec"] = {**(new.get("spec") or {}), "finalizers": finalizers}


def prepare_for_finalize_update(new: Object, old: Object) -> None:
    """`/finalize` leaves the status alone."""
    update.take_over(new, old, "status")


# --- validation -----------------------------------------------------------------------


def validate(namespace: Object) -> list[FieldError]:
    """A DNS label for a name, proper finalizers."""
    errors = validate_core_object_meta(
        namespace.get("metadata") or {}, False, content.name_is_dns_label
    )
    for name in (namespace.get("spec") or {}).get("finalizers") or ():
        errors += _validate_finalizer(name, "spec.finalizers")
    return errors


def _validate_finalizer(name: str, path: str) -> list[FieldError]:
    return [
        invalid(path, name, why) for why in content.qualified_name(name)
    ] + validate_kube_finalizer_name(name, path)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Only its metadata."""
    return validate_core_object_meta_update(new["metadata"], old["metadata"])


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """The phase follows the deletion timestamp."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    phase = (new.get("status") or {}).get("phase", "")
    if new["metadata"].get("deletionTimestamp") is None:
        if phase != "Active":
            errors.append(
                invalid(
                    "status.Phase",
                    phase,
                    "may only be 'Active' if `deletionTimestamp` is empty",
                )
            )
    elif phase != "Terminating":
        errors.append(
            invalid(
                "status.Phase",
                phase,
                "may only be 'Terminating' if `deletionTimestamp` is not empty",
            )
        )
    return errors


def validate_finalize_update(new: Object, old: Object) -> list[FieldError]:
    """Finalizers of the spec, through `/finalize` only."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    for index, name in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        errors += _validate_finalizer(name, f"spec.finalizers[{index}]")
    return errors


# --- deletion -------------------------------------------------------------------------


def check_deletion(namespace: Object, uid: str, resource_version: str) -> None:
    """Preconditions, in the words of the namespace's own registry. Raises StatusError
    409. Upstream: `storage.go` (`Delete`).
    """
    metadata = namespace["metadata"]
    why = unmet_precondition(metadata, uid, resource_version)
    if why:
        raise status.conflict("namespaces", metadata["name"], why)


def mark_deleted(namespace: Object) -> None:
    """What lives in it may no longer be added to."""
    namespace["status"] = {**(namespace.get("status") or {}), "phase": "Terminating"}


def is_held(namespace: Object) -> bool:
    """Until the namespace controller has emptied it and taken the spec's finalizers
    off. Even without any it goes with its second deletion only. Upstream: `storage.go`
    (`Delete`, `ShouldDeleteNamespaceDuringUpdate`).
    """
    finalizers = (namespace.get("spec") or {}).get("finalizers")
    return bool(finalizers) or "deletionTimestamp" not in namespace["metadata"]


# --- field labels, table --------------------------------------------------------------


def _selectable_fields(namespace: Object) -> dict[str, str]:
    return {"status.phase": (namespace.get("status") or {}).get("phase", "")}


FIELD_LABELS = FieldLabels(
    ("metadata.name", "status.phase"), _selectable_fields, field_label_not_supported
)


def print_namespace(namespace: Object, now: float) -> Cells:
    """The cells of `kubectl get namespaces`."""
    return [
        namespace["metadata"]["name"],
        (namespace.get("status") or {}).get("phase", ""),
        age(namespace, now),
    ]


PRINTER = Printer(
    (NAME, Column("Status", "The status of the namespace"), AGE), print_namespace
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    prepare_for_create=prepare_for_create,
    validate=validate,
    canonicalize=set_name_label,  # the label is the name, also when that was made up
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update, validate_status_update
        ),
        "finalize": UpdateStrategy(
            prepare_for_finalize_update,
            validate_finalize_update,
            reset_fields=STATUS_FIELDS,
        ),
    },
    check_deletion=check_deletion,
    marks_own_deletion=True,
    mark_deleted=mark_deleted,
    is_held=is_held,
    returns_deleted_object=True,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
