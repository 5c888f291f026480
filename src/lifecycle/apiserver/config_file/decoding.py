"""Reading a configuration file: YAML or JSON, of one kind, with the fields it has.

A misspelt field that is passed over would mean that a server is open where its
administrator has closed it, and nobody would be told. So every value must have its Go
type, and a field that there is not is an error.

Upstream: `apimachinery/pkg/runtime/serializer/json/json.go` (`Serializer.Decode` with
`Strict`), `sigs.k8s.io/{json,yaml}`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.api.go_duration import parse_duration
from lifecycle.api.go_format import go_quote
from lifecycle.api.go_json.decode import unmarshal, wrong_type
from lifecycle.api.wire import Object
from lifecycle.api.yaml_reader import read_yaml

Types = Mapping[str, Mapping[str, str]]
"""Go types, field by field: `{"Key": {"name": "string", "parts": "[]v1.Part"}}`. What
is no struct of these and no basic type is a string with a name of its own.
"""
_TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
    ' "json:\\"kind,omitempty\\"" }'
)
INTERNAL = "__internal"
"""The version that no file may say."""
ANYTHING = "any"
"""The type of what is not looked at."""
_SCALARS: dict[str, tuple[type, Any]] = {
    "string": (str, ""),
    "bool": (bool, False),
    "int32": (int, 0),
}


@dataclass(slots=True, frozen=True)
class Scheme:
    """Which kinds may stand in a file: apiVersion and kind → its Go type, empty for one
    that is known but not read. `place` is where upstream made the scheme; errors say
    it. `strict`: unknown fields and keys that come twice are errors. The defaults are
    for a file that does not say its kind.
    """

    kinds: Mapping[tuple[str, str], str]
    types: Types
    place: str
    strict: bool = True
    default_kind: str = ""
    default_version: str = ""


def decode_configuration(text: bytes, scheme: Scheme) -> Object:
    """The document in a file, each value of its type, without what is null. Raises
    ValueError in Go's words.
    """
    complaints: list[str] = []
    from_json = text.lstrip().startswith(b"{")
    if from_json:
        try:
            document = unmarshal(text)
        except ValueError as error:
            raise ValueError(
                f"couldn't get version/kind; json parse error: {error}"
            ) from None
    else:
        document, complaints = read_yaml(text)
    document = {} if document is None else document
    if not isinstance(document, dict):
        complaint = wrong_type(document, _TYPE_META)
        raise ValueError(f"couldn't get version/kind; json parse error: {complaint}")
    struct = _struct_of(document, text, scheme)
    if not struct:
        return document
    strict = []
    if complaints:
        lines = "".join(f"\n  {each}" for each in complaints)
        strict.append(f"yaml: unmarshal errors:{lines}")
    reader = _Reader(scheme.types, strict, in_order=from_json)
    found = reader.struct(document, struct, "", "")
    if strict and scheme.strict:
        raise ValueError(f"strict decoding error: {', '.join(strict)}")
    return found


def _struct_of(document: Object, text: bytes, scheme: Scheme) -> str:
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name) or "", str):
            complaint = wrong_type(document[name], "string", f".{name}")
            raise ValueError(
                f"couldn't get version/kind; json parse error: {complaint}"
            )
    kind = document.get("kind") or scheme.default_kind
    version = document.get("apiVersion") or scheme.default_version
    shown = text.decode(errors="replace")
    if not kind:
        raise ValueError(f"Object 'Kind' is missing in '{shown}'")
    if not version:
        raise ValueError(f"Object 'apiVersion' is missing in '{shown}'")
    struct = scheme.kinds.get((version, kind))
    if struct is None:
        group, _, number = version.rpartition("/")
        what = f"version {go_quote(version)}"
        if number == INTERNAL:
            what = f"the internal version of group {go_quote(group)}"
        raise ValueError(
            f"no kind {go_quote(kind)} is registered for {what} in scheme"
            f" {go_quote(scheme.place)}"
        )
    return struct


class _Reader:
    """`in_order`: as the file has the fields; what was YAML is sorted by then."""

    def __init__(self, types: Types, strict: list[str], *, in_order: bool) -> None:
        self._types, self._strict, self._in_order = types, strict, in_order

    def struct(self, value: Object, struct: str, path: str, names: str) -> Object:
        """`path` has places in lists (`resources[0].`), `names` has none."""
        found: Object = {}
        for name in value if self._in_order else sorted(value):
            go_type = self._types[struct].get(name)
            if go_type is None:
                self._strict.append(f'unknown field "{path}{name}"')
            elif value[name] is not None or go_type == "v1.Duration":
                found[name] = self._value(
                    value[name], go_type, struct, path + name, names + name
                )
        return found

    def _value(
        self, value: Any, go_type: str, struct: str, path: str, names: str
    ) -> Any:
        if go_type == ANYTHING:
            return value
        here = f"{struct}.{names}"
        if go_type == "v1.Duration":
            if not isinstance(value, str | None):
                raise ValueError(wrong_type(value, "string", here))
            parse_duration(value or "")  # null is no duration, and no zero either
            return value
        if go_type.startswith("[]"):
            if not isinstance(value, list):
                raise ValueError(wrong_type(value, go_type, here))
            return [
                self._item(item, go_type[2:], struct, f"{path}[{index}]", names)
                for index, item in enumerate(value)
            ]
        inner = go_type.removeprefix("v1.")
        if inner in self._types:
            if not isinstance(value, dict):
                raise ValueError(wrong_type(value, go_type, here))
            return self.struct(value, inner, f"{path}.", f"{names}.")
        fits, _ = _SCALARS.get(go_type, _SCALARS["string"])
        if not isinstance(value, fits) or (fits is int and isinstance(value, bool)):
            raise ValueError(wrong_type(value, go_type, here))
        return value

    def _item(
        self, value: Any, go_type: str, struct: str, path: str, names: str
    ) -> Any:
        """Nothing in a list is its type's zero."""
        if value is not None:
            return self._value(value, go_type, struct, path, names)
        if go_type.removeprefix("v1.") in self._types:
            return {}
        return _SCALARS.get(go_type, _SCALARS["string"])[1]
