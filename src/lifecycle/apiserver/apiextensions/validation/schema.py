"""The schema of a definition's version: of a shape that can be served, and with rules
that compile.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinitionOpenAPISchema`,
`validateCustomResourceDefinitionValidation`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.internal_form import (
    go_schema,
)
from lifecycle.apiserver.apiextensions.rule_costs import RuleCosts
from lifecycle.apiserver.apiextensions.schema_rules import (
    validate_defaults,
    validate_schema,
)
from lifecycle.apiserver.apiextensions.structural import (
    cannot_be_structural,
    validate_structural,
)
from lifecycle.apiserver.apiextensions.validation.options import (
    STRICT,
    ValidationOptions,
)

ROOT_FIELDS_WITH_STATUS = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum",
    "ExclusiveMinimum", "MaxLength", "MinLength",
    "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required",
    "Items", "Properties", "ExternalDocs", "Example",
    "XPreserveUnknownFields", "XValidations",
)  # fmt: skip


def validate_openapi_v3_schema(
    schema: Object,
    path: str,
    has_status: bool,
    options: ValidationOptions = STRICT,
) -> list[FieldError]:
    """The root's own restrictions, then those of any schema; upstream's order."""
    errors: list[FieldError] = []
    if has_status:
        for key, value in schema.items():
            name = _go_name(key)
            if not value:
                continue
            if name == "Type":
                if value != "object":
                    why = (
                        'only "object" is allowed as the type at the root of the schema'
                        " if the status subresource is enabled"
                    )
                    errors.append(invalid(f"{path}.type", value, why))
                    break
            elif name not in ROOT_FIELDS_WITH_STATUS:
                why = (
                    f"only [{' '.join(ROOT_FIELDS_WITH_STATUS)}] fields are allowed at"
                    " the root of the schema if the status subresource is enabled"
                )
                errors.append(invalid(path, go_schema(schema), why))
                break
    if schema.get("nullable"):
        errors.append(
            forbidden(f"{path}.nullable", "nullable cannot be true at the root")
        )
    structural_errors = []
    has_structure = options.structural_schema and not cannot_be_structural(schema)
    if has_structure:
        structural_errors = validate_structural(schema, path)
        structural_errors = structural_errors or validate_defaults(schema, path)
    errors += structural_errors
    costs = RuleCosts(limited=options.rule_costs)
    has_rules = has_structure and not structural_errors
    schema_errors, rule_errors = validate_schema(
        schema,
        path,
        defaults=options.defaults,
        property_types=options.property_types,
        rule_costs=costs if has_rules else None,
    )
    errors += schema_errors + rule_errors
    if options.structural_schema and not has_structure and not errors:
        errors.append(invalid(path, "", "OpenAPIV3Schema 'schema' is not supported"))
    return errors + costs.errors(path)


def _go_name(key: str) -> str:
    if key.startswith("x-kubernetes-"):
        return "X" + "".join(
            part.capitalize() for part in key.removeprefix("x-kubernetes-").split("-")
        )
    return key[:1].upper() + key[1:]
