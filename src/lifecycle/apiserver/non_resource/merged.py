"""The published documents, and what is served beside them, as one.

Worked out when somebody asks, and kept until something changes.

Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go`
(`sync`), `pkg/controller/openapi{,v3}/controller.go`,
`kube-openapi/pkg/handler3/handler.go`, v1.36.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.published import published, published_bytes
from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object, Request, Response
from lifecycle.apiserver.endpoints.document import document, etag_of, is_fresh
from lifecycle.apiserver.non_resource.discovery import (
    LEGACY,
    group_names,
    negotiated_aggregation_version,
)
from lifecycle.apiserver.non_resource.gnostic import encode_document
from lifecycle.apiserver.non_resource.openapi_v2 import (
    PROTOBUF,
    REQUESTED_PROTOBUF,
    with_custom_resources,
)
from lifecycle.apiserver.non_resource.openapi_v3 import (
    ROOT,
    accepts_json,
    serve_document,
)
from lifecycle.apiserver.non_resource.served_groups import (
    ServedGroups,
    aggregated_group,
    api_group,
    legacy_list,
)

JSON = "application/json"


class MergedDocuments:
    """Discovery and OpenAPI of a server that serves more than is published."""

    def __init__(self, served: ServedGroups) -> None:
        self._served = served
        self._version = -1
        self._documents_by_key: dict[str, Any] = {}

    def _kept(self, key: str, make: Any) -> Any:
        if self._served.version != self._version:
            self._version, self._documents_by_key = self._served.version, {}
        if key not in self._documents_by_key:
            self._documents_by_key[key] = make()
        return self._documents_by_key[key]

    def groups(self) -> dict[str, list[Resource]]:
        """What is served beside the published groups, by group."""
        rows = [
            row for row in self._served.resources() if row.group not in group_names()
        ]
        return {
            name: list(members)
            for name, members in groupby(rows, lambda row: row.group)
        }

    def discovery(self, request: Request, path: str) -> Response | None:
        """The discovery document at a path; None where the published one is all there
        is. Raises StatusError 404.
        """
        groups = self._kept("groups", self.groups)
        if path == "/apis" and groups:
            version = negotiated_aggregation_version(request.headers.get("accept", ""))
            if version is not None:
                return self._aggregated(request, version)
            listed: Object = published(f"{LEGACY}/apis.json")
            merged = {
                **listed,
                "groups": [
                    *listed["groups"],
                    *(api_group(name, rows) for name, rows in groups.items()),
                ],
            }
            return document(request, fast_json.dumps(merged), JSON)
        parts = path.strip("/").split("/")
        if parts[0] != "apis" or len(parts) not in (2, 3) or parts[1] not in groups:
            return None
        rows = groups[parts[1]]
        if len(parts) == 2:
            return Response(
                obj={
                    "kind": "APIGroup",
                    "apiVersion": "v1",
                    **api_group(parts[1], rows),
                }
            )
        rows = [row for row in rows if row.version == parts[2]]
        if not rows:
            return None
        return document(
            request, fast_json.dumps(legacy_list(rows, f"{parts[1]}/{parts[2]}")), JSON
        )

    def _aggregated(self, request: Request, version: str) -> Response:
        def make() -> tuple[bytes, str]:
            base = fast_json.loads(published_bytes("discovery/aggregated/apis.json"))
            items = [
                *base["items"],
                *(aggregated_group(name, rows) for name, rows in self.groups().items()),
            ]
            body = fast_json.dumps(
                {**base, "apiVersion": f"apidiscovery.k8s.io/{version}", "items": items}
            )
            return body, etag_of(body)

        body, etag = self._kept(f"aggregated {version}", make)
        headers = {"Cache-Control": "public", "ETag": f'"{etag}"', "Vary": "Accept"}
        if is_fresh(request, etag):
            return Response(status=304, headers=headers, body=b"")
        headers["Content-Type"] = (
            f"{JSON};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        )
        return Response(headers=headers, body=body)

    def _documents(self) -> dict[str, tuple[bytes, str]]:
        documents = {
            path: fast_json.dumps(doc) for path, doc in self._served.openapi().items()
        }
        return {path: (body, etag_of(body)) for path, body in documents.items()}

    def openapi_v3(self, request: Request, path: str) -> Response | None:
        """The merged index, or a document that is not published."""
        documents = self._kept("v3", self._documents)
        if not documents:
            return None
        if path == ROOT:
            index = fast_json.loads(published_bytes("discovery/openapi-index.json"))
            paths = {
                **index["paths"],
                **{
                    name: {"serverRelativeURL": f"{ROOT}/{name}?hash={etag}"}
                    for name, (_, etag) in documents.items()
                },
            }
            return document(
                request,
                fast_json.dumps({**index, "paths": paths}),
                "text/plain; charset=utf-8",
            )
        name = path.removeprefix(ROOT + "/")
        if name not in documents:
            return None
        body, current = documents[name]
        return serve_document(request, path, current, lambda: body)

    def openapi_v2(self, request: Request) -> Response | None:
        """The one v2 document with everything in it."""
        if not self._kept("v3", self._documents):
            return None
        accept = request.headers.get("accept", "")
        protobuf = REQUESTED_PROTOBUF in accept or PROTOBUF in accept
        if not protobuf and not accepts_json(accept):
            return None
        body, etag = self._kept(f"v2 {protobuf}", lambda: self._encoded_v2(protobuf))
        headers = {"Etag": f'"{etag}"', "Vary": "Accept"}
        if is_fresh(request, etag):
            return Response(status=304, headers=headers, body=b"")
        return document(request, body, PROTOBUF if protobuf else JSON, **headers)

    def _encoded_v2(self, protobuf: bool) -> tuple[bytes, str]:
        merged = with_custom_resources(self._served.openapi().values())
        body = encode_document(merged) if protobuf else fast_json.dumps(merged)
        return body, etag_of(body)
