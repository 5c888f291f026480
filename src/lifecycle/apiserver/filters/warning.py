"""Warnings: what a client should know though its request succeeded.

Any stage adds to `Request.warnings`; the HTTPS server sends each as a `Warning` header
and kubectl prints them in yellow. Headers are no place for novels, so beyond a total
each is cut short.

Upstream: `apiserver/pkg/endpoints/filters/warning.go` (`recorder.AddWarning`),
`apimachinery/pkg/util/net/http.go` (`NewWarningHeader`), v1.36.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

TRUNCATE_AT_TOTAL = 4 * 1024
TRUNCATE_ITEM = 256


def warning_headers(
    warnings: Iterable[str], total: int = TRUNCATE_AT_TOTAL, item: int = TRUNCATE_ITEM
) -> list[str]:
    """The value of each `Warning` header: every text once, quoted; a text that a header
    cannot hold is left out.

    Beyond `total` characters all are cut to `item`, those that came before too; once
    that is full as well, no more come.
    """
    texts = [
        text
        for text in dict.fromkeys(warnings)
        if text and (text.isprintable() or not any(map(_control, text)))
    ]
    if sum(map(len, texts)) > total:
        texts = _cut(texts, total, item)
    return [f'299 - "{_quoted(text)}"' for text in texts]


def _cut(texts: list[str], total: int, item: int) -> list[str]:
    """What fits. A large body can be warned of two hundred thousand times."""
    kept: list[str] = []
    uncut = written = 0
    for text in texts:
        if uncut > total and written >= total:
            break
        kept.append(text[:item])
        uncut += len(text)
        written += len(kept[-1])
    return kept


def _control(char: str) -> bool:
    return unicodedata.category(char) == "Cc"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
