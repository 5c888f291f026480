"""`kubectl create configmap`: data from literals and files.

Upstream: `kubectl/pkg/cmd/create/create_configmap.go` (`createConfigMap`,
`validateNewConfigMap`), v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.validation.content import config_map_key
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.append_hash import with_hash
from lifecycle.kubectl.generators.data_sources import (
    from_env_files,
    from_files,
    from_literals,
)

COMBINED = "from-env-file cannot be combined with from-file or from-literal"


def create_configmap(
    name: str,
    literals: Sequence[str] = (),
    files: Sequence[str] = (),
    env_files: Sequence[str] = (),
    *,
    append_hash: bool = False,
) -> Object:
    """The ConfigMap; what is not UTF-8 goes to `binaryData`. Raises CommandError for
    unreadable files, bad keys and malformed sources.
    """
    if env_files and (literals or files):
        raise CommandError(COMBINED)
    data: dict[str, str] = {}
    binary: dict[str, str] = {}

    def add(key: str, content: bytes) -> None:
        if errors := config_map_key(key):
            raise CommandError(
                f"{go_quote(key)} is not a valid key name for a ConfigMap:"
                f" {','.join(errors)}"
            )
        for field, taken in (("Data", data), ("BinaryData", binary)):
            if key in taken:
                raise CommandError(
                    f"cannot add key {go_quote(key)}, another key by that name already"
                    f" exists in {field} for ConfigMap {go_quote(name)}"
                )
        try:
            data[key] = content.decode()
        except UnicodeDecodeError:
            binary[key] = base64.b64encode(content).decode()

    from_files(files, add)
    from_literals(literals, add)
    from_env_files(env_files, add, "config")
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    if data:
        obj["data"] = dict(sorted(data.items()))
    if binary:
        obj["binaryData"] = dict(sorted(binary.items()))
    return with_hash(obj) if append_hash else obj
