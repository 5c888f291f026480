"""One published document as an answer: its bytes, what they are, and when a client may
keep its copy.

Upstream: `apiserver/pkg/endpoints/discovery/aggregated/etag.go` (`ServeHTTPWithETag`),
v1.36.
"""

from __future__ import annotations

import hashlib

from lifecycle.api.http.wire import Request, Response


def etag_of(body: bytes) -> str:
    """A fingerprint of a document: SHA-512 in upper-case hex, as upstream."""
    return hashlib.sha512(body).hexdigest().upper()


def is_fresh(request: Request, etag: str) -> bool:
    """Whether the client says that it holds this very document (`If-None-Match`)."""
    held = request.headers.get("if-none-match", "")
    return (
        any(
            part.strip().removeprefix("W/").strip('"') == etag
            for part in held.split(",")
        )
        if held
        else False
    )


def document(
    request: Request, body: bytes, content_type: str, **headers: str
) -> Response:
    """200 with a document. Header names are given with underscores."""
    return Response(
        headers={"Content-Type": content_type, **_named(headers)}, body=body
    )


def text(body: str, status: int = 200, **headers: str) -> Response:
    """Plain text, as Go's `http.Error` and the health checks write it. Header names are
    given with underscores.
    """
    always = {
        "Content-Type": "text/plain; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(status=status, headers=_named(headers) | always, body=body.encode())


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def page_not_found() -> Response:
    """404 for a path that no part of the server knows: plain text, since nobody knows
    either what the client expects.
    """
    return text("404 page not found\n", 404)
