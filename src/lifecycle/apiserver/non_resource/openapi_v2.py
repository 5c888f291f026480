"""OpenAPI v2: all types and all requests in one document, for clients older than v3 and
for generators of clients.

kubectl before 1.27 checks what it sends, and explains fields, with this document, in
the protobuf form of the gnostic library only. Ours is worked out from the v3 documents:
the same definitions under other addresses, a union such as `IntOrString` told in the
poorer words of v2, and the paths as `openapi_v2_paths` puts them.

Upstream: `kube-openapi/pkg/handler/handler.go` (`OpenAPIService`, media types),
`kube-openapi/pkg/builder/openapi.go` (`BuildOpenAPISpec`), v1.36. Left out: among the
groups of `DeleteOptions` and `WatchEvent`, those that are compiled in and not served.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.published import published, published_names
from lifecycle.apiserver.endpoints.document import document, etag_of, is_fresh, text
from lifecycle.apiserver.non_resource.gnostic import encode_document
from lifecycle.apiserver.non_resource.openapi_v2_paths import (
    V2_REF,
    V3_REF,
    share_parameters,
    to_v2_paths,
)
from lifecycle.apiserver.non_resource.openapi_v3 import accepts_json

REQUESTED_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What the answer is called: the `@` of the name that clients ask for is not allowed in
a media type.
"""

KIND_EXTENSION = "x-kubernetes-group-version-kind"
UNKNOWN_FIELDS = "x-kubernetes-preserve-unknown-fields"
EVERY_GROUP = (
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent",
)
"""Kinds that belong to each group; a v3 document tells of its own group only."""
BEARER_TOKEN = {
    "description": "Bearer Token authentication",
    "type": "apiKey",
    "name": "authorization",
    "in": "header",
}


def to_v2_schema(schema: Object) -> Object:
    """A v3 schema in v2: references renamed, a reference with company reduced to the
    reference, unions to strings.
    """
    converted: Object = {}
    if "allOf" in schema and len(schema["allOf"]) == 1:
        schema = {
            **schema["allOf"][0],
            **{
                key: value
                for key, value in schema.items()
                if key == "description" or key.startswith("x-")
            },
        }
    if "oneOf" in schema:
        converted["type"] = "string"
    for key, value in schema.items():
        if key == "$ref":
            converted[key] = value.replace(V3_REF, V2_REF)
        elif key == "properties":
            converted[key] = {name: to_v2_schema(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            converted[key] = to_v2_schema(value)
        elif key not in ("oneOf", "allOf", "default"):
            converted[key] = value
    return converted


def custom_schema(schema: Object) -> Object:
    """The same of a custom resource. If its schema takes fields that nobody has told
    of, nothing is said about any: an old kubectl would refuse all others. Upstream:
    `apiextensions-apiserver/pkg/controller/openapi/builder/builder.go` (`newBuilder`).
    """
    if not schema.get(UNKNOWN_FIELDS):
        return _open(to_v2_schema(schema))
    kept = {key: schema[key] for key in (KIND_EXTENSION,) if key in schema}
    return {"type": "object", **kept}


def _open(schema: Object) -> Object:
    """Of a field that takes what nobody has told of not even the type is said.
    Upstream: `builder/v2conversion.go` (`ToStructuralOpenAPIV2`).
    """
    opened = {
        key: {name: _open(each) for name, each in value.items()}
        if key == "properties"
        else _open(value)
        if key in ("items", "additionalProperties") and isinstance(value, dict)
        else value
        for key, value in schema.items()
    }
    if opened.get(UNKNOWN_FIELDS):
        opened.pop("type", None)
    return opened


@cache
def openapi_v2() -> Any:
    """What every server serves. Takes about a second, once, when the first client
    asks.
    """
    definitions: Object = {}
    paths: Object = {}
    info: Object = {}
    groups: dict[str, dict[str, Object]] = {name: {} for name in EVERY_GROUP}
    for name in published_names("openapi/"):
        source = published(name)
        info = source["info"]
        for key, schema in source.get("components", {}).get("schemas", {}).items():
            if key not in definitions:
                definitions[key] = to_v2_schema(schema)
            for kind in schema[KIND_EXTENSION] if key in groups else ():
                groups[key][f"{kind['group']}/{kind['version']}"] = kind
        paths |= source.get("paths", {})
    for name, kinds in groups.items():
        served = [kind for _, kind in sorted(kinds.items())]
        definitions[name] = definitions[name] | {KIND_EXTENSION: served}
    v2_paths, parameters = share_parameters(to_v2_paths(paths))
    return {
        "swagger": "2.0",
        "info": info,
        "paths": v2_paths,
        "definitions": dict(sorted(definitions.items())),
        "parameters": parameters,
        "securityDefinitions": {"BearerToken": BEARER_TOKEN},
        "security": [{"BearerToken": []}],
    }


def with_custom_resources(specs: Iterable[Object]) -> Object:
    """The same and what these v3 documents tell of; only they are converted."""
    base = openapi_v2()
    definitions: Object = {}
    paths: Object = {}
    for spec in specs:
        for name, schema in spec["components"]["schemas"].items():
            if name not in base["definitions"] and name not in definitions:
                definitions[name] = custom_schema(schema)
        paths |= spec["paths"]
    v2_paths, parameters = share_parameters(to_v2_paths(paths))
    added = {"paths": v2_paths, "definitions": definitions, "parameters": parameters}
    return base | {
        part: dict(sorted((base[part] | more).items())) for part, more in added.items()
    }


@cache
def _encoded(protobuf: bool) -> tuple[bytes, str]:
    body = encode_document(openapi_v2()) if protobuf else fast_json.dumps(openapi_v2())
    return body, etag_of(body)


def serve_openapi_v2(request: Request) -> Response:
    """The document as protobuf where the client asks for it, as JSON otherwise; 406 for
    anything else.
    """
    accept = request.headers.get("accept", "")
    protobuf = REQUESTED_PROTOBUF in accept or PROTOBUF in accept
    if not protobuf and not accepts_json(accept):
        return text("", 406)
    body, etag = _encoded(protobuf)
    headers = {"Etag": f'"{etag}"', "Vary": "Accept"}
    if is_fresh(request, etag):
        return Response(status=304, headers=headers, body=b"")
    return document(
        request, body, PROTOBUF if protobuf else "application/json", **headers
    )
