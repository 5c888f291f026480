"""Types as server-side apply sees them: what is one value, and what has parts that can
be owned separately.

Five shapes are enough. A *leaf* is owned as a whole: scalars, atomic lists, atomic maps
(a label selector!). A *struct* has known fields, a *map* free keys; a *keyed list* has
items identified by some of their fields (containers by name), a *set* items that are
their own identity (finalizers). Where nothing is published (custom resources without a
schema) shapes are deduced from the values: objects are maps, lists are leaves.

Upstream: `kube-openapi/pkg/schemaconv/smd.go` (OpenAPI extensions to shapes),
`structured-merge-diff/schema/elements.go`, v6.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.fieldpath.path_elements import key_element, name_key
from lifecycle.api.schema import Schema, schema_for

LEAF_SHAPE, STRUCT, MAP, KEYED, SET = range(5)


class Type:
    """One node: `shape`, and by shape `fields` (name → (path element, Type)), `element`
    (of maps and lists), `keys` and `defaults`.
    """

    __slots__ = (
        "__weakref__",
        "_element",
        "_fields",
        "_loose",
        "_schema",
        "defaults",
        "keys",
        "leaf",
        "only_key",
        "shape",
    )

    def __init__(
        self, shape: int, schema: Schema | None = None, *, loose: bool | None = None
    ) -> None:
        self.shape = shape
        self.leaf = shape == LEAF_SHAPE
        self._element: Type | None = None
        self.keys: tuple[str, ...] = ()
        self.only_key = ""
        self.defaults: dict[str, Any] = {}
        self._schema = schema
        self._fields: dict[str, tuple[str, Type]] | None = None
        self._loose = loose

    @property
    def element(self) -> Type:
        """Of maps and lists; where nothing else is known, the same again."""
        return self._element or self

    @property
    def schema(self) -> Schema | None:
        """What a struct was made from."""
        return self._schema

    @property
    def fields(self) -> dict[str, tuple[str, Type]]:
        """The known fields of a struct, made when first asked for (types may contain
        themselves).
        """
        fields = self._fields
        if fields is None:
            known = self._schema.fields if self._schema is not None else {}
            fields = self._fields = {
                name: (f"f:{name}", type_of(schema)) for name, schema in known.items()
            }
        return fields

    def field(self, name: str) -> tuple[str, Type] | None:
        """Path element and type of a struct's field; None for one that it does not
        know, unless it keeps those.
        """
        known = (self._fields or self.fields).get(name)
        if known is None and self._schema is not None and self._schema.preserve_unknown:
            return f"f:{name}", DEDUCED
        return known

    @property
    def loose(self) -> bool:
        """Whether there are values below of which nothing says what they are. What may
        contain itself counts as such, too.
        """
        if self._loose is None:
            self._loose = True
            if self.shape == STRUCT:
                keeps = self._schema is not None and self._schema.preserve_unknown
                self._loose = keeps or any(t.loose for _, t in self.fields.values())
            else:
                self._loose = self.element is not self and self.element.loose
        return self._loose

    def item_element(self, item: Any) -> str:
        """The path element of an item of a keyed list. Raises ValueError for an item
        without any key.
        """
        if item is None:
            raise ValueError("associative list with keys may not have a null element")
        if type(item) is not dict:
            raise ValueError("associative list with keys may not have non-map elements")
        only = self.only_key
        if only:
            value = item.get(only)
            if type(value) is str:
                return name_key(only, value)
        key_fields = {}
        for key in self.keys:
            if key in item:
                key_fields[key] = item[key]
            elif (default := self.defaults.get(key)) is not None:
                key_fields[key] = default
        if not key_fields:
            names = " ".join(f'"{key}"' for key in self.keys)
            raise ValueError(
                "associative list with keys has an element that omits all key fields"
                f" [{names}] (and doesn't have default values for any key fields)"
            )
        return key_element(key_fields)

    def child(self, element: str) -> Type:
        """The type one step down a path."""
        if self.shape == STRUCT:
            known = self.field(element[2:])
            return known[1] if known is not None else DEDUCED
        return self.element


LEAF_TYPE = Type(LEAF_SHAPE)
SET_TYPE = Type(SET)
RAW = Type(LEAF_SHAPE, loose=True)
"""The type of what is owned as a whole, and may be anything."""
DEDUCED = Type(MAP, loose=True)
"""The type of what has no schema: looks like its value."""


def type_of(schema: Schema) -> Type:
    """The type of a schema node. Nodes are shared, so types are. A type knows its node;
    the node does not keep it, or neither would ever go.
    """
    known: Type | None = schema.derived() if schema.derived is not None else None
    if known is None:
        known = _compile(schema)
        schema.derived = ref(known)
    return known


def _compile(schema: Schema) -> Type:
    kind = schema.kind
    if kind == "list":
        return _list(schema)
    if schema.map_type == "atomic":
        return RAW if _parts_of(schema).loose else LEAF_TYPE
    if kind in ("object", "map"):
        return _parts_of(schema)
    if schema.name.endswith(".RawExtension"):
        return RAW
    return DEDUCED if kind == "any" and not schema.format else LEAF_TYPE


def _parts_of(schema: Schema) -> Type:
    """Of an object or a map, whether it is owned as a whole or in parts."""
    if schema.kind == "object":
        return Type(STRUCT, schema)
    compiled = Type(MAP)
    compiled._element = type_of(schema.values) if schema.values is not None else DEDUCED
    return compiled


def _list(schema: Schema) -> Type:
    list_type, keys = schema.list_type, schema.list_map_keys
    if not list_type and "merge" in schema.patch_strategy:
        keys = (schema.patch_merge_key,) if schema.patch_merge_key else ()
        list_type = "map" if keys else "set"
    if list_type == "set":
        return SET_TYPE
    if list_type != "map" or schema.items is None:
        known = schema.items is not None and not type_of(schema.items).loose
        return LEAF_TYPE if known else RAW
    compiled = Type(KEYED)
    compiled.keys = keys
    compiled.only_key = keys[0] if len(keys) == 1 else ""
    compiled.defaults = schema.key_defaults
    compiled._element = type_of(schema.items)
    return compiled


@short_pair_cache(1024)
def type_for(api_version: str, kind: str) -> Type:
    """The type of a kind; deduced for kinds that the version does not publish."""
    try:
        return type_of(schema_for(api_version, kind))
    except KeyError:
        return DEDUCED
