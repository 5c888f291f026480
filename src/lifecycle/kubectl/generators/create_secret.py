"""`kubectl create secret generic`, `docker-registry` and `tls`.

Upstream: `kubectl/pkg/cmd/create/create_secret.go`, `create_secret_docker.go`
(`handleDockerCfgJSONContent`), `create_secret_tls.go`, v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object
from lifecycle.api.validation.content import config_map_key
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.append_hash import with_hash
from lifecycle.kubectl.generators.create_configmap import COMBINED
from lifecycle.kubectl.generators.data_sources import (
    from_env_files,
    from_files,
    from_literals,
)
from lifecycle.kubectl.generators.key_pair import check_key_pair

DOCKER_KEY, DOCKER_TYPE = ".dockerconfigjson", "kubernetes.io/dockerconfigjson"


def create_secret_generic(
    name: str,
    literals: Sequence[str] = (),
    files: Sequence[str] = (),
    env_files: Sequence[str] = (),
    type_: str = "",
    *,
    append_hash: bool = False,
) -> Object:
    """An Opaque Secret, unless a type is given (the server fills it in)."""
    if env_files and (literals or files):
        raise CommandError(COMBINED)
    data: dict[str, bytes] = {}

    def add(key: str, content: bytes) -> None:
        if errors := config_map_key(key):
            raise CommandError(
                f"{go_quote(key)} is not valid key name for a Secret {';'.join(errors)}"
            )
        if key in data:
            raise CommandError(
                f"cannot add key {key}, another key by that name already exists"
            )
        data[key] = content

    from_literals(literals, add)
    from_files(files, add)
    from_env_files(env_files, add, "secret")
    return _secret(name, data, type_, append_hash)


def create_secret_docker(
    name: str,
    server: str,
    username: str,
    password: str,
    email: str = "",
    *,
    files: Sequence[str] = (),
    append_hash: bool = False,
) -> Object:
    """A pull secret: the registry's credentials as Docker's config file holds them, or
    such a file itself.
    """
    if files:
        has_name = [
            source if "=" in source else f"{DOCKER_KEY}={source}" for source in files
        ]
        return create_secret_generic(
            name, files=has_name, type_=DOCKER_TYPE, append_hash=append_hash
        )
    entry = {"username": username, "password": password}
    if email:
        entry["email"] = email
    entry["auth"] = base64.b64encode(f"{username}:{password}".encode()).decode()
    return _secret(
        name,
        {DOCKER_KEY: marshal({"auths": {server: entry}}).encode()},
        DOCKER_TYPE,
        append_hash,
    )


def create_secret_tls(
    name: str, cert: str, key: str, *, append_hash: bool = False
) -> Object:
    """A certificate and its key, read from files. Raises CommandError if the one is not
    the other's.
    """
    if not cert or not key:
        raise CommandError("key and cert must be specified")
    certificate, private = _read(cert), _read(key)
    check_key_pair(certificate, private)
    return _secret(
        name,
        {"tls.crt": certificate, "tls.key": private},
        "kubernetes.io/tls",
        append_hash,
    )


def _secret(
    name: str, content: dict[str, bytes], type_: str, append_hash: bool
) -> Object:
    obj: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    if content:
        obj["data"] = {
            key: base64.b64encode(content[key]).decode() for key in sorted(content)
        }
    if type_:
        obj["type"] = type_
    return with_hash(obj) if append_hash else obj


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise CommandError(f"Cannot read file {path}, open {path}: {reason}") from None
