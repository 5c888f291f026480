"""What kind of content something is, by how it begins.

A Go server whose program says nothing of it looks, and so do ours.

Upstream: Go's `net/http` (`DetectContentType`). Left out: what it knows of images,
sounds, fonts and archives; to us they are bytes.
"""

from __future__ import annotations

import re

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
