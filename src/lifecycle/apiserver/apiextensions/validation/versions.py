"""The versions of a definition, each with schema, subresources and columns of its own.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`validateCustomResourceDefinitionVersion`, `validateCustomResourceDefinitionSpec`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.apiextensions.internal_form import (
    go_versions,
)
from lifecycle.apiserver.apiextensions.validation.json_paths import (
    validate_column_definition,
    validate_scale_subresource,
    validate_selectable_fields,
)
from lifecycle.apiserver.apiextensions.validation.options import (
    ValidationOptions,
    has_default,
)
from lifecycle.apiserver.apiextensions.validation.schema import (
    validate_openapi_v3_schema,
)


def validate_versions(spec: Object, options: ValidationOptions) -> list[FieldError]:
    """Unique names, one of them stored."""
    errors: list[FieldError] = []
    versions, kept = spec.get("versions") or [], spec.get("preserveUnknownFields")
    if (spec.get("validation") or {}).get("openAPIV3Schema") is None:
        for index, version in enumerate(versions):
            if (version.get("schema") or {}).get("openAPIV3Schema") is not None:
                continue
            here = f"spec.versions[{index}].schema.openAPIV3Schema"
            if options.openapi_schema:
                errors.append(required(here))
            elif not kept and version.get("served"):
                errors.append(required(here, "because otherwise all fields are pruned"))
    holders = (spec.get("validation"), *(version.get("schema") for version in versions))
    if (
        kept
        and options.defaults
        and any(has_default((each or {}).get("openAPIV3Schema")) for each in holders)
    ):
        why = "must be false in order to use defaults in the schema"
        errors.append(invalid("spec.preserveUnknownFields", True, why))
    for index, version in enumerate(versions):
        here, name = f"spec.versions[{index}]", version.get("name", "")
        if messages := content.dns1035_label(name):
            errors.append(invalid(f"{here}.name", name, ",".join(messages)))
        errors += _validate_deprecation_warning(version, here)
        errors += validate_shared_fields(
            {**version, "validation": version.get("schema")},
            here,
            has_status_enabled({**spec, "versions": [version]}),
            options.for_version(name),
        )
    names = [version.get("name", "") for version in versions]
    if len(set(names)) != len(names):
        errors.append(
            invalid(
                "spec.versions",
                go_versions(versions),
                "must contain unique version names",
            )
        )
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        printed = None if spec.get("versions") is None else go_versions(versions)
        errors.append(invalid("spec.versions", printed, why))
    if (
        versions
        and (name := versions[0].get("name", ""))
        and (messages := content.dns1035_label(name))
    ):
        errors.append(
            invalid("spec.version", name, ",".join(messages))
        )  # the first, once more
    return errors


def has_status_enabled(spec: Object) -> bool:
    """Whether the definition or any of its versions has a status."""
    holders = [spec, *(spec.get("versions") or ())]
    return any(
        (holder.get("subresources") or {}).get("status") is not None
        for holder in holders
    )


def _validate_deprecation_warning(version: Object, here: str) -> list[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    if not version.get("deprecated"):
        reasons = ["can only be set for deprecated versions"]
    else:
        reasons = (
            ["must be <= 256 characters long"] if len(warning.encode()) > 256 else []
        )
        reasons += [] if warning else ["must not be an empty string"]
        strange = next(
            (i for i, char in enumerate(warning) if not char.isprintable()), None
        )
        if strange is not None:
            index = len(warning[:strange].encode())
            reasons.append(
                "must only contain printable UTF-8 characters; non-printable character"
                f" found at index {index}"
            )
    return [
        invalid(f"{here}.deprecationWarning", Named(warning), why) for why in reasons
    ]


def validate_shared_fields(
    holder: Object, here: str, status_enabled: bool, options: ValidationOptions
) -> list[FieldError]:
    """What is said of a version, or of all of them at the top: schema, subresources,
    columns, selectable fields.
    """
    errors: list[FieldError] = []
    schema, scale = (
        (holder.get("validation") or {}).get("openAPIV3Schema"),
        (holder.get("subresources") or {}).get("scale"),
    )
    if schema is not None:
        where = "validation" if here == "spec" else "schema"
        errors += validate_openapi_v3_schema(
            schema, f"{here}.{where}.openAPIV3Schema", status_enabled, options
        )
    if scale is not None:
        errors += validate_scale_subresource(scale, f"{here}.subresources.scale")
    for index, column in enumerate(holder.get("additionalPrinterColumns") or ()):
        errors += validate_column_definition(
            column, f"{here}.additionalPrinterColumns[{index}]"
        )
    where = f"{here}.selectableFields"
    if here == "spec":  # where upstream takes an empty one for a schema
        absent = holder.get("validation") is None
        wrong = "validations.schema is included"
    else:
        absent, wrong = (
            schema is None,
            "`version.schema.openAPIV3Schema` is not included",
        )
    if holder.get("selectableFields") and absent:
        why = f"may only be set when {wrong}"  # upstream's words
        return [*errors, invalid(where, "", why)]
    return errors + validate_selectable_fields(holder, schema or {}, where)
