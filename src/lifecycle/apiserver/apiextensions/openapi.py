"""The OpenAPI documents of custom resources: what `kubectl explain` reads and `kubectl
apply` checks with.

Each group and version gets a v3 document of its own; the same definitions are merged
into the one v2 document for older clients.

Upstream: `apiextensions-apiserver/pkg/controller/openapi/builder/builder.go`
(`BuildOpenAPIV3`, `buildKubeNative`), `pkg/controller/openapi{,v3}/controller.go`,
v1.36. Left out: in v2, schemas are published as in v3 (upstream strips what v2 cannot
say).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.published import published
from lifecycle.apiserver.apiextensions.openapi_paths import REF, CustomPaths
from lifecycle.apiserver.apiextensions.structural import (
    ANYTHING,
    is_structural,
    schema_of,
)

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
_META_KINDS = (
    OBJECT_META, LIST_META, "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry",
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails",
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo",
)  # fmt: skip
_SCALE_KINDS = tuple(
    f"io.k8s.api.autoscaling.v1.{kind}"
    for kind in ("Scale", "ScaleSpec", "ScaleStatus")
)


@cache
def _built_in() -> Any:
    return published("openapi/apis/apps/v1.json")


@cache
def meta_components() -> Mapping[str, Any]:
    """The components of `meta/v1` that every document repeats."""
    return _components(_META_KINDS)


def _components(names: tuple[str, ...]) -> dict[str, Any]:
    components = _built_in()["components"]["schemas"]
    return {name: components[name] for name in names if name in components}


def with_type_meta(schema: Object, kind: str = "") -> Object:
    """A schema with apiVersion, kind and metadata in the words of built-in kinds, at
    the root and in embedded resources.
    """
    done = {key: _inner(key, value) for key, value in schema.items()}
    if kind or schema.get("x-kubernetes-embedded-resource"):
        described = _built_in()["components"]["schemas"][
            "io.k8s.api.apps.v1.Deployment"
        ]["properties"]
        metadata = {
            "description": (
                "Standard object's metadata. More info: "
                "https://git.k8s.io/community/contributors/devel/sig-architecture/"
                "api-conventions.md#metadata"
            ),
            "allOf": [{"$ref": REF + OBJECT_META}],
        }
        own = {
            "apiVersion": described["apiVersion"],
            "kind": described["kind"],
            "metadata": metadata,
        }
        done["properties"] = {**(done.get("properties") or {}), **own}
    return done


def _inner(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: with_type_meta(each) for name, each in value.items()}
    if key in ("items", "additionalProperties", "not") and isinstance(value, dict):
        return with_type_meta(value)
    return value


def component_name(group: str, version: str, kind: str) -> str:
    """`com.example.v1.Widget` for `example.com/v1`."""
    return f"{'.'.join(reversed(group.split('.')))}.{version}.{kind}"


def components_of(definition: Object, version: Object) -> dict[str, Object]:
    """The object's and its list's schema."""
    spec = definition["spec"]
    group, names, name = spec["group"], spec["names"], version["name"]
    kind, list_kind = names["kind"], names["listKind"]
    one = component_name(group, name, kind)
    published = schema_of(version)
    if spec.get("preserveUnknownFields") or not is_structural(published):
        published = ANYTHING
    schema = with_type_meta(published, kind)
    schema["x-kubernetes-group-version-kind"] = [
        {"group": group, "kind": kind, "version": name}
    ]
    properties = schema["properties"]
    listed = {
        "description": f"{list_kind} is a list of {kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": properties["apiVersion"],
            "items": {
                "description": (
                    f"List of {names['plural']}. More info: "
                    "https://git.k8s.io/community/contributors/devel/sig-architecture/"
                    "api-conventions.md"
                ),
                "type": "array",
                "items": {"$ref": REF + one},
            },
            "kind": properties["kind"],
            "metadata": {
                "description": (
                    "Standard list metadata. More info: "
                    "https://git.k8s.io/community/contributors/devel/sig-architecture/"
                    "api-conventions.md#types-kinds"
                ),
                "allOf": [{"$ref": REF + LIST_META}],
            },
        },
        "x-kubernetes-group-version-kind": [
            {"group": group, "kind": list_kind, "version": name}
        ],
    }
    return {one: schema, component_name(group, name, list_kind): listed}


def paths_of(definition: Object, version: Object) -> dict[str, Object]:
    """The requests for a version's objects."""
    spec = definition["spec"]
    group, names, name = spec["group"], spec["names"], version["name"]
    return CustomPaths(
        group=group,
        version=name,
        plural=names["plural"],
        kind=names["kind"],
        one=component_name(group, name, names["kind"]),
        many=component_name(group, name, names["listKind"]),
        namespaced=spec["scope"] == "Namespaced",
    ).paths(version.get("subresources") or {})


def document(definitions: list[tuple[Object, Object]]) -> Object:
    """The v3 document of one group and version, from its definitions and their
    versions.
    """
    schemas: dict[str, Any] = dict(meta_components())
    paths: dict[str, Any] = {}
    for definition, version in definitions:
        schemas |= components_of(definition, version)
        if (version.get("subresources") or {}).get("scale") is not None:
            schemas |= _components(_SCALE_KINDS)
        paths |= paths_of(definition, version)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }
