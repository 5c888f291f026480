"""Whether the fields of a kubeconfig are what they should be, in the words of Go's JSON
decoder.

Upstream: `client-go/tools/clientcmd/api/v1/types.go` (`Config` and what is in it),
`encoding/json` (`UnmarshalTypeError`), v1.36. Left out: what is in `exec` and
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
_SECTIONS: dict[str, tuple[str, str, dict[str, str]]] = {
    "clusters": (
        "Cluster",
        "cluster",
        {
            "server": "string",
            "tls-server-name": "string",
            "insecure-skip-tls-verify": "bool",
            "certificate-authority": "string",
            "certificate-authority-data": _BYTES,
            "proxy-url": "string",
            "disable-compression": "bool",
        },
    ),
    "users": (
        "AuthInfo",
        "user",
        {
            "client-certificate": "string",
            "client-certificate-data": _BYTES,
            "client-key": "string",
            "client-key-data": _BYTES,
            "token": "string",
            "tokenFile": "string",
            "as": "string",
            "as-uid": "string",
            "username": "string",
            "password": "string",
        },
    ),
    "contexts": (
        "Context",
        "context",
        {"cluster": "string", "user": "string", "namespace": "string"},
    ),
}
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")
_PADDED = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def json_kind(value: Any) -> str:
    """What Go's decoder calls a value: array, object, string, bool or number."""
    for kind, name in ((list, "array"), (dict, "object"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "bool" if isinstance(value, bool) else "number"


def check_types(document: dict[str, Any]) -> None:
    """Raises ValueError for the first field that is of another type."""
    check_field(document.get("current-context"), "string", "Config.current-context")
    for section, (struct, field, fields) in _SECTIONS.items():
        entries = document.get(section)
        check_field(entries, f"[]v1.Named{struct}", f"Config.{section}")
        for entry in entries or ():
            check_field(entry, f"v1.Named{struct}", f"Config.{section}")
            named = f"Named{struct}.{section}"
            check_field(entry.get("name"), "string", f"{named}.name")
            body = entry.get(field)
            check_field(body, f"v1.{struct}", f"{named}.{field}")
            for name, type_name in fields.items():
                where = f"{struct}.{section}.{field}.{name}"
                check_field((body or {}).get(name), type_name, where)


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
