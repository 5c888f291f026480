"""What a definition's schema may use, node by node.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinitionOpenAPISchema`, `specStandardValidatorV3`,
`validateMapListKeysMapSet`), `pkg/apiserver/schema/defaulting/validation.go`
(`ValidateDefaults`), v1.36.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.cel_rules import validate_rules
from lifecycle.apiserver.apiextensions.field_paths import PathError, field_at
from lifecycle.apiserver.apiextensions.internal_form import go_items
from lifecycle.apiserver.apiextensions.pruning import TYPE_META, prune
from lifecycle.apiserver.apiextensions.rule_costs import RuleCosts, max_cardinality
from lifecycle.apiserver.apiextensions.rule_definitions import validate_rule_definitions
from lifecycle.apiserver.apiextensions.schema_validation import validate_value
from lifecycle.apiserver.apiextensions.structural import (
    EMBEDDED,
    PRESERVE,
    TYPES,
    cannot_be_structural,
)

LIST_TYPE, MAP_KEYS, MAP_TYPE, RULES = (
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
)
REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_UNSUPPORTED = (("id", "id"), ("additionalItems", "additionalItems"),
("patternProperties", "patternProperties"),
                ("definitions", "definitions"), ("dependencies", "dependencies"),
                ("$ref", "$ref"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Where:
    """What holds at a place: why defaults are forbidden, whether types need not be
    known, within which list or map `oldSelf` has no counterpart, how often a value may
    be there.
    """

    no_defaults: str | None = None
    any_type: bool = False
    uncorrelatable: str = ""
    is_root: bool = False
    in_meta: bool = False
    in_junctor: bool = False
    cardinality: int | None = 1


@dataclass(slots=True)
class _Rules:
    """What rules cost, None if nobody asks about rules, and what is wrong with them."""

    costs: RuleCosts | None
    errors: list[FieldError]


def validate_schema(
    schema: Object,
    path: str,
    *,
    defaults: bool = True,
    property_types: bool = True,
    rule_costs: RuleCosts | None = None,
) -> tuple[list[FieldError], list[FieldError]]:
    """What is wrong with a schema as such, and what is wrong with its rules.
    `defaults`: it may have some; `property_types`: its types have to be known;
    `rule_costs`: what takes the costs of its rules, None if they are not looked at.
    """
    errors: list[FieldError] = []
    rules = _Rules(rule_costs, [])
    where = _Where(None if defaults else "", not property_types, is_root=True)
    _node(schema, path, where, errors, rules)
    return errors, rules.errors


def _node(
    schema: Object, path: str, where: _Where, errors: list[FieldError], rules: _Rules
) -> None:
    before = len(errors)
    _standard(schema, path, where, errors)
    if schema.get("uniqueItems"):
        why = (
            "uniqueItems cannot be set to true since the runtime complexity becomes"
            " quadratic"
        )
        errors.append(forbidden(f"{path}.uniqueItems", why))
    additional, properties = (
        schema.get("additionalProperties"),
        schema.get("properties") or {},
    )
    inside = replace(
        where, is_root=False, cardinality=max_cardinality(where.cardinality, schema)
    )
    if additional is not None:
        if properties and additional is not True:
            errors.append(
                forbidden(
                    f"{path}.additionalProperties",
                    "additionalProperties and properties are mutual exclusive",
                )
            )
        if isinstance(additional, dict):
            sub = replace(
                inside,
                no_defaults="inside additionalProperties applying to object metadata",
            )
            sub = sub if where.in_meta else inside
            _node(additional, f"{path}.additionalProperties", sub, errors, rules)
    for key, child in properties.items():
        sub = inside
        if schema.get(MAP_TYPE) == "atomic":
            sub = replace(sub, uncorrelatable=sub.uncorrelatable or path)
        if key in TYPE_META and (where.is_root or schema.get(EMBEDDED)):
            sub = replace(sub, in_meta=True)
            if where.is_root:
                sub = replace(sub, no_defaults=f"in top-level {key}")
        _node(child, f"{path}.properties[{key}]", sub, errors, rules)
    described, inside = inside, replace(inside, in_junctor=True)
    if schema.get("not") is not None:
        _node(schema["not"], f"{path}.not", inside, errors, rules)
    for junctor in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(schema.get(junctor) or ()):
            _node(child, f"{path}.{junctor}[{index}]", inside, errors, rules)
    for key, child in (schema.get("definitions") or {}).items():
        _node(child, f"{path}.definitions[{key}]", inside, errors, rules)
    inside, items = described, schema.get("items")
    if isinstance(items, dict):
        sub = (
            inside
            if schema.get(LIST_TYPE) == "map"
            else replace(inside, uncorrelatable=inside.uncorrelatable or path)
        )
        _node(items, f"{path}.items", sub, errors, rules)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        _node(item, f"{path}.items[{index}]", inside, errors, rules)
    _extensions(schema, path, errors)
    _list_map(schema, path, errors)
    _rules(schema, path, errors)
    if len(errors) == before and not where.in_junctor and rules.costs is not None:
        rules.errors += validate_rule_definitions(
            schema,
            path,
            rules.costs,
            is_root=where.is_root,
            uncorrelatable=where.uncorrelatable,
            cardinality=where.cardinality,
        )


def _standard(
    schema: Object, path: str, where: _Where, errors: list[FieldError]
) -> None:
    type_ = schema.get("type", "")
    if type_ and type_ not in TYPES and not where.any_type:
        errors.append(not_supported(f"{path}.type", type_, TYPES, plain=True))
    if schema.get("default") is not None and where.no_defaults is not None:
        detail = (
            f"must not be set {where.no_defaults}"
            if where.no_defaults
            else "must not be set"
        )
        errors.append(forbidden(f"{path}.default", detail))
    errors += [
        forbidden(f"{path}.{key}", f"{name} is not supported")
        for key, name in _UNSUPPORTED
        if schema.get(key)
    ]
    if schema.get("dependencies") == {}:
        why = "dependencies is not supported"
        errors.append(forbidden(f"{path}.dependencies", why, of_empty=True))
    if type_ == "null":
        errors.append(
            forbidden(
                f"{path}.type",
                "type cannot be set to null, use nullable as an alternative",
            )
        )
    if isinstance(schema.get("items"), list):
        errors.append(
            forbidden(f"{path}.items", "items must be a schema object and not an array")
        )
    if where.in_meta and schema.get(EMBEDDED):
        errors.append(
            forbidden(f"{path}.{EMBEDDED}", "must not be used inside of resource meta")
        )


def _extensions(schema: Object, path: str, errors: list[FieldError]) -> None:
    type_ = schema.get("type", "")
    if schema.get(PRESERVE) is False:
        errors.append(invalid(f"{path}.{PRESERVE}", False, "must be true or undefined"))
    for key, required_type, allowed in (
        (MAP_TYPE, "object", ("atomic", "granular")),
        (LIST_TYPE, "array", ("atomic", "set", "map")),
    ):
        value = schema.get(key)
        if value is None:
            continue
        if type_ != required_type:
            why = f"must be {required_type} if {key} is specified"
            errors.append(
                invalid(f"{path}.type", type_, why)
                if type_
                else required(f"{path}.type", why)
            )
        elif key == LIST_TYPE and value == "set":
            _set_items(schema.get("items"), path, errors)
        if value not in allowed:
            errors.append(not_supported(f"{path}.{key}", value, allowed, plain=True))


def _set_items(items: Any, path: str, errors: list[FieldError]) -> None:
    items = items if isinstance(items, dict) else {}
    why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if items.get("type") == "array" and items.get(LIST_TYPE) not in (None, "atomic"):
        errors.append(invalid(f"{path}.items.{LIST_TYPE}", items[LIST_TYPE], why))
    elif items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        errors.append(invalid(f"{path}.items.{MAP_TYPE}", items.get(LIST_TYPE), why))


def _list_map(schema: Object, path: str, errors: list[FieldError]) -> None:
    keys, kind, items = (
        schema.get(MAP_KEYS) or [],
        schema.get(LIST_TYPE),
        schema.get("items"),
    )
    if keys and kind != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        errors.append(
            invalid(f"{path}.{LIST_TYPE}", kind, why)
            if kind
            else required(f"{path}.{LIST_TYPE}", why)
        )
    if kind == "map":
        if not keys:
            errors.append(
                required(
                    f"{path}.{MAP_KEYS}",
                    "must not be empty if x-kubernetes-list-type is map",
                )
            )
        if items is None:
            errors.append(
                required(
                    f"{path}.items",
                    "must have a schema if x-kubernetes-list-type is map",
                )
            )
        elif isinstance(items, list):
            errors.append(
                invalid(
                    f"{path}.items",
                    go_items(items),
                    "must only have a single schema if x-kubernetes-list-type is map",
                )
            )
        elif items.get("type") != "object":
            why = "must be object if parent array's x-kubernetes-list-type is map"
            errors.append(invalid(f"{path}.items.type", items.get("type", ""), why))
        else:
            for index, key in enumerate(keys):
                child = (items.get("properties") or {}).get(key)
                if child is None:
                    errors.append(
                        invalid(
                            f"{path}.{MAP_KEYS}",
                            keys,
                            "entries must all be names of item properties",
                        )
                    )
                elif child.get("type") in ("array", "object"):
                    why = (
                        "must be a scalar type if parent array's x-kubernetes-list-type"
                        " is map"
                    )
                    errors.append(
                        invalid(
                            f"{path}.items.properties[{key}].type", items["type"], why
                        )
                    )
                if key in keys[:index]:
                    errors.append(
                        invalid(
                            f"{path}.{MAP_KEYS}",
                            keys,
                            "must not contain duplicate entries",
                        )
                    )
    if kind in ("set", "map") and isinstance(items, dict):
        if items.get("nullable"):
            errors.append(
                forbidden(
                    f"{path}.items.nullable",
                    f"cannot be nullable when x-kubernetes-list-type is {kind}",
                )
            )
        for key in keys if kind == "map" else ():
            child = (items.get("properties") or {}).get(key)
            if child is None:
                continue
            here = f"{path}.items.properties[{key}]"
            if (
                key not in (items.get("required") or ())
                and child.get("default") is None
            ):
                why = (
                    "this property is in x-kubernetes-list-map-keys, so it must have a"
                    " default or be a required property"
                )
                errors.append(required(f"{here}.default", why))
            if child.get("nullable"):
                why = (
                    "this property is in x-kubernetes-list-map-keys, so it cannot be"
                    " nullable"
                )
                errors.append(forbidden(f"{here}.nullable", why))


def _rules(schema: Object, path: str, errors: list[FieldError]) -> None:
    for index, rule in enumerate(schema.get(RULES) or ()):
        here = f"{path}.{RULES}[{index}]"
        text, message = rule.get("rule", "").strip(), rule.get("message", "")
        if not text:
            errors.append(required(f"{here}.rule", "rule is not specified"))
        elif message and not message.strip():
            errors.append(
                invalid(f"{here}.message", message, "must be non-empty if specified")
            )
        elif "\n" in message.strip():
            errors.append(
                invalid(f"{here}.message", message, "must not contain line breaks")
            )
        elif "\n" in text and not message.strip():
            errors.append(
                required(
                    f"{here}.message",
                    "message must be specified if rule contains line breaks",
                )
            )
        expression = rule.get("messageExpression", "")
        if expression and not expression.strip():
            why = "messageExpression must be non-empty if specified"
            errors.append(required(f"{here}.messageExpression", why))
        if rule.get("reason") is not None and rule["reason"] not in REASONS:
            errors.append(not_supported(f"{here}.reason", rule["reason"], REASONS))
        _field_path(schema, rule.get("fieldPath", ""), f"{here}.fieldPath", errors)


def _field_path(
    schema: Object, field_path: str, here: str, errors: list[FieldError]
) -> None:
    if not field_path:
        return
    if not field_path.strip():
        errors.append(invalid(here, field_path, "must be non-empty if specified"))
    if "\n" in field_path:
        errors.append(invalid(here, field_path, "must not contain line breaks"))
    if cannot_be_structural(schema):
        return
    try:
        field_at(field_path, schema)
    except PathError:
        errors.append(invalid(here, field_path, "must be a valid path"))


def validate_defaults(
    schema: Object, path: str, *, is_root: bool = True
) -> list[FieldError]:
    """Every default must be what it says: known fields only, valid, and keeping the
    rules.
    """
    errors: list[FieldError] = []
    default = schema.get("default")
    if default is not None:
        here = f"{path}.default"
        pruned = copy.deepcopy(default)
        prune(pruned, schema, is_root=bool(schema.get(EMBEDDED)))
        if pruned != default:
            errors.append(invalid(here, default, "must not have unknown fields"))
        if default_errors := validate_value(default, schema):
            # upstream takes "[1]", the place within a list, for the name of a field
            errors += [_below(error, here, always=".") for error in default_errors]
        else:  # a default is also what was there before, which its rules may ask
            rules = validate_rules(
                default, schema, default, is_resource=False, ratchets=False
            )
            errors += [_below(error, here) for error in rules]
    for key, child in (schema.get("properties") or {}).items():
        if not (is_root and key in TYPE_META):
            errors += validate_defaults(
                child, f"{path}.properties[{key}]", is_root=False
            )
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            errors += validate_defaults(schema[key], f"{path}.{key}", is_root=False)
    return errors


def _below(error: FieldError, path: str, always: str = "") -> FieldError:
    if error.field in ("", "<nil>"):
        return replace(error, field=path)
    joint = always or ("" if error.field.startswith("[") else ".")
    return replace(error, field=f"{path}{joint}{error.field}")
