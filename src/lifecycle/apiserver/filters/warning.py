"""Warnings: what a client should know though its request succeeded.

Any stage adds to `Request.warnings`; the HTTPS server sends each as a `Warning` header and kubectl prints them in yellow. Headers
are no place for novels, so beyond a total each is cut short.

Upstream: `apiserver/pkg/endpoints/filters/warning.go` (`recorder.AddWarning`), `apimachinery/pkg/util/net/http.go`
(`NewWarningHeader`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

TRUNCATE_AT_TOTAL = 4 * 1024
TRUNCATE_ITEM = 256


def warning_headers(warnings: Iterable[str]) -> list[str]:
    """The value of each `Warning` header: every text once, quoted, without what a header cannot hold."""
    texts = [text for text in dict.fromkeys(warnings) if text]
    if sum(len(text) for text in texts) > TRUNCATE_AT_TOTAL:
        texts = [text[:TRUNCATE_ITEM] for text in texts]
        fitting = TRUNCATE_AT_TOTAL // TRUNCATE_ITEM
        texts = texts[: max(fitting, 1)]
    return [f'299 - "{_quoted(text)}"' for text in texts if text.isprintable()]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
