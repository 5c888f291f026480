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

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.config_file.decoding import Scheme, decode_configuration
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

SCHEME = Scheme(
    kinds={
        (GROUP_VERSION, KIND): KIND,
        (OLD_VERSION, OLD_KIND): KIND,
        **{(GROUP_VERSION, kind): "" for kind in OTHER_KINDS},
    },
    types=TYPES,
    place="pkg/server/options/encryptionconfig/config.go:142",
)


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
        document = decode_configuration(text, SCHEME)
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
