"""What the glossary server says about itself: discovery in both forms, and the schema
of a Term.

Upstream: `apiserver/pkg/endpoints/discovery`, `kube-openapi/pkg/handler3`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.apiserver.endpoints.document import document, etag_of, is_fresh
from lifecycle.apiserver.extension_server.terms import (
    API_VERSION,
    GROUP,
    KIND,
    PLURAL,
    VERSION,
)
from lifecycle.apiserver.non_resource.discovery import negotiated_aggregation_version

VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
SCHEMA = "book.lifecycle.lookup.v1.Term"
OPENAPI_PATH = f"apis/{API_VERSION}"
BASE = f"/apis/{API_VERSION}/{PLURAL}"

RESOURCES: Object = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": API_VERSION,
    "resources": [
        {
            "name": PLURAL,
            "singularName": "term",
            "namespaced": False,
            "kind": KIND,
            "verbs": VERBS,
            "shortNames": ["tm"],
        }
    ],
}
_VERSION = {"groupVersion": API_VERSION, "version": VERSION}
_GROUP: Object = {"name": GROUP, "versions": [_VERSION], "preferredVersion": _VERSION}
_AGGREGATED_RESOURCE = {
    "resource": PLURAL,
    "responseKind": {"group": GROUP, "version": VERSION, "kind": KIND},
    "scope": "Cluster",
    "singularResource": "term",
    "verbs": VERBS,
    "shortNames": ["tm"],
}


def term_schema() -> Object:
    """The schema of a Term. Unknown fields are no mistake of the server's, but kubectl
    warns of them.
    """
    return {
        "type": "object",
        "description": "Term is an entry of the glossary.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "additionalProperties": True},
            "spec": {
                "type": "object",
                "required": ["meaning"],
                "properties": {
                    "meaning": {"type": "string", "description": "What the term means."}
                },
            },
        },
        "x-kubernetes-group-version-kind": [
            {"group": GROUP, "version": VERSION, "kind": KIND}
        ],
    }


def openapi_v3() -> Object:
    """The document of the group version."""
    about = {
        "x-kubernetes-group-version-kind": {
            "group": GROUP,
            "version": VERSION,
            "kind": KIND,
        }
    }
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}}
        for name in ("dryRun", "fieldValidation")
    ]
    content = {
        "application/json": {"schema": {"$ref": f"#/components/schemas/{SCHEMA}"}}
    }
    answer = {"200": {"description": "OK", "content": content}}

    def operation(action: str) -> Object:
        return {
            "operationId": f"{action}Term",
            "parameters": parameters,
            "responses": answer,
            "x-kubernetes-action": action,
            **about,
        }

    paths = {
        BASE: {"get": operation("list"), "post": operation("post")},
        f"{BASE}/{{name}}": {
            each: operation(each) for each in ("get", "put", "patch", "delete")
        },
    }
    info = {"title": "lookup", "version": "v1"}
    return {
        "openapi": "3.0.0",
        "info": info,
        "paths": paths,
        "components": {"schemas": {SCHEMA: term_schema()}},
    }


def openapi_v2() -> Object:
    """The same in one document with nothing else in it."""
    definitions = {SCHEMA: term_schema()}
    about = {
        "x-kubernetes-group-version-kind": {
            "group": GROUP,
            "version": VERSION,
            "kind": KIND,
        }
    }
    parameters = [
        {"name": name, "in": "query", "type": "string"}
        for name in ("dryRun", "fieldValidation")
    ]
    patch = {
        "operationId": "patchTerm",
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        **about,
    }
    paths = {f"{BASE}/{{name}}": {"patch": patch}}
    return {
        "swagger": "2.0",
        "info": {"title": "lookup", "version": "v1"},
        "paths": paths,
        "definitions": definitions,
    }


def serve(request: Request) -> Response | None:
    """The document at a path; None if there is none."""
    path = request.path.rstrip("/")
    if path == "/apis":
        version = negotiated_aggregation_version(request.headers.get("accept", ""))
        if version is not None:
            entry = {
                "version": VERSION,
                "resources": [_AGGREGATED_RESOURCE],
                "freshness": "Current",
            }
            listed = {
                "kind": "APIGroupDiscoveryList",
                "apiVersion": f"apidiscovery.k8s.io/{version}",
                "metadata": {},
                "items": [{"metadata": {"name": GROUP}, "versions": [entry]}],
            }
            content_type = (
                f"application/json;g=apidiscovery.k8s.io;v={version};"
                "as=APIGroupDiscoveryList"
            )
            return _with_etag(request, listed, content_type)
        return Response(
            obj={"kind": "APIGroupList", "apiVersion": "v1", "groups": [_GROUP]}
        )
    if path == f"/apis/{GROUP}":
        return Response(obj={"kind": "APIGroup", "apiVersion": "v1", **_GROUP})
    if path == f"/apis/{API_VERSION}":
        return Response(obj=RESOURCES)
    if path == "/openapi/v3":
        address = (
            f"/openapi/v3/{OPENAPI_PATH}?hash={etag_of(fast_json.dumps(openapi_v3()))}"
        )
        return _with_etag(
            request,
            {"paths": {OPENAPI_PATH: {"serverRelativeURL": address}}},
            "application/json",
        )
    if path == f"/openapi/v3/{OPENAPI_PATH}":
        return _with_etag(request, openapi_v3(), "application/json")
    if path == "/openapi/v2":
        return _with_etag(request, openapi_v2(), "application/json")
    return None


def _with_etag(request: Request, obj: Any, content_type: str) -> Response:
    body = fast_json.dumps(obj)
    etag = etag_of(body)
    if is_fresh(request, etag):
        return Response(304, {"ETag": f'"{etag}"'}, body=b"")
    return document(request, body, content_type, ETag=f'"{etag}"')
