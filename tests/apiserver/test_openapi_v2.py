"""What generators of clients read: whole requests in v2's words."""

from __future__ import annotations

from typing import Any

from lifecycle.apiserver.non_resource.gnostic import encode_document
from lifecycle.apiserver.non_resource.openapi_v2 import openapi_v2
from lifecycle.apiserver.non_resource.openapi_v2_paths import VERBS, share_parameters, to_v2_paths

PATHS = openapi_v2()["paths"]
CONFIG_MAPS = PATHS["/api/v1/namespaces/{namespace}/configmaps"]
CONFIG_MAP = PATHS["/api/v1/namespaces/{namespace}/configmaps/{name}"]
PATCH = {
    "description": "patch",
    "tags": ["t"],
    "operationId": "patchThing",
    "parameters": [
        {"name": "force", "in": "query", "description": "take it", "schema": {"type": "boolean", "uniqueItems": True}}
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/Thing"}},
            "application/apply-patch+cbor": {"schema": {"$ref": "#/components/schemas/Thing"}},
        },
    },
    "responses": {
        "200": {
            "description": "OK",
            "content": {"application/cbor": {"schema": {"$ref": "#/components/schemas/Thing"}}},
        }
    },
    "x-kubernetes-action": "patch",
}


def test_a_body_is_the_first_parameter_and_cbor_is_not_told() -> None:
    operation = to_v2_paths({"/things/{name}": {"patch": PATCH}})["/things/{name}"]["patch"]
    assert operation["consumes"] == ["application/merge-patch+json"]
    assert operation["produces"] == []
    assert operation["parameters"] == [
        {"name": "body", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Thing"}},
        {"uniqueItems": True, "type": "boolean", "description": "take it", "name": "force", "in": "query"},
    ]
    assert operation["responses"]["200"]["schema"] == {"$ref": "#/definitions/Thing"}


def test_a_parameter_of_many_requests_is_told_once_under_the_real_servers_name() -> None:
    assert CONFIG_MAPS["delete"]["parameters"][0] == {"$ref": "#/parameters/body-2Y1dVQaQ"}
    shared = openapi_v2()["parameters"]
    assert shared["body-2Y1dVQaQ"]["schema"] == {
        "$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
    }
    assert {"$ref": "#/parameters/command-Py3eQybp"} in PATHS["/api/v1/namespaces/{namespace}/pods/{name}/exec"][
        "parameters"
    ]


def test_what_is_of_one_kind_and_what_old_kubectl_looks_for_stands_where_it_is_used() -> None:
    own = [each for each in CONFIG_MAPS["post"]["parameters"] if "$ref" not in each]
    assert [each["name"] for each in own] == ["body", "dryRun", "fieldValidation"]
    assert [each["name"] for each in CONFIG_MAP["parameters"] if "$ref" not in each] == ["name"]


def test_every_reference_leads_somewhere() -> None:
    document = openapi_v2()
    assert [ref for ref in references(document) if not leads(document, ref)] == []


def leads(document: Any, ref: str) -> bool:
    _, part, name = ref.split("/", 2)
    return name in document[part]


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [ref for each in value for ref in references(each)]
    if not isinstance(value, dict):
        return []
    return [each for key, each in value.items() if key == "$ref" and isinstance(each, str)] + references(
        [each for key, each in value.items() if key != "$ref"]
    )


def test_every_request_has_a_name_of_its_own() -> None:
    names = [item[verb]["operationId"] for item in PATHS.values() for verb in VERBS if verb in item]
    assert len(names) == len(set(names)) > 800


def test_in_protobuf_a_parameter_of_the_path_has_other_numbers_than_one_of_the_query() -> None:
    query = {"uniqueItems": True, "type": "string", "description": "q", "name": "a", "in": "query"}
    path = {**query, "in": "path", "required": True}
    told, _ = share_parameters({"/x": {"parameters": []}})
    document = {"swagger": "2.0", "info": {"title": "", "version": ""}, "paths": told}
    encoded = [encode_document(document | {"parameters": {"p": parameter}}) for parameter in (query, path)]
    assert b"\x12\x05query\x1a\x01q\x22\x01a\x32\x06string\xa0\x01\x01" in encoded[0]
    assert b"\x08\x01\x12\x04path\x1a\x01q\x22\x01a\x2a\x06string\x98\x01\x01" in encoded[1]
