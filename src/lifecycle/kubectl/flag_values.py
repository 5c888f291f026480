"""The values of flags as Go reads them: lists, pairs and base64, with Go's
complaints.

Upstream: Go's `encoding/csv` and `encoding/base64`
(`CorruptInputError`); `spf13/pflag` (`readAsCSV`),
`component-base/cli/flag/map_string_string.go`.
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime

from lifecycle.kubectl.failures import CommandError


def go_base64(text: str) -> bytes:
    """What base64 stands for. Raises ValueError in Go's words, which name the place."""
    plain = re.sub(r"[\r\n]", "", text)
    try:
        if len(plain) % 4:  # Python lets one `=` after a whole group pass
            raise ValueError
        return base64.b64decode(plain, validate=True)
    except ValueError:
        raise ValueError(
            f"illegal base64 data at input byte {_corrupt(plain)}"
        ) from None


def _corrupt(text: str) -> int:
    """Where a text stops to be base64; what ends too early is wrong from its last group
    of four on.
    """
    match = re.search("[^A-Za-z0-9+/]", text)
    if match is None:
        return len(text) - len(text) % 4
    at = match.start()
    padding = 4 - at % 4
    if match[0] != "=" or padding > 2:
        return at
    if text[at : at + padding] != "=" * padding:
        return len(text) if len(text) < at + padding else at + 1
    return at + padding


def pair(text: str) -> tuple[str, str]:
    """`key=value`. Raises ValueError."""
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("malformed pair, expect string=string")
    return key.strip(), value.strip()


def read_as_csv(text: str) -> tuple[str, ...]:
    """One line of CSV, as strict as Go: a quote may only open and close a whole field.
    Raises ValueError in Go's words.
    """
    fields, at = [], 0
    while text:
        if text[at : at + 1] != '"':
            end = text.find(",", at)
            field = text[at:] if end < 0 else text[at:end]
            if '"' in field:
                column = len(text[: at + field.index('"')].encode()) + 1
                raise ValueError(
                    f'parse error on line 1, column {column}: bare " in'
                    " non-quoted-field"
                )
            fields.append(field)
            at += len(field)
        else:
            field, at = _quoted_field(text, at)
            fields.append(field)
        if at >= len(text):
            break
        at += 1
    return tuple(fields)


def _quoted_field(text: str, at: int) -> tuple[str, int]:
    end = at + 1
    while (end := text.find('"', end)) >= 0:
        if text[end + 1 : end + 2] != '"':
            break
        end += 2
    column = len(text[:end].encode()) + 1 if end >= 0 else len(text.encode()) + 1
    if end < 0 or text[end + 1 : end + 2] not in ("", ","):
        raise ValueError(
            f'parse error on line 1, column {column}: extraneous or missing " in'
            " quoted-field"
        )
    return text[at + 1 : end].replace('""', '"'), end + 1


_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII
)
_ELEMENTS = (
    (r"\d{4}", "2006"),
    *((r"-", "-"), (r"\d\d", "01"), (r"-", "-"), (r"\d\d", "02"), (r"T", "T")),
    *((r"\d\d", "15"), (r":", ":"), (r"\d\d", "04"), (r":", ":"), (r"\d\d", "05")),
    (r"(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", "Z07:00"),
)
"""The parts of a moment, and what Go calls them."""


def rfc3339(text: str) -> str:
    """A moment, in UTC and whole seconds, as the API writes it. Raises CommandError
    with Go's words about what is none. Upstream: `kubectl/pkg/util/util.go`
    (`ParseRFC3339`).
    """
    if _RFC3339.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text.replace(",", "."))
        except ValueError as error:
            why = str(error).partition(" must")[0]
            raise CommandError(f'parsing time "{text}": {why} out of range') from None
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rest = text
    for pattern, name in _ELEMENTS:
        match = re.match(pattern, rest, re.ASCII)
        if match is None:
            raise CommandError(
                f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse'
                f' "{rest}" as "{name}"'
            )
        rest = rest[match.end() :]
    raise CommandError(f'parsing time "{text}": extra text: "{rest}"')
