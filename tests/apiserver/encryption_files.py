"""Encryption configurations for tests: one rule, or what a list of rules says."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from lifecycle.api.http.wire import Object

SIZES = {"aescbc": 32, "aesgcm": 16, "secretbox": 32}


def key(name: str, fill: str, size: int = 32) -> Object:
    """A key whose bytes are all the same."""
    return {"name": name, "secret": base64.b64encode(fill.encode() * size).decode()}


def provider(kind: str, *names: str, fill: str = "") -> Object:
    """A provider with keys of these names; the bytes of each are its name's last letter, or `fill`."""
    if kind == "identity":
        return {"identity": {}}
    return {kind: {"keys": [key(name, fill or name[-1], SIZES[kind]) for name in names]}}


def configuration(*rules: tuple[tuple[str, ...], list[Object]]) -> Object:
    """A configuration of `(resources, providers)`."""
    return {
        "kind": "EncryptionConfiguration",
        "apiVersion": "apiserver.config.k8s.io/v1",
        "resources": [{"resources": list(names), "providers": providers} for names, providers in rules],
    }


def write(path: Path, *providers: Object, resources: tuple[str, ...] = ("secrets",)) -> Path:
    """A file with one rule."""
    path.write_text(json.dumps(configuration((resources, list(providers)))))
    return path
