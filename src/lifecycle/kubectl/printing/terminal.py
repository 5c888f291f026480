"""Nothing that an object says may command the reader's terminal: what would begin a
command there is shown and not sent.

Upstream: `cli-runtime/pkg/printers/terminal.go` (`WriteEscaped`), `tableprinter.go`
(`printRows`), v1.36.
"""

from __future__ import annotations

import re

_SHOWN = str.maketrans({"\x1b": "^[", "\r": "\\r"})
_line_end = re.compile(r"[\f\n\r]")


def escaped(text: str) -> str:
    """The text without escapes and carriage returns."""
    return text.translate(_SHOWN)


def on_one_line(text: str) -> str:
    """The first line of a text, escaped; dots say that there is more."""
    first, *more = _line_end.split(text, maxsplit=1)
    return f"{escaped(first)}..." if more else escaped(first)
