"""The headers of a hollow server's answer.

What its program says of its content's type, or else what can be seen of it: a page that
links elsewhere is HTML to whoever asks, the API server's proxy included.

Upstream: Go's `net/http` (`chunkWriter.writeHeader`).
"""

from __future__ import annotations

from lifecycle.api.http.content_type import detect_content_type
from lifecycle.cri.apis.pod_network import HTTPAnswer


def body_of(answer: HTTPAnswer) -> bytes:
    """As it goes over the wire."""
    return answer.text.encode("utf-8", "surrogateescape")


def headers_of(answer: HTTPAnswer) -> dict[str, str]:
    """What the program says of its answer, and what can be seen of it. An empty one has
    no type.
    """
    body, headers = body_of(answer), {}
    if answer.content_type or body:
        headers["Content-Type"] = answer.content_type or detect_content_type(body)
    if answer.location:
        headers["Location"] = answer.location
    return headers
