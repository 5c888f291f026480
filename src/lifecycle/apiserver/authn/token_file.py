"""`--token-auth-file`: bearer tokens in a file, and whose they are.

The oldest way in that is left: a line for each token, with the user's name, uid and
groups. Such a token never ends, stands in a file in clear, and a change of the file
needs a restart; it is for trying things out.

Upstream: `apiserver/pkg/authentication/token/tokenfile/tokenfile.go` (`NewCSV`), v1.36;
Go's `encoding/csv/reader.go` (`readRecord`), which has its own idea of what is CSV:
spaces count, a quote may only stand at a field's beginning, empty lines do not exist.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from lifecycle.api.http.wire import UserInfo

log = logging.getLogger(__name__)

BARE_QUOTE = 'bare " in non-quoted-field'
WRONG_QUOTE = 'extraneous or missing " in quoted-field'


def read_token_file(path: Path) -> dict[str, UserInfo]:
    """The tokens of a file: `token,user,uid,"group1,group2"`; of two lines with one
    token the last counts. Raises OSError; ValueError in upstream's words. No message
    repeats a token.
    """
    tokens: dict[str, UserInfo] = {}
    for number, record in enumerate(csv_records(path.read_bytes()), start=1):
        if len(record) < 3:
            raise ValueError(
                f"token file '{path}' must have at least 3 columns (token, user name,"
                f" user uid), found {len(record)}"
            )
        token, name, uid = record[:3]
        place = f"token file '{path}', record number '{number}'"
        if not token:
            log.warning("empty token has been found in %s", place)
            continue
        if token in tokens:
            log.warning("duplicate token has been found in %s", place)
        groups = tuple(record[3].split(",")) if len(record) > 3 else ()
        tokens[token] = UserInfo(name, groups, uid)
    return tokens


def csv_records(text: bytes) -> Iterator[list[str]]:
    """The records of a text, as Go's reader has them. Raises ValueError with the line
    and the column (of bytes, from 1) of what is no CSV.
    """
    lines = _Lines(text)
    while (line := lines.next()) is not None:
        if line != b"\n":
            yield [field.decode(errors="replace") for field in _fields(line, lines)]


class _Lines:
    """The lines of a text, their ends kept as one character; `number` counts."""

    def __init__(self, text: bytes) -> None:
        # a carriage return is part of a line's end there, and at the end of the text
        text = text.removesuffix(b"\r").replace(b"\r\n", b"\n")
        *ended, last = text.split(b"\n")
        self._lines = iter(
            [*(line + b"\n" for line in ended), *([last] if last else [])]
        )
        self.number = 0

    def next(self) -> bytes | None:
        """The next line; None after the last."""
        line = next(self._lines, None)
        self.number += line is not None
        return line


def _fields(line: bytes, lines: _Lines) -> list[bytes]:
    """The fields of the record that begins with a line, and may take more of them."""
    first, at, fields = lines.number, 0, list[bytes]()
    while True:
        if line[at : at + 1] != b'"':
            field, comma, _ = line[at:].partition(b",")
            field = field if comma else field.removesuffix(b"\n")
            if (quote := field.find(b'"')) >= 0:
                raise _error(first, lines.number, at + quote + 1, BARE_QUOTE)
            fields.append(field)
            at += len(field) + 1
            if not comma:
                return fields
            continue
        field, at = b"", at + 1
        while True:
            quote = line.find(b'"', at)
            if quote < 0:  # the field goes on in the next line
                field += line[at:]
                following = lines.next()
                if following is None:
                    raise _error(first, lines.number, len(line) + 1, WRONG_QUOTE)
                line, at = following, 0
                continue
            field, at = field + line[at:quote], quote + 1
            if line[at : at + 1] != b'"':
                break
            field, at = field + b'"', at + 1
        fields.append(field)
        if line[at:] in (b"", b"\n"):
            return fields
        if line[at : at + 1] != b",":
            raise _error(first, lines.number, at, WRONG_QUOTE)
        at += 1


def _error(first: int, line: int, column: int, why: str) -> ValueError:
    record = f"record on line {first}; " if first != line else ""
    return ValueError(f"{record}parse error on line {line}, column {column}: {why}")
