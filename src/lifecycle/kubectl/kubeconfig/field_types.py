"""The fields of a kubeconfig, if they are what they should be, or what is wrong in the
words of Go's JSON decoder.

Upstream: `client-go/tools/clientcmd/api/v1/types.go` (`Config` and what is in it),
`encoding/json` (`UnmarshalTypeError`), v1.36. Left out: `preferences` and
`extensions`.
"""

from __future__ import annotations

import re
from typing import Any

TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
    ' "json:\\"kind,omitempty\\"" }'
)
"""What is looked for first in any document."""
_BYTES = "[]uint8"
_STRUCTS = {
    "Config": {
        "current-context": "string",
        "clusters": "[]v1.NamedCluster",
        "users": "[]v1.NamedAuthInfo",
        "contexts": "[]v1.NamedContext",
    },
    "NamedCluster": {"name": "string", "cluster": "v1.Cluster"},
    "NamedAuthInfo": {"name": "string", "user": "v1.AuthInfo"},
    "NamedContext": {"name": "string", "context": "v1.Context"},
    "Cluster": {
        "server": "string",
        "tls-server-name": "string",
        "insecure-skip-tls-verify": "bool",
        "certificate-authority": "string",
        "certificate-authority-data": _BYTES,
        "proxy-url": "string",
        "disable-compression": "bool",
    },
    "AuthInfo": {
        "client-certificate": "string",
        "client-certificate-data": _BYTES,
        "client-key": "string",
        "client-key-data": _BYTES,
        "token": "string",
        "tokenFile": "string",
        "as": "string",
        "as-uid": "string",
        "as-groups": "[]string",
        "as-user-extra": "map[string][]string",
        "username": "string",
        "password": "string",
        "auth-provider": "v1.AuthProviderConfig",
        "exec": "v1.ExecConfig",
    },
    "Context": {"cluster": "string", "user": "string", "namespace": "string"},
    "AuthProviderConfig": {"name": "string", "config": "map[string]string"},
    "ExecConfig": {
        "command": "string",
        "args": "[]string",
        "env": "[]v1.ExecEnvVar",
        "apiVersion": "string",
        "installHint": "string",
        "provideClusterInfo": "bool",
        "interactiveMode": "string",
    },
    "ExecEnvVar": {"name": "string", "value": "string"},
}
"""Go's types, by their fields."""
_SHOWN = ("name", "value")
"""What Go writes even if it is empty, of things that are named."""
_LIST, _MAP, _STRUCT = "[]", "map[string]", "v1."
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")
_PADDED = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def json_kind(value: Any) -> str:
    """What Go's decoder calls a value: array, object, string, bool or number."""
    for kind, name in ((list, "array"), (dict, "object"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "bool" if isinstance(value, bool) else "number"


def decode(document: dict[str, Any]) -> dict[str, Any]:
    """The document, without fields that are null: Go does not tell them from those that
    are not there. Raises ValueError for the first field that is of another type.
    """
    return _struct(document, "Config", "")


def _struct(value: dict[str, Any], struct: str, path: str) -> dict[str, Any]:
    types, decoded = _STRUCTS[struct], dict[str, Any]()
    if struct.startswith("Named") or struct == "ExecEnvVar":
        decoded = {name: "" for name in _SHOWN if name in types}
    for name, each in value.items():
        if name not in types:
            decoded[name] = each
        elif each is not None:
            where = f"{path}.{name}".lstrip(".")
            decoded[name] = _decoded(each, types[name], struct, where)
    return decoded


def _decoded(value: Any, type_name: str, struct: str, path: str) -> Any:
    """What is in a list or a map is called by the field that it stands in."""
    check_field(value, type_name, f"{struct}.{path}")
    if type_name == _BYTES:
        return value
    if type_name.startswith(_STRUCT):
        return _struct(value or {}, type_name.removeprefix(_STRUCT), path)
    if type_name.startswith(_LIST):
        inner = type_name.removeprefix(_LIST)
        return [_decoded(each, inner, struct, path) for each in value or ()]
    if type_name.startswith(_MAP):
        inner = type_name.removeprefix(_MAP)
        return {
            key: _decoded(each, inner, struct, path)
            for key, each in (value or {}).items()
        }
    return "" if value is None else value


def check_field(value: Any, type_name: str, where: str) -> None:
    """Raises ValueError if a field that is there is of another type than Go's."""
    expected = {"string": "string", "bool": "bool", _BYTES: "string"}.get(
        type_name, "array" if type_name.startswith("[]") else "object"
    )
    if value is None:
        return
    if json_kind(value) != expected:
        raise ValueError(
            f"json: cannot unmarshal {json_kind(value)} into Go struct field {where} of"
            f" type {type_name}"
        )
    if type_name == _BYTES:
        _check_base64(value)


def _check_base64(text: str) -> None:
    """Raises ValueError with the place at which it is no base64."""
    letters = text.replace("\r", "").replace("\n", "")
    padded = _PADDED.match(letters)
    whole = padded.end() if padded else 0
    if whole == len(letters):
        return
    if not letters[:whole].endswith("="):  # it breaks off, or something else begins
        match = _ALPHABET.match(letters)
        end = match.end() if match else 0
        whole = end if end < len(letters) else whole
    raise ValueError(f"illegal base64 data at input byte {whole}")
