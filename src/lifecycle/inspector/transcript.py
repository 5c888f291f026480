"""A command line and what came of it, as the recordings keep it.

A file of `kubectl/` begins with the command (`$ kubectl …`) and its exit code (`[exit
0]`); then stands what it printed, and after `[stderr]` what it complained about. With
`-v=9` kubectl also prints each body it sends, those that are no text as a hex dump.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

from lifecycle.inspector.errors import InspectorError

_HEAD = re.compile(r"\$ (?P<line>[^\n]+)\n\[exit (?P<code>\d+)[^\]\n]*\]\n")
_DUMPED = re.compile(r'"Request Body" body=<\n(?P<dump>.*?)\n >', re.DOTALL)
_DUMP_LINE = re.compile(r"\s*[0-9a-f]{8}  (?P<hex>[0-9a-f ]+?)\s*\|")


@dataclass(slots=True, frozen=True)
class Transcript:
    """One command: `argv` without the program's name, exit code, stdout, stderr."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """The JSON documents in stdout, in order; empty if it is something else."""
        documents, rest, decoder = [], self.out.strip(), json.JSONDecoder()
        while rest.startswith("{"):
            document, end = decoder.raw_decode(rest)
            documents.append(document)
            rest = rest[end:].lstrip()
        return documents

    @property
    def dumped_requests(self) -> list[bytes]:
        """The request bodies that stderr shows as hex dumps. Raises InspectorError for
        a dump that kubectl cut short.
        """
        bodies = []
        for match in _DUMPED.finditer(self.err):
            lines = match["dump"].splitlines()
            rows = [row for row in map(_DUMP_LINE.match, lines) if row]
            if not rows:
                continue  # a body of text stands there as it is
            if len(rows) != len(lines):
                raise InspectorError(
                    "this hex dump was cut short; kubectl -v=9 prints whole ones"
                )
            bodies.append(bytes.fromhex("".join(row["hex"] for row in rows)))
        return bodies


def parse_transcript(text: str) -> Transcript:
    """Read a file of `kubectl/`. Raises InspectorError if it is none."""
    head = _HEAD.match(text)
    if head is None:
        raise InspectorError(
            "no transcript: it should begin with `$ command` and `[exit N]`"
        )
    out, _, err = text[head.end() :].partition("[stderr]\n")
    return Transcript(tuple(shlex.split(head["line"])[1:]), int(head["code"]), out, err)
