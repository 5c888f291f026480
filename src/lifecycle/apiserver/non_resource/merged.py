"""The published documents, and what is served beside them, as one.

Worked out when somebody asks, and kept until something changes.

Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go`
(`sync`), `pkg/controller/openapi{,v3}/controller.go`,
`kube-openapi/pkg/handler3/handler.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import groupby
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.published import published, published_bytes
from lifecycle.api.resources import Resource
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
A_DOCUMENT = 2048
"""A document's share in `worker.LARGE`, however little there is to say in it: the
requests for a resource take half a millisecond to tell.
"""


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

    async def openapi_v3(self, request: Request, path: str) -> Response | None:
        """The merged index, or a document that is not published."""
        sources = self._kept("sources", self._served.openapi)
        if not sources:
            return None
        if path == ROOT:
            body = await self._worked_out("index", self._index, sources)
            return document(request, body, "text/plain; charset=utf-8")
        parts = sources.get(path.removeprefix(ROOT + "/"))
        if parts is None:
            return None
        make = self._served.openapi_document
        body = await beside(A_DOCUMENT + len(parts), make, parts)
        current = await beside(len(body) >> 4, etag_of, body)
        return serve_document(request, path, current, lambda: body)

    def _index(self, sources: dict[str, bytes]) -> bytes:
        index = fast_json.loads(published_bytes("discovery/openapi-index.json"))
        paths = dict(index["paths"])
        for name, parts in sources.items():
            etag = etag_of(self._served.openapi_document(parts))
            paths[name] = {"serverRelativeURL": f"{ROOT}/{name}?hash={etag}"}
        return fast_json.dumps({**index, "paths": paths})

    async def openapi_v2(self, request: Request) -> Response | None:
        """The one v2 document with everything in it."""
        sources = self._kept("sources", self._served.openapi)
        if not sources:
            return None
        accept = request.headers.get("accept", "")
        protobuf = REQUESTED_PROTOBUF in accept or PROTOBUF in accept
        if not protobuf and not accepts_json(accept):
            return None
        work = self._encoded_v2_protobuf if protobuf else self._encoded_v2
        body, etag = await self._worked_out(f"v2 {protobuf}", work, sources)
        headers = {"Etag": f'"{etag}"', "Vary": "Accept"}
        if is_fresh(request, etag):
            return Response(status=304, headers=headers, body=b"")
        return document(request, body, PROTOBUF if protobuf else JSON, **headers)

    def _v2(self, sources: dict[str, bytes]) -> Object:
        make = self._served.openapi_document
        return with_custom_resources(
            fast_json.loads(make(parts)) for parts in sources.values()
        )

    def _encoded_v2(self, sources: dict[str, bytes]) -> tuple[bytes, str]:
        body = fast_json.dumps_in_parts(self._v2(sources))
        return body, etag_of(body)

    def _encoded_v2_protobuf(self, sources: dict[str, bytes]) -> tuple[bytes, str]:
        body = encode_document(self._v2(sources))
        return body, etag_of(body)

    async def _worked_out(
        self, key: str, work: Callable[[dict[str, bytes]], Any], sources: Any
    ) -> Any:
        """What all documents are needed for: beside the loop, and once, however many
        ask for it meanwhile.
        """
        kept = self._documents_by_key
        if key not in kept:
            # what is published is the larger part of it, however little is added
            making = asyncio.ensure_future(beside(LARGE + 1, work, sources))
            kept[key] = making

            def forget(done: asyncio.Future[Any]) -> None:
                if done.cancelled() or done.exception() is not None:
                    kept.pop(key, None)

            making.add_done_callback(forget)
        return await asyncio.shield(kept[key])
