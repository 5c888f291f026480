"""Fields given twice in one JSON object.

A Python dict keeps the last of them silently; the server with `fieldValidation=Warn` or
`Strict` says `duplicate field "spec.replicas"`. Parsing in Python would be slow for the
common, clean body, so a cheap count comes first: a body without duplicates has as many
keys as the parsed object when that is written out again.

Upstream: `sigs.k8s.io/json` (`UnmarshalStrict`), used by
`apimachinery/pkg/runtime/serializer/json/json.go`, v1.36.
"""

from __future__ import annotations

import json
import json.scanner
import re
from collections.abc import Iterator
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.loop.worker import LARGE

_KEY_ENDS = re.compile(rb'"[ \t\r\n]*:').finditer
_LIMIT = 100  # upstream stops remembering strict errors there


class _Pairs(list[tuple[str, Any]]):
    """One JSON object with its fields in order, twice-given ones included."""


_AT_ONCE = json.JSONDecoder(object_pairs_hook=_Pairs)


class _InSteps(json.JSONDecoder):
    """The same in Python: the scanner in C keeps the interpreter for all of one large
    object.
    """

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=_Pairs)
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def find_duplicate_fields(body: bytes, parsed: Any = None) -> list[str]:
    """`duplicate field "…"` for each field that a JSON body repeats, in the order of
    the text.

    `parsed` is the decoded body if the caller has it already. A body that is not JSON
    has no duplicates.
    """
    try:
        known = fast_json.loads(body) if parsed is None else parsed
        # counted one by one: in one go it would have the interpreter for all of them
        keys = sum(1 for _ in _KEY_ENDS(body))
        if fast_json.dumps(known).count(b'":') >= keys:  # none was swallowed
            return []
        tree = _read_pairs(body)
    except (
        ValueError,
        TypeError,
        RecursionError,
    ):  # not JSON, or deeper than anything that could be stored
        return []
    duplicates: list[str] = []
    _walk(tree, "", duplicates)
    return list(dict.fromkeys(duplicates))[:_LIMIT]


def in_order_of_text(body: bytes, errors: list[str]) -> list[str]:
    """What is unknown and what is given twice, as one reading of a JSON body meets it.

    Upstream: `UnmarshalStrict` notes both while it decodes.
    """
    try:
        tree = _read_pairs(body)
    except (ValueError, RecursionError):
        return errors
    met = {error: index for index, error in reversed([*enumerate(_complaints(tree))])}
    return sorted(errors, key=lambda error: met.get(error, len(body)))


def _read_pairs(body: bytes) -> Any:
    """The values of a JSON body, its objects as `_Pairs`. Raises ValueError,
    RecursionError.
    """
    decoder = _InSteps() if len(body) > LARGE else _AT_ONCE
    return decoder.decode(body.decode(json.detect_encoding(body), "surrogatepass"))


def _complaints(value: Any, path: str = "") -> Iterator[str]:
    """All that could be said of the fields of a text, in its order."""
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            where = f"{path}.{key}" if path else key
            yield f'{"duplicate" if key in seen else "unknown"} field "{where}"'
            seen.add(key)
            yield from _complaints(item, where)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _complaints(item, f"{path}[{index}]")


def _walk(value: Any, path: str, duplicates: list[str]) -> None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            where = f"{path}.{key}" if path else key
            if key in seen:
                duplicates.append(f'duplicate field "{where}"')
            seen.add(key)
            _walk(item, where, duplicates)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _walk(item, f"{path}[{index}]", duplicates)
