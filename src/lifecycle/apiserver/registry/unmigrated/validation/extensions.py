"""Custom resource definitions.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`,
v1.36. Left out: whatever needs a CEL compiler, and most of the rules for structural
schemas.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)


def validate_custom_resource_definition(definition: Object) -> list[FieldError]:
    """The name says plural and group; names, versions and schemas are complete."""
    spec = definition.get("spec") or {}
    names, group = spec.get("names") or {}, spec.get("group", "")
    wanted = f"{names.get('plural', '')}.{group}"

    def name_rule(name: str, prefix: bool) -> tuple[str, ...]:
        messages = content.name_is_dns_subdomain(name, prefix)
        return messages or (
            () if name == wanted else ('must be spec.names.plural+"."+spec.group',)
        )

    errors = validate_object_meta(definition.get("metadata") or {}, False, name_rule)
    if not group:
        errors.append(required("spec.group"))
    else:
        errors += [
            invalid("spec.group", group, ",".join(messages))
            for messages in [content.dns1123_subdomain(group)]
            if messages
        ]
        if "." not in group:
            errors.append(
                invalid("spec.group", group, "should be a domain with at least one dot")
            )
    scope = spec.get("scope", "")
    if scope not in ("Cluster", "Namespaced"):
        errors.append(
            not_supported("spec.scope", scope, ("Cluster", "Namespaced"))
            if scope
            else required("spec.scope")
        )
    errors += _validate_versions(spec)
    return errors + _validate_names(names)


def _validate_versions(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    versions = spec.get("versions") or []
    seen: set[str] = set()
    for index, version in enumerate(versions):
        here, name = f"spec.versions[{index}]", version.get("name", "")
        if name in seen:
            errors.append(
                invalid("spec.versions", None, "must contain unique version names")
            )
        seen.add(name)
        errors += [
            invalid(f"{here}.name", name, ",".join(messages))
            for messages in [content.dns1035_label(name)]
            if messages
        ]
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            errors.append(
                required(f"{here}.schema.openAPIV3Schema", "schemas are required")
            )
        elif not schema.get("type"):
            errors.append(
                required(
                    f"{here}.schema.openAPIV3Schema.type",
                    "must not be empty at the root",
                )
            )
        elif schema["type"] != "object":
            errors.append(
                invalid(
                    f"{here}.schema.openAPIV3Schema.type",
                    schema["type"],
                    "must be object at the root",
                )
            )
    if sum(bool(version.get("storage")) for version in versions) != 1:
        errors.append(
            invalid(
                "spec.versions",
                versions or None,
                "must have exactly one version marked as storage version",
            )
        )
    return errors


def _validate_names(names: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("plural", "singular", "kind", "listKind"):
        value = names.get(field, "")
        here = f"spec.names.{field}"
        if not value:
            errors.append(required(here))
            continue
        messages = content.dns1035_label(
            value.lower() if field in ("kind", "listKind") else value
        )
        if messages:
            shown = ",".join(messages)
            errors.append(
                invalid(
                    here,
                    value,
                    f"may have mixed case, but should otherwise match: {shown}"
                    if "ind" in field
                    else shown,
                )
            )
    for index, name in enumerate(names.get("shortNames") or ()):
        messages = content.dns1035_label(name)
        if messages:
            errors.append(
                invalid(f"spec.names.shortNames[{index}]", name, ",".join(messages))
            )
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        errors.append(
            invalid(
                "spec.names.listKind",
                names["listKind"],
                "kind and listKind may not be the same",
            )
        )
    return errors


def validate_custom_resource_definition_update(
    new: Object, old: Object
) -> list[FieldError]:
    """Group, scope and names stay once established."""
    errors = validate_object_meta_update(new["metadata"], old["metadata"])
    return errors + validate_custom_resource_definition(new)
