"""Paths of an OpenAPI v3 document in the words of v2: every request that the server
knows, for generators of clients.

v2 tells a request's body among the parameters, media types once for a whole operation,
and knows neither CBOR nor an answer of several shapes. Parameters that many requests
share are told once, under a name that ends in a hash of what they are.

Upstream: `kube-openapi/pkg/builder/openapi.go` (`buildPaths`, `buildOperations`),
`builder/parameters.go` (`collectSharedParameters`), v1.36. Upstream builds v2 and v3
from its routes; here v2 comes out of v3, and is held to the real server's.
"""

from __future__ import annotations

import base64
from typing import Any

from lifecycle.api.go.fnv import fnv64
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object

VERBS = ("get", "put", "post", "delete", "options", "head", "patch")
V3_REF, V2_REF = "#/components/schemas/", "#/definitions/"
PARAMETERS = "#/parameters/"
GENERIC = f"{V2_REF}io.k8s.apimachinery"
"""Bodies of this kind are the same for many requests; others are one kind's own."""

PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
MEDIA_TYPES = (
    "*/*",
    "text/plain",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
    "application/jwk-set+json",
)
"""What v2 tells of, in the order of the server's serializers."""
CUSTOM = ["application/json", "application/yaml"]
"""What custom resources can be read and written as."""


def to_v2_paths(paths: Object) -> Object:
    """Paths of one or more v3 documents, in v2, with every parameter in its place."""
    return {path: _path_item(item) for path, item in sorted(paths.items())}


def _path_item(item: Object) -> Object:
    converted: Object = {verb: _operation(item[verb]) for verb in VERBS if verb in item}
    if "parameters" in item:
        converted["parameters"] = [_parameter(each) for each in item["parameters"]]
    return converted


def _operation(operation: Object) -> Object:
    responses = operation["responses"]
    answers = {name for each in responses.values() for name in each.get("content", ())}
    produces = [name for name in MEDIA_TYPES if name in answers]
    parameters = [_parameter(each) for each in operation.get("parameters", ())]
    if "requestBody" in operation:
        parameters.insert(0, _body(operation["requestBody"]))
    converted: Object = {"description": operation["description"]}
    if consumes := _consumes(operation, produces):
        converted["consumes"] = consumes
    converted |= {
        "produces": produces,
        "schemes": ["https"],
        "tags": operation["tags"],
        "operationId": operation["operationId"],
    }
    if parameters:
        converted["parameters"] = parameters
    converted["responses"] = {
        code: _response(each) for code, each in sorted(responses.items())
    }
    return converted | {
        key: _sorted(value)
        for key, value in sorted(operation.items())
        if key.startswith("x-")
    }


def _sorted(value: Any) -> Any:
    """An extension's value, its keys in order: it is a map in Go."""
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _consumes(operation: Object, produces: list[str]) -> list[str]:
    """What may be sent. Where nothing is sent, v2 still says what could be."""
    content = operation.get("requestBody", {}).get("content", {})
    if any(name in content for name in PATCHES):
        return [name for name in PATCHES if name in content]
    if "x-kubernetes-action" in operation and produces != CUSTOM:
        return ["*/*"]
    return [] if operation["tags"] in (["WellKnown"], ["openid"]) else produces


def _body(body: Object) -> Object:
    schema = next(iter(body["content"].values()))["schema"]
    required = {"required": True} if body.get("required") else {}
    return {"name": "body", "in": "body", **required, "schema": _reference(schema)}


def _parameter(parameter: Object) -> Object:
    schema = parameter["schema"]
    unique = {"uniqueItems": True} if schema.get("uniqueItems") else {}
    kept = ("description", "name", "in", "required")
    return {
        **unique,
        "type": schema["type"],
        **{key: parameter[key] for key in kept if key in parameter},
    }


def _response(response: Object) -> Object:
    converted: Object = {"description": response["description"]}
    if "content" in response:
        schema = next(iter(response["content"].values()))["schema"]
        converted["schema"] = _reference(schema)
    return converted


def _reference(schema: Object) -> Object:
    if "$ref" not in schema:
        return schema
    return {"$ref": schema["$ref"].replace(V3_REF, V2_REF)}


def share_parameters(paths: Object) -> tuple[Object, Object]:
    """(the paths with references in place of the parameters that may be shared, those
    parameters by their names).

    Thousands of places hold the same fifty parameters; each is hashed once.
    """
    shared: Object = {}
    hashes: dict[str, str] = {}

    def referred(parameters: list[Object]) -> list[Object]:
        answer = []
        for parameter in parameters:
            if _is_shared(parameter):
                text = marshal(parameter)
                if text not in hashes:
                    hashes[text] = _hash(text)
                name = f"{parameter['name']}-{hashes[text]}"
                shared[name] = parameter
                parameter = {"$ref": PARAMETERS + name}
            answer.append(parameter)
        return answer

    def with_references(holder: Object) -> Object:
        if "parameters" not in holder:
            return holder
        return {**holder, "parameters": referred(holder["parameters"])}

    answer = {
        path: with_references(
            {k: with_references(v) if k in VERBS else v for k, v in item.items()}
        )
        for path, item in paths.items()
    }
    return answer, dict(sorted(shared.items()))


def _is_shared(parameter: Object) -> bool:
    """Not what is a kind's own, and not what kubectl up to 1.27 looks for."""
    name, place = parameter["name"], parameter["in"]
    if place == "body":
        return str(parameter["schema"].get("$ref", "")).startswith(GENERIC)
    if place == "query" and name in ("fieldValidation", "dryRun"):
        return False
    return name != "name"


def _hash(text: str) -> str:
    """Eight letters: 48 bits of FNV-1 over a parameter as Go writes it."""
    value = fnv64(text.encode())
    return base64.urlsafe_b64encode(value.to_bytes(8, "big")[:6]).decode()
