"""StorageClasses: how volumes are made for claims.

Upstream: `pkg/apis/storage/v1/defaults.go` (`SetDefaults_StorageClass`),
`pkg/registry/storage/storageclass/strategy.go`,
`pkg/apis/storage/validation/validation.go` (`ValidateStorageClass` …),
`pkg/printers/internalversion/printers.go` (`printStorageClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    named,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_label_name,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.storage.default_class import name_and_default
from lifecycle.apiserver.registry.storage.parameters import (
    validate_parameters,
    validate_provisioner,
)

# --- defaults -------------------------------------------------------------------------


def set_defaults(storage_class: Object) -> None:
    """Volumes are deleted with their claims and bound at once."""
    set_default(storage_class, "reclaimPolicy", "Delete")
    set_default(storage_class, "volumeBindingMode", "Immediate")


# --- validation -----------------------------------------------------------------------


def validate(storage_class: Object) -> list[FieldError]:
    """Provisioner, parameters, policies, topologies."""
    errors = validate_core_object_meta(
        storage_class.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    errors += validate_provisioner(storage_class.get("provisioner", ""), "provisioner")
    errors += validate_parameters(
        storage_class.get("parameters"), "parameters", allow_none=True
    )
    policy, mode = (
        storage_class.get("reclaimPolicy"),
        storage_class.get("volumeBindingMode"),
    )
    if policy and policy not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", policy, ("Delete", "Retain")))
    if mode is None:
        errors.append(required("volumeBindingMode"))
    elif mode not in ("Immediate", "WaitForFirstConsumer"):
        errors.append(
            not_supported(
                "volumeBindingMode", mode, ("Immediate", "WaitForFirstConsumer")
            )
        )
    return errors + _validate_topologies(
        storage_class.get("allowedTopologies") or [], "allowedTopologies"
    )


def _validate_topologies(terms: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    before: list[dict[str, set[str]]] = [
        {} for _ in terms
    ]  # upstream starts with as many empty ones: an empty term is double
    for index, term in enumerate(terms):
        here, requirements = f"{path}[{index}].matchLabelExpressions", {}
        for position, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            key, values = requirement.get("key", ""), requirement.get("values") or []
            if not values:
                errors.append(required(f"{here}[{position}].values"))
            errors += [
                duplicate(f"{here}[{position}].values[{i}]", value)
                for i, value in enumerate(values)
                if value in values[:i]
            ]
            errors += validate_label_name(key, f"{here}[{position}].key")
            if key in requirements:
                errors.append(duplicate(f"{here}[{position}].key", key))
            requirements[key] = set(values)
        errors += [duplicate(here, "") for other in before if other == requirements]
        before.append(requirements)
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A class that is well-formed and still makes the same volumes."""
    errors = validate(new)
    errors += validate_core_object_meta_update(new["metadata"], old["metadata"])
    for key in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if (new.get(key) or None) != (old.get(key) or None):
            plain = key == "provisioner"
            shown = new.get(key) if plain else named(new.get(key))
            errors.append(invalid(key, shown, IMMUTABLE))
    return errors


# --- table ----------------------------------------------------------------------------


_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def print_storage_class(storage_class: Object, now: float) -> Cells:
    """The cells of `kubectl get storageclasses`."""
    return [
        name_and_default(storage_class, _DEFAULT_CLASS),
        storage_class.get("provisioner", ""),
        storage_class.get("reclaimPolicy") or "Delete",
        storage_class.get("volumeBindingMode") or "Immediate",
        bool(storage_class.get("allowVolumeExpansion")),
        age(storage_class, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Provisioner", field("storage/v1.StorageClass", "provisioner")),
        Column("ReclaimPolicy", field("storage/v1.StorageClass", "reclaimPolicy")),
        Column(
            "VolumeBindingMode",
            field("storage/v1.StorageClass", "volumeBindingMode"),
        ),
        Column(
            "AllowVolumeExpansion",
            field("storage/v1.StorageClass", "allowVolumeExpansion"),
        ),
        AGE,
    ),
    print_storage_class,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    validate_update=validate_update,
    returns_deleted_object=True,
    printer=PRINTER,
)
