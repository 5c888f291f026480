"""Reading an `EncryptionConfiguration`: a file, and what is wrong with it.

It is read strictly. A misspelt `secretbox` that is passed over would mean that Secrets
lie in the store as anybody can read them, and nobody would be told.

Upstream: `apiserver/pkg/server/options/encryptionconfig/config.go` (`loadConfig`),
`apiserver/pkg/apis/apiserver/v1/types_encryption.go`, v1.36.
"""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go_duration import parse_duration
from lifecycle.api.go_format import go_quote
from lifecycle.api.go_json.decode import unmarshal, wrong_type
from lifecycle.api.wire import Object
from lifecycle.api.yaml_reader import read_yaml
from lifecycle.apiserver.storage.encryption_config.validation import (
    validate_encryption_configuration,
)

GROUP_VERSION, KIND = "apiserver.config.k8s.io/v1", "EncryptionConfiguration"
OLD_VERSION, OLD_KIND = "v1", "EncryptionConfig"
"""What it was called before 1.13; still read."""

OTHER_KINDS = (
    "AdmissionConfiguration",
    "AuthenticationConfiguration",
    "AuthorizationConfiguration",
    "EgressSelectorConfiguration",
    "TracingConfiguration",
)
_SCHEME = "pkg/server/options/encryptionconfig/config.go:142"

TYPES: dict[str, dict[str, str]] = {
    "EncryptionConfiguration": {
        "kind": "string",
        "apiVersion": "string",
        "resources": "[]v1.ResourceConfiguration",
    },
    "ResourceConfiguration": {
        "resources": "[]string",
        "providers": "[]v1.ProviderConfiguration",
    },
    "ProviderConfiguration": {
        "aesgcm": "v1.AESConfiguration",
        "aescbc": "v1.AESConfiguration",
        "secretbox": "v1.SecretboxConfiguration",
        "identity": "v1.IdentityConfiguration",
        "kms": "v1.KMSConfiguration",
    },
    "AESConfiguration": {"keys": "[]v1.Key"},
    "SecretboxConfiguration": {"keys": "[]v1.Key"},
    "IdentityConfiguration": {},
    "KMSConfiguration": {
        "apiVersion": "string",
        "name": "string",
        "cachesize": "int32",
        "endpoint": "string",
        "timeout": "v1.Duration",
    },
    "Key": {"name": "string", "secret": "string"},
}
"""The Go types, field by field."""


@dataclass(slots=True, frozen=True)
class EncryptionFile:
    """A configuration, and the hash of the text it was read from: what tells a changed
    file from the one that is in force.
    """

    document: Object
    content_hash: str


def content_hash(text: bytes) -> str:
    """As the metrics of upstream show it, without the server's id."""
    return f"k8s:enc:unstable:1:{hashlib.sha256(text).hexdigest()}"


def read_encryption_file(path: Path, *, reload: bool = False) -> EncryptionFile:
    """The configuration of a file. Raises ValueError with everything that is wrong with
    it, without its secrets.
    """
    text = read_text(path)
    try:
        document = _decoded(text)
    except ValueError as error:
        raise ValueError(
            "error while parsing file: error decoding encryption provider"
            f" configuration file {go_quote(str(path))}: {error}"
        ) from None
    if document["kind"] in OTHER_KINDS:
        raise ValueError(
            "error while parsing file: got unexpected config type:"
            f" {GROUP_VERSION}, Kind={document['kind']}"
        )
    errors = [str(e) for e in validate_encryption_configuration(document, reload)]
    if errors:
        raise ValueError(f"error while parsing file: {aggregate(errors)}")
    return EncryptionFile(document, content_hash(text))


def read_text(path: Path) -> bytes:
    """What is in the file. Raises ValueError if nothing is, or it cannot be read."""
    name = go_quote(str(path))
    loading = "error while parsing file: error while loading file:"
    try:
        text = path.read_bytes()
    except OSError as error:
        why = os.strerror(error.errno or errno.EIO).lower()
        raise ValueError(
            f"{loading} error reading encryption provider configuration file {name}:"
            f" open {path}: {why}"
        ) from None
    if not text:
        raise ValueError(
            f"{loading} encryption provider configuration file {name} is empty"
        )
    return text


def _decoded(text: bytes) -> Object:
    complaints: list[str] = []
    if text.lstrip().startswith(b"{"):
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
        target = (
            'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
            ' "json:\\"kind,omitempty\\"" }'
        )
        complaint = wrong_type(document, target)
        raise ValueError(f"couldn't get version/kind; json parse error: {complaint}")
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name, ""), str):
            complaint = wrong_type(document[name], "string", f".{name}")
            raise ValueError(
                f"couldn't get version/kind; json parse error: {complaint}"
            )
    kind, version = document.get("kind") or "", document.get("apiVersion") or ""
    shown = text.decode(errors="replace")
    if not kind:
        raise ValueError(f"Object 'Kind' is missing in '{shown}'")
    if not version:
        raise ValueError(f"Object 'apiVersion' is missing in '{shown}'")
    if version == GROUP_VERSION and kind in OTHER_KINDS:
        return document
    if (version, kind) not in ((GROUP_VERSION, KIND), (OLD_VERSION, OLD_KIND)):
        raise ValueError(
            f"no kind {go_quote(kind)} is registered for version {go_quote(version)} in"
            f" scheme {go_quote(_SCHEME)}"
        )
    strict = []
    if complaints:
        lines = "".join(f"\n  {each}" for each in complaints)
        strict.append(f"yaml: unmarshal errors:{lines}")
    _check(document, "EncryptionConfiguration", "", "", strict)
    if strict:
        raise ValueError(f"strict decoding error: {', '.join(strict)}")
    return document


def _check(
    value: Object, struct: str, path: str, names: str, strict: list[str]
) -> None:
    """Every field has its type, or ValueError; those that there are not go to
    `strict`. `path` has places in lists (`resources[0].`), `names` has none.
    """
    for name, item in value.items():
        go_type = TYPES[struct].get(name)
        if go_type is None:
            strict.append(f'unknown field "{path}{name}"')
        elif item is not None:
            _check_value(item, go_type, struct, path + name, names + name, strict)


def _check_value(
    value: Any, go_type: str, struct: str, path: str, names: str, strict: list[str]
) -> None:
    if go_type == "v1.Duration":
        if not isinstance(value, str):
            raise ValueError(wrong_type(value, "string"))
        parse_duration(value)
        return
    item_type = go_type.removeprefix("[]")
    scalar = {"string": str, "int32": int}.get(go_type)
    fits = scalar or (list if item_type != go_type else dict)
    if not isinstance(value, fits) or isinstance(value, bool):
        raise ValueError(wrong_type(value, go_type, f"{struct}.{names}"))
    if isinstance(value, list):
        for i, item in enumerate(value):
            _check_value(item, item_type, struct, f"{path}[{i}]", names, strict)
    elif isinstance(value, dict):
        _check(value, go_type.removeprefix("v1."), f"{path}.", f"{names}.", strict)
