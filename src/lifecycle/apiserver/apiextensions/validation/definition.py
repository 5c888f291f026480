"""What is wrong with a CustomResourceDefinition.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinition`, `ValidateCustomResourceDefinitionUpdate`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.conditions import is_condition_true
from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    named,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.apiextensions.internal_form import (
    internal_form,
)
from lifecycle.apiserver.apiextensions.validation.approval import validate_api_approval
from lifecycle.apiserver.apiextensions.validation.conversion import validate_conversion
from lifecycle.apiserver.apiextensions.validation.names import validate_names
from lifecycle.apiserver.apiextensions.validation.options import (
    STRICT,
    ValidationOptions,
)
from lifecycle.apiserver.apiextensions.validation.versions import (
    has_status_enabled,
    validate_shared_fields,
    validate_versions,
)
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)

IMMUTABLE = "field is immutable"


def validate_definition(
    definition: Object, options: ValidationOptions = STRICT
) -> list[FieldError]:
    """Everything wrong with a new definition."""
    spec = definition.get("spec") or {}
    required_name = (
        f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    )

    def name_rule(name: str, prefix: bool) -> tuple[str, ...]:
        messages = tuple(content.name_is_dns_subdomain(name, prefix))
        return (
            messages
            if name == required_name
            else (*messages, 'must be spec.names.plural+"."+spec.group')
        )

    errors = validate_object_meta(definition.get("metadata") or {}, False, name_rule)
    errors += _validate_spec(spec, options)
    errors += _validate_stored_versions(definition)
    if options.approval:
        errors += validate_api_approval(definition, None)
    if options.pruning:
        errors += _validate_preserve_unknown_fields(spec, None)
    return errors


def validate_definition_update(
    new: Object, old: Object, options: ValidationOptions = STRICT
) -> list[FieldError]:
    """Everything wrong with a changed definition: group and plural stay, scope and kind
    as soon as it is established.
    """
    options = options.on_update(new, old)
    errors = validate_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_spec(spec, options)
    names, old_names = spec.get("names") or {}, before.get("names") or {}
    fixed: list[tuple[str, Any, Any]] = []
    if is_condition_true(old, "Established"):
        fixed += [("spec.scope", spec.get("scope"), before.get("scope"))]
        fixed += [("spec.names.kind", names.get("kind"), old_names.get("kind"))]
    fixed += [("spec.group", spec.get("group"), before.get("group"))]
    fixed += [("spec.names.plural", names.get("plural"), old_names.get("plural"))]
    errors += [
        invalid(field, value, IMMUTABLE) for field, value, was in fixed if value != was
    ]
    errors += _validate_stored_versions(new)
    if options.approval:
        errors += validate_api_approval(new, old)
    if options.pruning:
        errors += _validate_preserve_unknown_fields(spec, before)
    return errors


def validate_definition_status_update(new: Object, old: Object) -> list[FieldError]:
    """The status is the server's own: only the metadata is looked at, and what is
    stored of names.
    """
    return validate_object_meta_update(new["metadata"], old["metadata"])


def _validate_spec(spec: Object, options: ValidationOptions) -> list[FieldError]:
    errors: list[FieldError] = []
    group, scope, names = (
        spec.get("group", ""),
        spec.get("scope", ""),
        spec.get("names") or {},
    )
    if not group:
        errors.append(required("spec.group"))
    elif messages := content.dns1123_subdomain(group):
        errors.append(invalid("spec.group", group, ",".join(messages)))
    elif "." not in group:
        errors.append(
            invalid("spec.group", group, "should be a domain with at least one dot")
        )
    errors += validate_required_enum(
        "spec.scope", scope, ("Cluster", "Namespaced"), plain=True
    )
    inner, options = internal_form(spec), options.for_spec(spec)
    errors += validate_versions(inner, options)
    errors += [
        required(f"spec.names.{key}")
        for key in ("plural", "singular", "kind", "listKind")
        if not names.get(key)
    ]
    errors += validate_names(names)
    versions = inner.get("versions") or [{}]
    errors += validate_shared_fields(
        inner,
        "spec",
        has_status_enabled(inner),
        options.for_version(versions[0].get("name", "")),
    )
    conversion = spec.get("conversion")
    if (
        conversion is not None
        and conversion.get("strategy") != "None"
        and spec.get("preserveUnknownFields")
    ):
        why = "must be None if spec.preserveUnknownFields is true"
        errors.append(
            invalid(
                "spec.conversion.strategy", named(conversion.get("strategy", "")), why
            )
        )
    return errors + validate_conversion(conversion)


def _validate_stored_versions(definition: Object) -> list[FieldError]:
    stored = (definition.get("status") or {}).get("storedVersions") or []
    here = "status.storedVersions"
    if not stored:
        return [invalid(here, stored or None, "must have at least one stored version")]
    versions = (definition.get("spec") or {}).get("versions") or []
    errors: list[FieldError] = []
    unseen = set(stored)
    for version in versions:
        if (
            version.get("storage") and version.get("name", "") not in unseen
        ):  # as well if the name comes a second time
            errors.append(
                invalid(
                    here,
                    stored,
                    f"must have the storage version {version.get('name', '')}",
                )
            )
        unseen.discard(version.get("name", ""))
    names = {version.get("name", "") for version in versions}
    for index, name in enumerate(stored):
        if name not in names:
            why = (
                f"missing from spec.versions; {name} was previously a storage version,"
                " and must remain in spec.versions until a storage migration ensures"
                f" no data remains persisted in {name} and removes {name} from"
                " status.storedVersions"
            )
            errors.append(invalid(f"{here}[{index}]", name, why))
    return errors


def _validate_preserve_unknown_fields(
    spec: Object, old: Object | None
) -> list[FieldError]:
    if not spec.get("preserveUnknownFields") or (old or {}).get(
        "preserveUnknownFields"
    ):
        return []
    why = (
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
        " spec.versions[*].schema instead"
    )
    return [invalid("spec.preserveUnknownFields", True, why)]
