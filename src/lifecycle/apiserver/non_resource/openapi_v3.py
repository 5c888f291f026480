"""OpenAPI v3: the schema of every type, one document for each group and version.

`/openapi/v3` lists the documents, each address carrying a hash of its content. So a
client may keep a document for ever: when it changes, its address does.

Upstream: `kube-openapi/pkg/handler3/handler.go` (`OpenAPIService`), v1.36. Left out:
the protobuf form (406; clients use JSON).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.published import published, published_bytes, published_names
from lifecycle.apiserver.endpoints.document import document, is_fresh

ROOT = "/openapi/v3"
FOREVER = "Sat, 01 Jan 2050 00:00:00 GMT"


@cache
def hashes() -> dict[str, str]:
    """The hash of each document, by its path below the root: `apis/apps/v1`."""
    listed = published("discovery/openapi-index.json")["paths"]
    return {
        path: entry["serverRelativeURL"].partition("?hash=")[2]
        for path, entry in listed.items()
    }


def accepts_json(accept: str) -> bool:
    """Whether an Accept header takes JSON."""
    kinds = (
        [part.partition(";")[0].strip() for part in accept.split(",")]
        if accept
        else ["*/*"]
    )
    return any(kind in ("application/json", "*/*", "application/*") for kind in kinds)


def serve_openapi_v3(request: Request, path: str) -> Response:
    """The index or one document."""
    if path == ROOT:
        return document(
            request,
            published_bytes("discovery/openapi-index.json"),
            "text/plain; charset=utf-8",
        )
    name = path.removeprefix(ROOT + "/")
    if name not in hashes() or f"openapi/{name}.json" not in published_names(
        "openapi/"
    ):
        return Response(404, body=b"")  # the handler's own: no page, nor a kind of one
    return serve_document(
        request, path, hashes()[name], lambda: published_bytes(f"openapi/{name}.json")
    )


def serve_document(
    request: Request, path: str, current: str, body: Callable[[], bytes]
) -> Response:
    """One document, whose hash is `current`: 406, 301 to that hash, 304, or what `body`
    reads.
    """
    if not accepts_json(request.headers.get("accept", "")):
        return Response(406, body=b"")
    requested_hash = request.param("hash")
    if requested_hash and requested_hash != current:
        moved = {
            "Location": f"{path}?hash={current}",
            "Content-Type": "application/json",
        }
        return Response(status=301, headers=moved, body=b"")
    headers = {"Etag": f'"{current}"', "Vary": "Accept"}
    if requested_hash:
        headers |= {"Cache-Control": "public, immutable", "Expires": FOREVER}
    if is_fresh(request, current):
        return Response(status=304, headers=headers, body=b"")
    return document(request, body(), "application/json", **headers)
