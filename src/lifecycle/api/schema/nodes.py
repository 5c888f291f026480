"""One node of a compiled schema: what a patch or an apply must know about a place in an
object.

A `Schema` is deliberately small. It answers: is this an object with known fields, a
map, a list or a leaf? If a list, are its items matched by position, by value or by
keys? How does a strategic merge patch treat it? Nodes are shared: every place that
refers to `PodSpec` sees the same fields, compiled when somebody first looks.

Upstream: `kube-openapi/pkg/schemaconv` (smd schema from OpenAPI),
`apimachinery/pkg/util/strategicpatch/meta.go` (patch metadata), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import ReferenceType

EMPTY: Mapping[str, Any] = {}


class Schema:
    """A compiled node.

    - `name`: the OpenAPI component it stands for (`io.k8s.api.core.v1.Container`), or
      empty for an inline node
    - `kind`: `object` (known `fields`), `map` (free keys, all values shaped like
      `values`), `list` (of `items`), a leaf (`string`, `integer`, `number`, `boolean`,
      `int-or-string`, `quantity`) or `any` (arbitrary JSON)
    - `fields`: field name → Schema (objects only); `items`: Schema of a list's
      elements; `values`: Schema of a map's values
    - `list_type`: `atomic`, `set`, `map` or empty (not said: server-side apply treats
      it as atomic)
    - `list_map_keys`: the keys that identify an item of a `map` list; `key_defaults`:
      those of them that have a default
    - `map_type`: `atomic`, `granular` or empty, for objects and maps
    - `patch_merge_key`, `patch_strategy`: for strategic merge patches; the strategy is
      a tuple (`("merge",)`, `("replace",)`, `("merge", "retainKeys")`,
      `("retainKeys",)`) or empty
    - `default`: the published default, or None
    - `format`: the OpenAPI format of a leaf (`int32`, `byte`, `date-time`, …)
    - `preserve_unknown`: unknown fields are kept (custom resources, embedded raw
      objects)
    - `derived`: a weak reference to what server-side apply has worked out from the node
    """

    __slots__ = (
        "_load",
        "_parts",
        "default",
        "derived",
        "format",
        "kind",
        "list_map_keys",
        "list_type",
        "map_type",
        "name",
        "patch_merge_key",
        "patch_strategy",
        "preserve_unknown",
    )

    def __init__(
        self,
        name: str,
        kind: str,
        load: Callable[[], tuple[Mapping[str, Schema], Schema | None, Schema | None]],
    ) -> None:
        self.name = name
        self.kind = kind
        self.list_type = ""
        self.list_map_keys: tuple[str, ...] = ()
        self.map_type = ""
        self.patch_merge_key = ""
        self.patch_strategy: tuple[str, ...] = ()
        self.default: Any = None
        self.format = ""
        self.preserve_unknown = False
        self.derived: ReferenceType[Any] | None = None
        self._load = load
        self._parts: (
            tuple[Mapping[str, Schema], Schema | None, Schema | None] | None
        ) = None

    def _children(self) -> tuple[Mapping[str, Schema], Schema | None, Schema | None]:
        parts = self._parts
        if parts is None:
            parts = self._parts = self._load()
        return parts

    @property
    def fields(self) -> Mapping[str, Schema]:
        """The known fields of an object, compiled at the first look."""
        return (self._parts or self._children())[0]

    @property
    def items(self) -> Schema | None:
        """What a list holds."""
        return (self._parts or self._children())[1]

    @property
    def values(self) -> Schema | None:
        """What a map holds."""
        return (self._parts or self._children())[2]

    @property
    def key_defaults(self) -> dict[str, Any]:
        """Published defaults of the keys of a `map` list, e.g. `protocol: TCP` of
        container ports.
        """
        items = self.items
        if items is None:
            return {}
        defaults = {
            key: items.fields[key].default
            for key in self.list_map_keys
            if key in items.fields
        }
        return {key: value for key, value in defaults.items() if value is not None}

    def child(self, key: str) -> Schema | None:
        """The schema below a key: a known field, or the value of a map."""
        return self.fields.get(key) or self.values

    def __repr__(self) -> str:
        return f"Schema({self.name or self.kind})"
