"""Pruning: what the schema does not know is dropped before anything else happens.

So an object in the store holds nothing that nobody has thought about. A part of the
schema can ask for the opposite with `x-kubernetes-preserve-unknown-fields`; below it,
known fields are still pruned by their own schemas.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go`
(`PruneWithOptions`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object

TYPE_META = ("apiVersion", "kind", "metadata")


def prune(obj: Any, schema: Object, *, is_root: bool = True) -> list[str]:
    """Drop unknown fields, in place; the paths of what was dropped, sorted:
    `spec.foo[0].bar`.
    """
    dropped: list[str] = []
    _prune(obj, schema, is_root, "", dropped)
    return sorted(dropped)


def _prune(
    value: Any, schema: Object | None, is_resource: bool, path: str, dropped: list[str]
) -> None:
    schema = schema or {}
    if isinstance(value, list):
        items = schema.get("items")
        if items is None and schema.get("x-kubernetes-preserve-unknown-fields"):
            return
        for index, item in enumerate(value):
            here = f"{path}[{index}]"
            _prune(
                item,
                items,
                bool((items or {}).get("x-kubernetes-embedded-resource")),
                here,
                dropped,
            )
    elif isinstance(value, dict):
        _prune_map(value, schema, is_resource, path, dropped)


def _prune_map(
    value: Object, schema: Object, is_resource: bool, path: str, dropped: list[str]
) -> None:
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    keeps = (
        bool(schema.get("x-kubernetes-preserve-unknown-fields")) or additional is True
    )
    for key in list(value):
        here = f"{path}.{key}" if path else key
        if is_resource and key in TYPE_META:
            continue
        known = properties.get(key)
        if known is None and isinstance(additional, dict):
            known = additional
        if known is not None:
            _prune(
                value[key],
                known,
                bool(known.get("x-kubernetes-embedded-resource")),
                here,
                dropped,
            )
        elif not keeps:
            del value[key]
            dropped.append(here)
