"""What a type and its fields are, told from an OpenAPI v3 document.

A field's schema is rarely written where the field is: it refers to another one, alone
or as the only part of an `allOf`; lists hold theirs in `items`, maps in
`additionalProperties`. A type that holds itself is not gone into twice.

Upstream: `kubectl/pkg/explain/v2/templates/plaintext.tmpl`, `funcs.go`, v1.36.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lifecycle.api.go.format import go_quote, go_value
from lifecycle.kubectl.failures import CommandError, PartlyPrinted
from lifecycle.kubectl.printing.word_wrap import wrapped

Schema = Mapping[str, Any]
KIND = "x-kubernetes-group-version-kind"


def explained(
    document: Schema,
    group: str,
    version: str,
    resource: str,
    fields: Sequence[str],
    *,
    deep: bool,
) -> str:
    """The text for a resource, or for a field of it; `deep` lists the fields of fields
    too. Raises CommandError.
    """
    kind = _kind(document, group, version, resource)
    if not kind:
        raise CommandError(
            f"error: GVR ({group}/{version}, Resource={resource}) not found in OpenAPI"
            " schema"
        )
    text = f"GROUP:      {kind['group']}\n" if kind.get("group") else ""
    text += f"KIND:       {kind['kind']}\nVERSION:    {kind['version']}\n\n"
    schemas = document["components"]["schemas"]
    for name in sorted(schemas):
        if kind in (schemas[name].get(KIND) or ()):
            explanation = Explanation(document, deep).at(
                schemas[name], list(fields), frozenset()
            )
            if not explanation:
                raise PartlyPrinted(f'error: field "{fields[-1]}" does not exist', text)
            return f"{text}{explanation}\n"
    raise CommandError(f"error: GVK {go_value(kind)} not found in OpenAPI schema")


def _kind(document: Schema, group: str, version: str, resource: str) -> Schema:
    """The kind that the paths of a resource speak of."""
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    below = f"{root}/namespaces/{{namespace}}/{resource}"
    gvk: Schema = {}
    for path in (
        f"{root}/{resource}",
        f"{root}/{resource}/{{name}}",
        below,
        f"{below}/{{name}}",
    ):
        operations = document["paths"].get(path) or {}
        for method in ("get", "post", "put", "patch", "delete"):
            if operations.get(method):
                gvk = operations[method].get(KIND) or {}
                if gvk:
                    break
    return gvk


class Explanation:
    """One document, and how deep to go."""

    def __init__(self, document: Schema, deep: bool) -> None:
        self._document, self._deep = document, deep

    def _referred(self, schema: Schema) -> Schema:
        """The schema meant by a reference, or the schema itself."""
        target: Any = self._document
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        for part in filter(None, reference[1:].split("/")):
            target = target.get(part) if isinstance(target, dict) else None
        return target if isinstance(target, dict) and target else schema

    def at(self, schema: Schema, fields: list[str], seen: frozenset[str]) -> str:
        """The text for what the field names lead to; empty if they lead nowhere."""
        reference, resolved = schema.get("$ref") or "", self._referred(schema)
        if not fields:
            return self._whole(resolved)
        if reference and reference in seen:
            return ""
        seen = seen | {reference}
        field = (resolved.get("properties") or {}).get(fields[0])
        if field:
            head = ""
            if len(fields) == 1:
                head = (
                    f"FIELD: {fields[0]}"
                    f" <{self.type_of(field)}>\n{_all_values(field)}\n\n"
                )
            return head + self.at(field, fields[1:], frozenset())
        if resolved.get("items"):
            return self.at(resolved["items"], fields, seen)
        if (
            isinstance(resolved.get("additionalProperties"), dict)
            and resolved["additionalProperties"]
        ):
            return self.at(resolved["additionalProperties"], fields, seen)
        return next(
            filter(
                None,
                (self.at(part, fields, seen) for part in resolved.get("allOf") or ()),
            ),
            "",
        )

    def _whole(self, schema: Schema) -> str:
        described = (
            "".join(f"{text}\n" for text in self._descriptions(schema)) or "<empty>"
        )
        text = f"DESCRIPTION:\n{_indented(wrapped(described, 76), 4)}\n"
        if schema.get("externalDocs"):
            text += f"\n{_external(schema['externalDocs'], 0)}"
        fields = "".join(self._fields(schema, 1, frozenset()))
        return text + (f"FIELDS:\n{fields}" if fields else "")

    def _descriptions(self, schema: Schema) -> Iterator[str]:
        schema = self._referred(schema)
        if schema.get("description"):
            yield schema["description"]
        for part in _parts(schema):
            yield from self._descriptions(part)

    def _fields(
        self, schema: Schema, level: int, seen: frozenset[str]
    ) -> Iterator[str]:
        reference = schema.get("$ref") or ""
        if reference and reference in seen:
            return
        seen, resolved = seen | {reference}, self._referred(schema)
        for name, field in sorted((resolved.get("properties") or {}).items()):
            yield self._field(
                name, field, name in (resolved.get("required") or ()), level * 2
            )
            if self._deep:
                yield from self._fields(field, level + 1, seen)
        for part in _parts(resolved):
            yield from self._fields(part, level, seen)

    def _field(self, name: str, schema: Schema, required: bool, indent: int) -> str:
        margin = " " * indent
        text = (
            f"{margin}{name}\t<{self.type_of(schema)}>"
            f"{' -required-' if required else ''}{_values(schema, margin)}\n"
        )
        if self._deep:
            return text
        described = schema.get("description") or "<no description>"
        text += _indented(wrapped(described, 78 - indent), indent + 2) + "\n"
        if schema.get("externalDocs"):
            text += f"\n{_external(schema['externalDocs'], indent + 2, 76 - indent)}"
        return text + "\n"

    def type_of(self, schema: Schema) -> str:
        """A type in short: `string`, `[]Container`, `map[string]Quantity`."""
        if schema.get("items"):
            return f"[]{self.type_of(schema['items'])}"
        if (
            isinstance(schema.get("additionalProperties"), dict)
            and schema["additionalProperties"]
        ):
            return f"map[string]{self.type_of(schema['additionalProperties'])}"
        if len(schema.get("allOf") or ()) == 1 and not schema.get("properties"):
            return self.type_of(schema["allOf"][0])
        if schema.get("$ref"):
            referred = self._referred(schema)
            if referred is schema or referred.get("type") in (None, "", "object"):
                return (
                    str(schema["$ref"]).rpartition("/")[2].rpartition(".")[2]
                    or "Object"
                )
            return str(referred["type"])
        return (
            "Object"
            if schema.get("type") in (None, "", "object")
            else str(schema["type"])
        )


def _parts(schema: Schema) -> list[Schema]:
    """Where more of a schema stands."""
    parts = [*(schema.get("allOf") or ())]
    if schema.get("items"):
        parts.append(schema["items"])
    if (
        isinstance(schema.get("additionalProperties"), dict)
        and schema["additionalProperties"]
    ):
        parts.append(schema["additionalProperties"])
    return parts


def _indented(text: str, by: int) -> str:
    margin = " " * by
    return margin + text.replace("\n", f"\n{margin}")


def _external(docs: Schema, indent: int, width: int = 76) -> str:
    text = _indented("EXTERNAL DOCS:", indent) + "\n"
    if docs.get("description"):
        text += (
            _indented(
                wrapped(docs["description"], width), indent + (2 if indent else 4)
            )
            + "\n"
        )
    if docs.get("url"):
        text += _indented(f"URL: {docs['url']}", indent + (2 if indent else 4)) + "\n"
    return text


def _enum_value(value: Any) -> str:
    return go_quote("") if value == "" else go_value(value)


def _values(schema: Schema, margin: str) -> str:
    """The first of the values that a field may have."""
    values = schema.get("enum")
    if not values:
        return ""
    return (
        f"\n{margin}enum: "
        + ", ".join(map(_enum_value, values[:4]))
        + (", ...." if len(values) > 4 else "")
    )


def _all_values(schema: Schema) -> str:
    values = schema.get("enum")
    return (
        "ENUM:" + "".join(f"\n    {_enum_value(value)}" for value in values)
        if values
        else ""
    )
