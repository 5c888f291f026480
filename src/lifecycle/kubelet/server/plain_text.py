"""An answer of the kubelet's server in words, as Go's `http.Error` sends it."""

from __future__ import annotations

from lifecycle.api.http.wire import Response

TEXT = {"Content-Type": "text/plain; charset=utf-8"}


def plain_text(code: int, text: str) -> Response:
    """A status and a text. Upstream: `go-restful`'s `Response.WriteErrorString`, which
    `pkg/kubelet/server/server.go` calls.
    """
    return Response(code, dict(TEXT), body=text.encode())
