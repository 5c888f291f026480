"""RuntimeClasses: which handler of the container runtime a pod asks for, what it costs
and where there is one.

Upstream: `pkg/registry/node/runtimeclass/strategy.go`,
`pkg/apis/node/validation/validation.go`, `pkg/printers/internalversion/printers.go`
(`printRuntimeClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.placement import (
    validate_tolerations,
)
from lifecycle.apiserver.registry.core.pod.resources import (
    validate_resource_requirements,
)
from lifecycle.apiserver.registry.core.pod.warnings import DEPRECATED_NODE_LABELS
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_labels,
    validate_object_meta,
    validate_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(runtime_class: Object) -> list[FieldError]:
    """Handler, overhead, scheduling."""
    errors = validate_object_meta(
        runtime_class.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    handler = runtime_class.get("handler", "")
    if not handler:
        errors.append(required("handler"))
    else:
        errors += [
            invalid("handler", handler, why) for why in content.dns1123_label(handler)
        ]
    overhead, scheduling = (
        runtime_class.get("overhead"),
        runtime_class.get("scheduling"),
    )
    if overhead is not None:
        errors += validate_resource_requirements(
            {"limits": overhead.get("podFixed") or {}}, "overhead"
        )
    if scheduling is not None:
        errors += validate_labels(
            scheduling.get("nodeSelector"), "scheduling.nodeSelector"
        )
        tolerations = scheduling.get("tolerations") or []
        errors += validate_tolerations(tolerations, "scheduling.tolerations")
        errors += [
            duplicate(
                f"scheduling.tolerations[{index}]",
                internal_value("core/v1.Toleration", toleration),
            )
            for index, toleration in enumerate(tolerations)
            if _list_key(toleration) in map(_list_key, tolerations[:index])
        ]
    return errors


def _list_key(toleration: Object) -> tuple[str, ...]:
    keys = ("key", "operator", "value", "effect")
    return tuple(toleration.get(key, "") for key in keys)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A sound one; the handler stays."""
    errors = validate(new)
    errors += validate_object_meta_update(new["metadata"], old["metadata"])
    if new.get("handler") != old.get("handler"):
        errors.append(invalid("handler", new.get("handler", ""), IMMUTABLE))
    return errors


def warnings_on_create(runtime_class: Object) -> list[str]:
    """Of node labels that are going away."""
    selector = (runtime_class.get("scheduling") or {}).get("nodeSelector") or {}
    return [
        f"scheduling.nodeSelector: {DEPRECATED_NODE_LABELS[key]}"
        for key in selector
        if key in DEPRECATED_NODE_LABELS
    ]


def print_runtime_class(runtime_class: Object, now: float) -> Cells:
    """The cells of `kubectl get runtimeclasses`."""
    return [
        runtime_class["metadata"]["name"],
        runtime_class.get("handler", ""),
        age(runtime_class, now),
    ]


PRINTER = Printer((NAME, Column("Handler"), AGE), print_runtime_class)

STRATEGY = Strategy(
    validate=validate,
    warnings_on_create=warnings_on_create,
    warnings_on_update=lambda new, old: warnings_on_create(new),
    allow_create_on_update=True,
    allow_unconditional_update=False,
    validate_update=validate_update,
    printer=PRINTER,
)
