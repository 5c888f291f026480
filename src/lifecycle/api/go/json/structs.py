"""A document as Go reads it into structs: each value of the type that its field has, or
what is wrong in the words of Go's decoder.

A value is called by the innermost struct that it stands in and by the whole way to it,
without places in lists: `Issuer.jwt.issuer.url`.

Upstream: Go's `encoding/json/decode.go` (`UnmarshalTypeError`), `sigs.k8s.io/json`
(`UnmarshalStrict`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from lifecycle.api.go.duration import parse_duration
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object

Types = Mapping[str, Mapping[str, str]]
"""Go types, field by field: `{"Key": {"name": "string", "parts": "[]v1.Part"}}`. What
is no struct of these and no basic type is a string with a name of its own.
"""
ANYTHING = "any"
"""The type of what is not looked at."""
BYTES = "[]uint8"
_DURATION = "v1.Duration"
_LIST, _MAP = "[]", "map[string]"
_SCALARS: dict[str, tuple[type, Any]] = {
    "string": (str, ""),
    "bool": (bool, False),
    "int32": (int, 0),
}
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")
_PADDED = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


class StructDecoder:
    """Reads objects into structs of `types`.

    `zeros`: by struct, what is there even if the object does not say it. `unknown` is
    told the way to each field that there is not (`resources[0].colour`), which is then
    left out; without it such fields stay. `in_order`: as the object has its fields;
    what was YAML is sorted by the time that Go decodes it.
    """

    def __init__(
        self,
        types: Types,
        *,
        zeros: Mapping[str, Object] | None = None,
        unknown: Callable[[str], None] | None = None,
        in_order: bool = True,
    ) -> None:
        self._types = types
        self._zeros = zeros or {}
        self._unknown = unknown
        self._in_order = in_order

    def decode(self, value: Object, struct: str) -> Object:
        """The object without what is null: Go does not tell it from what is not there.
        Raises ValueError for the first value that does not fit.
        """
        return self._struct(value, struct, "", "")

    def _struct(self, value: Object, struct: str, path: str, names: str) -> Object:
        """`path` has places in lists (`resources[0].`), `names` has none."""
        found = dict(self._zeros.get(struct, {}))
        for name in value if self._in_order else sorted(value):
            go_type = self._types[struct].get(name)
            if go_type is None and self._unknown is not None:
                self._unknown(path + name)
            elif go_type is None:
                found[name] = value[name]
            elif value[name] is not None or go_type == _DURATION:
                found[name] = self._value(
                    value[name], go_type, struct, path + name, names + name
                )
        return found

    def _value(
        self, value: Any, go_type: str, struct: str, path: str, names: str
    ) -> Any:
        """`struct`: the innermost one that it stands in."""
        here = f"{struct}.{names}"
        if go_type == ANYTHING:
            return value
        if go_type == _DURATION:
            if not isinstance(value, str | None):
                raise ValueError(wrong_type(value, "string", here))
            parse_duration(value or "")  # null is no duration, and no zero either
            return value
        inner = go_type.rpartition(".")[2]
        if inner in self._types and not go_type.startswith((_LIST, _MAP)):
            return self._struct(
                _checked(value, dict, go_type, here), inner, f"{path}.", f"{names}."
            )
        if go_type == BYTES and isinstance(value, list):
            return base64.b64encode(bytes(_byte(item, here) for item in value)).decode()
        if go_type == BYTES:
            return _base64(_checked(value, str, go_type, here))
        if go_type.startswith(_LIST):
            return [
                self._item(item, go_type[len(_LIST) :], struct, f"{path}[{at}]", names)
                for at, item in enumerate(_checked(value, list, go_type, here))
            ]
        if go_type.startswith(_MAP):
            return {
                key: self._item(item, go_type[len(_MAP) :], struct, path, names)
                for key, item in _checked(value, dict, go_type, here).items()
            }
        return _checked(
            value, _SCALARS.get(go_type, _SCALARS["string"])[0], go_type, here
        )

    def _item(
        self, value: Any, go_type: str, struct: str, path: str, names: str
    ) -> Any:
        """Nothing in a list or a map is its type's zero."""
        if value is not None:
            return self._value(value, go_type, struct, path, names)
        if go_type.startswith(_LIST):
            return []
        inner = go_type.rpartition(".")[2]
        if go_type.startswith(_MAP) or inner in self._types:
            return dict(self._zeros.get(inner, {}))
        return _SCALARS.get(go_type, _SCALARS["string"])[1]


def _checked(value: Any, fits: type, go_type: str, here: str) -> Any:
    if not isinstance(value, fits) or (fits is int and isinstance(value, bool)):
        raise ValueError(wrong_type(value, go_type, here))
    return value


def _byte(value: Any, here: str) -> int:
    """Go takes bytes as a list of numbers, too."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(wrong_type(value, "uint8", here))
    if not isinstance(value, int) or not 0 <= value <= 255:
        raise ValueError(
            f"json: cannot unmarshal number {marshal(value)} into Go struct field"
            f" {here} of type uint8"
        )
    return value


def _base64(text: str) -> str:
    """As it was. Raises ValueError with the place at which it is no base64."""
    letters = text.replace("\r", "").replace("\n", "")
    padded = _PADDED.match(letters)
    whole = padded.end() if padded else 0
    if whole == len(letters):
        return text
    if not letters[:whole].endswith("="):  # it breaks off, or something else begins
        match = _ALPHABET.match(letters)
        end = match.end() if match else 0
        whole = end if end < len(letters) else whole
    raise ValueError(f"illegal base64 data at input byte {whole}")
