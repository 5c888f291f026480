"""`kubectl create configmap` and `kubectl create secret`: data from literals and files.

Upstream: `kubectl/pkg/cmd/create/create_configmap.go`, `create_secret.go`, `create_secret_docker.go`, `create_secret_tls.go`,
`kubectl/pkg/util/util.go` (`ParseLiteralSource`, `ParseFileSource`), v1.36. Left out: `--append-hash`.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from pathlib import Path

import orjson

from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError


def create_configmap(
    name: str, literals: Sequence[str] = (), files: Sequence[str] = (), env_files: Sequence[str] = ()
) -> Object:
    """The ConfigMap; what is not UTF-8 goes to `binaryData`. Raises CommandError for unreadable files and malformed sources."""
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    data: dict[str, str] = {}
    binary: dict[str, str] = {}
    try:
        sources = _sources(literals, files, env_files)
    except _TakenKey as taken:
        where = f'in Data for ConfigMap "{name}"'
        raise CommandError(f'cannot add key "{taken}", another key by that name already exists {where}') from None
    for key, content in sources.items():
        try:
            data[key] = content.decode()
        except UnicodeDecodeError:
            binary[key] = base64.b64encode(content).decode()
    if data:
        obj["data"] = data
    if binary:
        obj["binaryData"] = binary
    return obj


def create_secret_generic(
    name: str, literals: Sequence[str] = (), files: Sequence[str] = (), env_files: Sequence[str] = (), type_: str = ""
) -> Object:
    """An Opaque Secret, unless a type is given (the server fills it in)."""
    try:
        sources = _sources(literals, files, env_files)
    except _TakenKey as taken:
        raise CommandError(f"cannot add key {taken}, another key by that name already exists") from None
    return _secret(name, sources, type_)


def create_secret_docker(name: str, server: str, username: str, password: str, email: str = "") -> Object:
    """A pull secret: the registry's credentials as Docker's config file holds them."""
    entry = {"username": username, "password": password}
    if email:
        entry["email"] = email
    entry["auth"] = base64.b64encode(f"{username}:{password}".encode()).decode()
    return _secret(
        name, {".dockerconfigjson": orjson.dumps({"auths": {server: entry}})}, "kubernetes.io/dockerconfigjson"
    )


def create_secret_tls(name: str, cert: str, key: str) -> Object:
    """A certificate and its key, read from files."""
    return _secret(name, {"tls.crt": _read(cert), "tls.key": _read(key)}, "kubernetes.io/tls")


def _secret(name: str, content: dict[str, bytes], type_: str) -> Object:
    obj: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    if content:
        obj["data"] = {key: base64.b64encode(value).decode() for key, value in content.items()}
    if type_:
        obj["type"] = type_
    return obj


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as wrong:
        reason = (wrong.strerror or "").lower()
        raise CommandError(f"Cannot read file {path}, open {path}: {reason}") from None


def _sources(literals: Sequence[str], files: Sequence[str], env_files: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for source in files:
        key, equals, path = source.partition("=")
        if not equals:
            path, key = source, os.path.basename(source)
        for each in sorted(Path(path).iterdir()) if Path(path).is_dir() else [Path(path)]:
            try:
                _add(found, key if equals else each.name, each.read_bytes())
            except OSError as wrong:
                raise CommandError(f"error reading {path}: {(wrong.strerror or '').lower()}") from None
    for source in literals:
        key, equals, value = source.partition("=")
        if not equals or not key:
            raise CommandError(f"invalid literal source {source}, expected key=value")
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        _add(found, key, value.encode())
    for path in env_files:
        for line in _read(path).decode().splitlines():
            line = line.lstrip()
            if line and not line.startswith("#"):
                key, _, value = line.partition("=")
                _add(found, key, value.encode())
    return found


class _TakenKey(Exception):
    """A key was given twice."""


def _add(found: dict[str, bytes], key: str, value: bytes) -> None:
    if key in found:
        raise _TakenKey(key)
    found[key] = value
