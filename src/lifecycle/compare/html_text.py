"""A sentence for a terminal, as HTML: what stands between backticks is code."""

from __future__ import annotations

import html
import re

_CODE = re.compile("`([^`]+)`")


def html_text(sentence: str) -> str:
    """Escaped, with `code` as an element. A backtick without a second one stays."""
    return _CODE.sub(r"<code>\1</code>", html.escape(sentence, quote=False))
