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

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.go.json.structs import StructDecoder, Types
from lifecycle.api.go.json.type_meta import interpret
from lifecycle.api.go.yaml_reader import read_yaml, unmarshal_errors
from lifecycle.api.http.wire import Object

INTERNAL = "__internal"
"""The version that no file may say."""


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
    struct = _struct_of(document, text, scheme)
    if not struct:
        return document or {}
    strict = []
    if complaints:
        strict.append(unmarshal_errors(complaints))
    decoder = StructDecoder(
        scheme.types,
        unknown=lambda path: strict.append(f'unknown field "{path}"'),
        in_order=from_json,
    )
    found = decoder.decode(document or {}, struct)
    if strict and scheme.strict:
        raise ValueError(f"strict decoding error: {', '.join(strict)}")
    return found


def _struct_of(document: Any, text: bytes, scheme: Scheme) -> str:
    version, kind = interpret(document)
    kind = kind or scheme.default_kind
    version = version or scheme.default_version
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
