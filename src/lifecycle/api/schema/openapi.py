"""Compile the published OpenAPI v3 documents into `Schema` nodes.

A cluster serves one document per group and version; each is complete in itself, so
`PodSpec` appears in several. Components are compiled once per name, lazily, and shared
between documents: compiling Deployment does not touch what nobody asks for.

Upstream: `kube-openapi/pkg/schemaconv/openapi.go` (`ToSchemaFromOpenAPI`), v1.36.
Custom resources bring their own document: `compile_schema` takes a CRD's
`openAPIV3Schema` as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from lifecycle.api.published import published
from lifecycle.api.resources import all_resources
from lifecycle.api.schema.nodes import EMPTY, Schema

_PREFIX = "#/components/schemas/"
_LEAVES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
}
_components: dict[str, Schema] = {}


def _document(api_version: str) -> Any:
    return published(
        f"openapi/apis/{api_version}.json"
        if "/" in api_version
        else f"openapi/api/{api_version}.json"
    )


@cache
def _kinds(document: str, api_version: str) -> dict[str, str]:
    """The components of a document that are kinds of a version, by kind."""
    kinds: dict[str, str] = {}
    for name, component in _document(document)["components"]["schemas"].items():
        for gvk in component.get("x-kubernetes-group-version-kind", ()):
            gv = f"{gvk['group']}/{gvk['version']}" if gvk["group"] else gvk["version"]
            if gv == api_version:
                kinds[gvk["kind"]] = name
    return kinds


@cache
def schema_for(api_version: str, kind: str) -> Schema:
    """The schema of a built-in kind. Raises KeyError for a kind that the version does
    not publish.

    Kinds that are only spoken by subresources (`autoscaling/v1` Scale, `policy/v1`
    Eviction) are published with the resources that have the subresource, not with their
    own group.
    """
    for document in (api_version, *_versions_with_subresource(api_version, kind)):
        try:
            name = _kinds(document, api_version)[kind]
        except KeyError:  # no such document, or not in it
            continue
        return _component(name, _document(document)["components"]["schemas"])
    raise KeyError(f"{api_version} {kind}")


def _versions_with_subresource(api_version: str, kind: str) -> list[str]:
    """The versions whose resources have a subresource of that kind."""
    group, _, version = api_version.rpartition("/")
    group_version_kind = (group, version, kind)
    return list(
        dict.fromkeys(
            row.api_version
            for row in all_resources()
            for sub in row.subresources
            if (sub.group, sub.version, sub.kind) == group_version_kind
        )
    )


def compile_schema(
    schema: Mapping[str, Any], components: Mapping[str, Any] = EMPTY
) -> Schema:
    """A node from an OpenAPI schema object, e.g. a CustomResourceDefinition's
    `openAPIV3Schema`.
    """
    reference = schema.get("$ref")
    parts = schema.get("allOf")
    if reference is None and parts and len(parts) == 1:
        reference = parts[0].get("$ref")
    if reference is not None:
        shared = _component(reference.removeprefix(_PREFIX), components)
        if not any(
            key.startswith("x-kubernetes-") or key == "default" for key in schema
        ):
            return shared
        node = Schema(shared.name, shared.kind, shared._children)
        node.map_type, node.format, node.preserve_unknown = (
            shared.map_type,
            shared.format,
            shared.preserve_unknown,
        )
        node.list_type, node.list_map_keys = shared.list_type, shared.list_map_keys
        _annotate(node, schema)
        return node
    node = Schema("", _kind(schema), lambda: _children(schema, components))
    _annotate(node, schema)
    return node


def _component(name: str, components: Mapping[str, Any]) -> Schema:
    node = _components.get(name)
    if node is None:
        schema = components[name]
        kind = _LEAVES.get(name) or _kind(schema)
        node = _components[name] = Schema(
            name, kind, lambda: _children(schema, components)
        )
        _annotate(node, schema)
    return node


def _kind(schema: Mapping[str, Any]) -> str:
    if (
        schema.get("x-kubernetes-int-or-string")
        or schema.get("format") == "int-or-string"
    ):
        return "int-or-string"
    type_ = schema.get("type", "any")
    if type_ == "array":
        return "list"
    if type_ == "object":
        if "properties" in schema:
            return "object"
        return (
            "map" if isinstance(schema.get("additionalProperties"), Mapping) else "any"
        )
    return str(type_)


def _children(
    schema: Mapping[str, Any], components: Mapping[str, Any]
) -> tuple[Mapping[str, Schema], Schema | None, Schema | None]:
    fields = {
        key: compile_schema(value, components)
        for key, value in schema.get("properties", EMPTY).items()
    }
    items = schema.get("items")
    values = schema.get("additionalProperties")
    return (
        fields,
        compile_schema(items, components) if items is not None else None,
        compile_schema(values, components) if isinstance(values, Mapping) else None,
    )


def _annotate(node: Schema, schema: Mapping[str, Any]) -> None:
    node.list_type = schema.get("x-kubernetes-list-type", node.list_type)
    node.list_map_keys = tuple(
        schema.get("x-kubernetes-list-map-keys", node.list_map_keys)
    )
    node.map_type = schema.get("x-kubernetes-map-type", node.map_type)
    node.patch_merge_key = schema.get("x-kubernetes-patch-merge-key", "")
    strategy = schema.get("x-kubernetes-patch-strategy", "")
    node.patch_strategy = tuple(strategy.split(",")) if strategy else ()
    node.default = schema.get("default")
    node.format = schema.get("format", node.format)
    node.preserve_unknown = schema.get(
        "x-kubernetes-preserve-unknown-fields", node.preserve_unknown
    )
