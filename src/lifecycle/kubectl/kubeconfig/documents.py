"""kubeconfig documents: made, written, and the shape they have.

A kubeconfig is a list of clusters, a list of users, a list of contexts that pair one of
each, and the name of the current context. Here it is the plain document of the file.

Upstream: `client-go/tools/clientcmd/api/v1/types.go`,
`client-go/tools/clientcmd/loader.go` (`WriteToFile`), v1.36.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import yaml

Config = dict[str, Any]
SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
PATHS = {
    "clusters": ("certificate-authority",),
    "users": ("client-certificate", "client-key", "tokenFile"),
    "contexts": (),
}


def empty_config() -> Config:
    """A kubeconfig that says nothing."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [],
        "contexts": [],
        "current-context": "",
        "preferences": {},
        "users": [],
    }


def find(config: Config, section: str, name: str) -> dict[str, Any] | None:
    """The body of a named entry, or None. Read-only."""
    for entry in config.get(section) or ():
        if entry.get("name") == name:
            return entry.get(SECTIONS[section]) or {}
    return None


def names(config: Config, section: str) -> list[str]:
    """The names of a section, sorted."""
    return sorted(entry.get("name", "") for entry in config.get(section) or ())


def make(
    name: str,
    server: str,
    *,
    ca: bytes = b"",
    client_certificate: bytes = b"",
    client_key: bytes = b"",
    token: str = "",
) -> Config:
    """A kubeconfig with one cluster, one user and one context of the same name,
    certificates inside.
    """

    def encoded(key: str, value: bytes) -> dict[str, str]:
        return {f"{key}-data": base64.b64encode(value).decode()} if value else {}

    user = {
        **encoded("client-certificate", client_certificate),
        **encoded("client-key", client_key),
    }
    if token:
        user["token"] = token
    config = empty_config()
    config["clusters"] = [
        {
            "name": name,
            "cluster": {**encoded("certificate-authority", ca), "server": server},
        }
    ]
    config["contexts"] = [{"name": name, "context": {"cluster": name, "user": name}}]
    config["users"] = [{"name": name, "user": user}]
    config["current-context"] = name
    return config


def write(config: Config, path: Path) -> None:
    """Save a kubeconfig so that only its owner can read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        yaml.safe_dump(config, file, sort_keys=True, default_flow_style=False)
