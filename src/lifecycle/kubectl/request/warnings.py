"""What the server wants people to know although it did what was asked: `Warning: 299 -
"text"` headers.

Upstream: `apimachinery/pkg/util/net/http.go` (`ParseWarningHeaders`),
`client-go/rest/warnings.go` (`NewWarningWriter` with `Deduplicate`), v1.36.2. Left out:
colours.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_WARNING = re.compile(
    r'\s*(?P<code>\d{3}) (?P<agent>\S+) "(?P<text>(?:[^"\\]|\\.)*)"(?: "[^"]*")?\s*,?'
)


def parse_warning_headers(header: str) -> list[tuple[int, str, str]]:
    """(code, agent, text) of every warning in a header's value; several may stand in
    one. What is none ends the list.
    """
    results = []
    at = 0
    while match := _WARNING.match(header, at):
        results.append(
            (int(match["code"]), match["agent"], re.sub(r"\\(.)", r"\1", match["text"]))
        )
        at = match.end()
    return results


class WarningWriter:
    """Prints each warning of code 299, and each only once."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._written: set[str] = set()

    def handle(self, header: str) -> None:
        """Print what a `Warning` header says."""
        for code, _, text in parse_warning_headers(header):
            if code == 299 and text and text not in self._written:
                self._written.add(text)
                self._write(f"Warning: {text}\n")
