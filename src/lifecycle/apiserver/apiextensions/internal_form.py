"""A definition as its validation sees it: what all versions have in common is said
once, at the top.

Old definitions had one schema for all versions, and inside the server they still have:
what is the same in every version moves up to `spec`. Clients notice it when something
is wrong, for the message names the inner place – `spec.validation.openAPIV3Schema`
where they wrote `spec.versions[0].schema.openAPIV3Schema` – and shows versions in their
inner form.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go`
(`Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec`),
`pkg/apis/apiextensions/types.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object

PER_VERSION = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""What may be the same in all versions, and what it is called at the top."""


def internal_form(spec: Object) -> Object:
    """The spec with everything that all versions agree on moved up."""
    versions = spec.get("versions") or []
    if not versions:
        return spec
    shared = [
        key
        for key in PER_VERSION
        if all(_same(version.get(key), versions[0].get(key)) for version in versions)
    ]
    inner = {key: value for key, value in spec.items() if key != "versions"}
    inner |= {
        PER_VERSION[key]: versions[0][key]
        for key in shared
        if versions[0].get(key) is not None
    }
    inner["versions"] = [
        {key: value for key, value in version.items() if key not in shared}
        for version in versions
    ]
    return inner


def _same(one: Any, other: Any) -> bool:
    """Equal, where an empty list is as good as none."""
    return bool(one == other or ([one, other] in ([None, []], [[], None])))


def go_versions(versions: list[Object]) -> list[Object]:
    """The versions as a message shows them: the inner type has no JSON names of its
    own, so Go's are seen, and every field.
    """
    return [
        {
            "Name": version.get("name", ""),
            "Served": bool(version.get("served")),
            "Storage": bool(version.get("storage")),
            "Deprecated": bool(version.get("deprecated")),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": _go_validation(version.get("schema")),
            "Subresources": _go_subresources(version.get("subresources")),
            "AdditionalPrinterColumns": _go_columns(
                version.get("additionalPrinterColumns")
            ),
            "SelectableFields": _listed(
                version.get("selectableFields"),
                lambda field: {"JSONPath": field["jsonPath"]},
            ),
        }
        for version in versions
    ]


def _listed(values: list[Object] | None, show: Any) -> list[Object] | None:
    return None if values is None else [show(value) for value in values]


def _go_validation(validation: Object | None) -> Object | None:
    if validation is None:
        return None
    schema = validation.get("openAPIV3Schema")
    return {"OpenAPIV3Schema": None if schema is None else go_schema(schema)}


def _go_subresources(subresources: Object | None) -> Object | None:
    if subresources is None:
        return None
    scale = subresources.get("scale")
    return {
        "Status": {} if subresources.get("status") is not None else None,
        "Scale": (
            None
            if scale is None
            else {
                "SpecReplicasPath": scale.get("specReplicasPath", ""),
                "StatusReplicasPath": scale.get("statusReplicasPath", ""),
                "LabelSelectorPath": scale.get("labelSelectorPath"),
            }
        ),
    }


def _go_columns(columns: list[Object] | None) -> list[Object] | None:
    def show(column: Object) -> Object:
        texts = {
            name.capitalize(): column.get(name, "")
            for name in ("name", "type", "format", "description")
        }
        return {
            **texts,
            "Priority": column.get("priority", 0),
            "JSONPath": column.get("jsonPath", ""),
        }

    return _listed(columns, show)


_SCHEMA_FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("ID", "id", ""), ("Schema", "$schema", ""), ("Ref", "$ref", None), ("Description",
    "description", ""), ("Type", "type", ""),
    ("Nullable", "nullable", False), ("Format", "format", ""), ("Title", "title", ""),
    ("Default", "default", None),
    ("Maximum", "maximum", None), ("ExclusiveMaximum", "exclusiveMaximum", False),
    ("Minimum", "minimum", None),
    ("ExclusiveMinimum", "exclusiveMinimum", False), ("MaxLength", "maxLength", None),
    ("MinLength", "minLength", None),
    ("Pattern", "pattern", ""), ("MaxItems", "maxItems", None), ("MinItems", "minItems",
    None), ("UniqueItems", "uniqueItems", False),
    ("MultipleOf", "multipleOf", None), ("Enum", "enum", None), ("MaxProperties",
    "maxProperties", None),
    ("MinProperties", "minProperties", None), ("Required", "required", None), ("Items",
    "items", None), ("AllOf", "allOf", None),
    ("OneOf", "oneOf", None), ("AnyOf", "anyOf", None), ("Not", "not", None),
    ("Properties", "properties", None),
    ("AdditionalProperties", "additionalProperties", None), ("PatternProperties",
    "patternProperties", None),
    ("Dependencies", "dependencies", None), ("AdditionalItems", "additionalItems",
    None), ("Definitions", "definitions", None),
    ("ExternalDocs", "externalDocs", None), ("Example", "example", None),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", None),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", False), ("XIntOrString",
    "x-kubernetes-int-or-string", False),
    ("XListMapKeys", "x-kubernetes-list-map-keys", None), ("XListType",
    "x-kubernetes-list-type", None),
    ("XMapType", "x-kubernetes-map-type", None), ("XValidations",
    "x-kubernetes-validations", None),
)  # fmt: skip
"""The inner type's fields in order: Go's name, the name in JSON, and what an absent one
shows as.
"""


def go_items(items: Object | list[Object]) -> Object:
    """One schema for all items, or one for each. Upstream: `JSONSchemaPropsOrArray`."""
    if isinstance(items, dict):
        return {"Schema": go_schema(items), "JSONSchemas": None}
    return {"Schema": None, "JSONSchemas": list(map(go_schema, items))}


def go_schema(schema: Object) -> Object:
    """A schema in the inner form, all fields of it. Upstream:
    `apiextensions.JSONSchemaProps`.
    """
    printed: Object = {
        name: schema.get(key, absent) for name, key, absent in _SCHEMA_FIELDS
    }
    for name in ("AllOf", "OneOf", "AnyOf"):
        printed[name] = _listed(printed[name], go_schema)
    if printed["Not"] is not None:
        printed["Not"] = go_schema(printed["Not"])
    for name in ("Properties", "PatternProperties", "Definitions"):
        if printed[name] is not None:
            printed[name] = {
                key: go_schema(printed[name][key]) for key in sorted(printed[name])
            }
    if printed["Items"] is not None:
        printed["Items"] = go_items(printed["Items"])
    for name in ("AdditionalProperties", "AdditionalItems"):
        additional = printed[name]
        if additional is not None:
            inner = go_schema(additional) if isinstance(additional, dict) else None
            printed[name] = {
                "Allows": bool(additional) or inner is not None,
                "Schema": inner,
            }
    if printed["Dependencies"] is not None:
        printed["Dependencies"] = {
            key: (
                {"Schema": go_schema(dependency), "Property": None}
                if isinstance(dependency, dict)
                else {"Schema": None, "Property": dependency}
            )
            for key, dependency in sorted(printed["Dependencies"].items())
        }
    printed["XValidations"] = _listed(printed["XValidations"], go_rule)
    return printed


def go_rule(rule: Object) -> Object:
    """A rule as a message shows it."""
    return {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
