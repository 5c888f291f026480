"""`--append-hash`: a name that changes whenever the data does.

Upstream: `kubectl/pkg/util/hash/hash.go` (`ConfigMapHash`, `SecretHash`, `encodeHash`),
v1.36.
"""

from __future__ import annotations

import hashlib

from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object

_LETTERS = str.maketrans("013ae", "ghkmt")
"""Digits and vowels become consonants, so that no word can come out."""


def data_hash(obj: Object) -> str:
    """Ten letters for the name, kind, type and data of a ConfigMap or a Secret."""
    hashed: Object = {
        "kind": obj["kind"],
        "name": obj["metadata"].get("name", ""),
        "data": obj.get("data") or {},
    }
    if obj["kind"] == "Secret":
        hashed["type"] = obj.get("type", "")
    elif obj.get("binaryData"):
        hashed["binaryData"] = obj["binaryData"]
    inner = {key: _sorted(value) for key, value in sorted(hashed.items())}
    return hashlib.sha256(marshal(inner).encode()).hexdigest()[:10].translate(_LETTERS)


def _sorted(value: object) -> object:
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def with_hash(obj: Object) -> Object:
    """The object, its name made unique for its data."""
    name = f"{obj['metadata'].get('name', '')}-{data_hash(obj)}"
    return {**obj, "metadata": {**obj["metadata"], "name": name}}
