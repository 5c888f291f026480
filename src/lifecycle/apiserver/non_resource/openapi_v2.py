"""OpenAPI v2: all types in one document, for clients older than v3.

kubectl before 1.27 checks what it sends, and explains fields, with this document, in
the protobuf form of the gnostic library only. Ours is worked out from the v3 documents:
the same definitions under other addresses, a union such as `IntOrString` told in the
poorer words of v2. Of the paths it carries what old clients look for, the `dryRun`
parameter of patches.

Upstream: `kube-openapi/pkg/handler/handler.go` (`OpenAPIService`, media types),
`kube-openapi/pkg/builder3/util` (the other direction), v1.36.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.published import published, published_names
from lifecycle.api.wire import Object, Request, Response
from lifecycle.apiserver.endpoints.document import document, etag_of, is_fresh, text
from lifecycle.apiserver.non_resource.gnostic import encode_document
from lifecycle.apiserver.non_resource.openapi_v3 import accepts_json

REQUESTED_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What the answer is called: the `@` of the name that clients ask for is not allowed in
a media type.
"""

V3_REF, V2_REF = "#/components/schemas/", "#/definitions/"
KIND_EXTENSION = "x-kubernetes-group-version-kind"


def to_v2_schema(schema: Object) -> Object:
    """A v3 schema in v2: references renamed, a reference with company reduced to the
    reference, unions to strings.
    """
    converted: Object = {}
    if "allOf" in schema and len(schema["allOf"]) == 1:
        schema = {
            **schema["allOf"][0],
            **{key: value for key, value in schema.items() if key in ("description",)},
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


def patches(paths: Object) -> Object:
    """What old clients look for in the paths: patches, and that these take `dryRun`."""
    patched: Object = {}
    for path, item in paths.items():
        operation = item.get("patch")
        if operation is None or KIND_EXTENSION not in operation:
            continue
        parameters = [
            {
                "name": p["name"],
                "in": "query",
                "description": p.get("description", ""),
                "type": p["schema"]["type"],
            }
            for p in operation.get("parameters", ())
            if p["in"] == "query"
        ]
        kept = {
            key: operation[key]
            for key in ("operationId", "description", KIND_EXTENSION)
            if key in operation
        }
        patched[path] = {"patch": {**kept, "parameters": parameters}}
    return patched


@cache
def openapi_v2() -> Any:
    """The whole document. Takes about half a second, once, when the first old client
    asks.
    """
    definitions: Object = {}
    paths: Object = {}
    info: Object = {}
    for name in published_names("openapi/api"):
        source = published(name)
        info = source["info"]
        for key, schema in source.get("components", {}).get("schemas", {}).items():
            if key not in definitions:
                definitions[key] = to_v2_schema(schema)
        paths |= patches(source.get("paths", {}))
    return {
        "swagger": "2.0",
        "info": info,
        "paths": paths,
        "definitions": dict(sorted(definitions.items())),
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
