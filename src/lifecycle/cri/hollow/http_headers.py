"""The headers of a hollow server's answer.

A Go server whose program says nothing of its content's type looks at how it begins, and
so do ours: a page that links elsewhere is HTML to whoever asks, the API server's proxy
included.

Upstream: Go's `net/http` (`DetectContentType`, `chunkWriter.writeHeader`). Left out:
what it knows of images, sounds, fonts and archives; to us they are bytes.
"""

from __future__ import annotations

import re

from lifecycle.cri.apis.pod_network import HTTPAnswer

LOOKED_AT = 512
"""Bytes from the beginning."""
HTML = "text/html; charset=utf-8"
_HTML_BEGINS = re.compile(
    rb"(<(!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|BODY|BR"
    rb"|B|P)|<!--)[ >]",
    re.IGNORECASE,
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_WHITESPACE = b"\t\n\x0c\r "


def detect_content_type(data: bytes) -> str:
    """By its first bytes."""
    beginning = data[:LOOKED_AT]
    text = beginning.lstrip(_WHITESPACE)
    if _HTML_BEGINS.match(text):
        return HTML
    if text.startswith(b"<?xml"):
        return "text/xml; charset=utf-8"
    if beginning.startswith(b"%PDF-"):
        return "application/pdf"
    if _BINARY.search(beginning):
        return "application/octet-stream"
    return "text/plain; charset=utf-8"


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
