"""Is an applied configuration well-formed? Checked against the published types before
anything is merged.

A server-side apply is stricter than any other write: an unknown field, a wrong type or
a list with the same key twice refuses it.

Upstream: `structured-merge-diff/typed/validate.go` (`validatingObjectWalker`),
`apimachinery/pkg/util/managedfields/internal/structuredmerge.go` (`objectGVKNN`),
v1.36. The messages are upstream's.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fieldpath.path_elements import path_text, set_element
from lifecycle.api.go.format import go_json_type, go_syntax, go_value
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import Schema, schema_for
from lifecycle.api.status import failure
from lifecycle.apiserver.managedfields.typed import KEYED, SET, type_of

_NUMERIC = ("integer", "number")
_ANYTHING = ("any", "int-or-string")
"""Schemas without a type: number or text, that is for the decoder to say."""


def check_config(obj: Object, schema: Schema | None = None) -> None:
    """Raises StatusError 500 (as upstream does) listing everything that the type of the
    object does not allow.
    """
    if problem := _problem(obj, schema, "failed to create typed patch object ({})"):
        raise failure(500, "", problem)


def check_untracked(obj: Object, schema: Schema | None = None) -> None:
    """The same of a stored object whose fields nobody owns yet. Upstream:
    `buildManagerInfo` and `structuredMerge.Update`.
    """
    what = (
        "failed to create manager for existing fields: failed to convert new object"
        " ({}) to smd typed"
    )
    if problem := _problem(obj, schema, what):
        raise failure(500, "", problem)


def _problem(obj: Object, schema: Schema | None, what: str) -> str:
    if schema is None:
        try:
            schema = schema_for(obj["apiVersion"], obj["kind"])
        except KeyError:
            return ""
    errors: list[str] = []
    _check(schema, obj, "", errors)
    if not errors:
        return ""
    namespace, own_name = _string(obj, "namespace"), _string(obj, "name")
    group, _, version = obj["apiVersion"].rpartition("/")
    name = f"{namespace}/{own_name}; {group}/{version}, Kind={obj['kind']}"
    details = (
        errors[0]
        if len(errors) == 1
        else "errors:" + "".join(f"\n  {error}" for error in errors)
    )
    return f"{what.format(name)}: {details}"


def _string(obj: Object, key: str) -> str:
    metadata = obj.get("metadata")
    value = metadata.get(key) if isinstance(metadata, dict) else ""
    return value if isinstance(value, str) else ""


def _check(schema: Schema, value: Any, path: str, errors: list[str]) -> None:
    kind = schema.kind
    if value is None or kind in _ANYTHING:
        return
    if kind in ("object", "map"):
        if isinstance(value, dict):
            _check_dict(schema, value, path, errors)
        else:
            errors.append(f"{path}: expected map, got &{{{go_value(value)}}}")
    elif kind == "list":
        if isinstance(value, list):
            _check_list(schema, value, path, errors)
        else:
            errors.append(f"{path}: expected list, got &{{{go_value(value)}}}")
    else:
        wrong = _wrong_scalar(schema, value)
        if wrong:
            errors.append(f"{path}: {wrong}")


def _check_dict(
    schema: Schema, value: dict[str, Any], path: str, errors: list[str]
) -> None:
    # Upstream walks a Go map, whose order is anybody's guess but begins, more often
    # than not, with what was put in first; the keys were put in sorted. It stops at the
    # first field that the schema does not have.
    for name, part in sorted(value.items()):
        child = schema.child(name)
        if child is not None:
            _check(child, part, f"{path}.{name}", errors)
        elif schema.kind == "object" and not schema.preserve_unknown:
            errors.append(f"{path}.{name}: field not declared in schema")
            return


def _check_list(schema: Schema, value: list[Any], path: str, errors: list[str]) -> None:
    t = type_of(schema)
    items = schema.items
    seen: set[str] = set()
    for i, item in enumerate(value):
        if t.shape in (KEYED, SET):
            try:
                element = (
                    t.item_element(item) if t.shape == KEYED else set_element(item)
                )
            except ValueError as wrong:
                errors.append(f"{path}: element {i}: {wrong}")
                return
            element_path = path_text([element])
            if element in seen:
                errors.append(f"{path}: duplicate entries for key {element_path}")
            seen.add(element)
        else:
            element_path = f"[{i}]"
        if items is not None:
            _check(items, item, path + element_path, errors)


def _wrong_scalar(schema: Schema, value: Any) -> str:
    kind = schema.kind
    if kind in _NUMERIC:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        return (
            ""
            if good
            else f"expected numeric (int or float), got {go_json_type(value)}"
        )
    if kind == "quantity" or schema.format == "date-time":
        return (
            ""
            if not isinstance(value, (dict, list))
            else f"expected any scalar, got &{{{go_value(value)}}}"
        )
    if kind == "boolean":
        return (
            ""
            if isinstance(value, bool)
            else f"expected boolean, got &{{{go_value(value)}}}"
        )
    if isinstance(value, str):
        return ""
    return f"expected string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
