"""kubeconfig: which cluster, as whom, in which namespace.

Several files can be given (`KUBECONFIG=a:b`); the first to mention something wins, map entries by name, `current-context` by being set at
all. Flags win over files. Paths inside a file are relative to that file. Nothing found is no error: kubectl then tries localhost:8080.

Upstream: `client-go/tools/clientcmd/loader.go` (`ClientConfigLoadingRules.Load`, `GetLoadingPrecedence`), `client_config.go`
(`DirectClientConfig.ClientConfig`), `overrides.go`, v1.36. Left out: exec and auth-provider plugins, in-cluster configuration.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lifecycle.kubectl.failures import CommandError

Config = dict[str, Any]
SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
_PATHS = {"clusters": ("certificate-authority",), "users": ("client-certificate", "client-key", "tokenFile")}
DEFAULT_SERVER = "http://localhost:8080"


@dataclass(slots=True, frozen=True)
class ClientConfig:
    """What a client needs: PEM bytes for certificates, a bearer token, the namespace to use where none is named."""

    server: str
    namespace: str = "default"
    ca: bytes = b""
    client_certificate: bytes = b""
    client_key: bytes = b""
    token: str = ""
    insecure: bool = False
    impersonate: str = ""


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


def loading_precedence(explicit: str = "", environ: Mapping[str, str] | None = None) -> list[Path]:
    """The files to read: `--kubeconfig` alone, else those of `KUBECONFIG`, else `~/.kube/config`."""
    environ = os.environ if environ is None else environ
    if explicit:
        return [Path(explicit)]
    if environ.get("KUBECONFIG"):
        return [Path(part) for part in dict.fromkeys(environ["KUBECONFIG"].split(os.pathsep)) if part]
    return [Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config"]


def load(paths: Sequence[Path], *, explicit: bool = False) -> Config:
    """All files merged. Missing ones are skipped unless one was named explicitly. Raises CommandError for what cannot be read."""
    merged = empty_config()
    for path in paths:
        if not path.exists():
            if explicit:
                raise CommandError(f"stat {path}: no such file or directory")
            continue
        try:
            document = yaml.safe_load(path.read_text()) or {}
        except (yaml.YAMLError, OSError) as wrong:
            raise CommandError(f'error loading config file "{path}": {str(wrong).splitlines()[0]}') from None
        merge(merged, _resolved(document, path.parent))
    return merged


def merge(into: Config, other: Config) -> None:
    """Add what `other` says and `into` does not. Changes `into`."""
    for section in SECTIONS:
        known = {entry["name"] for entry in into[section]}
        into[section] += [entry for entry in other.get(section) or () if entry["name"] not in known]
    if not into["current-context"]:
        into["current-context"] = other.get("current-context") or ""
    into["preferences"] = {**(other.get("preferences") or {}), **into["preferences"]}


def _resolved(document: Config, base: Path) -> Config:
    resolved = dict(document)
    for section, keys in _PATHS.items():
        entries = []
        for entry in document.get(section) or ():
            kind = SECTIONS[section]
            body = dict(entry.get(kind) or {})
            for key in keys:
                if body.get(key):
                    body[key] = str(base / body[key])
            entries.append({**entry, kind: body})
        resolved[section] = entries
    return resolved


def _find(config: Config, section: str, name: str) -> dict[str, Any] | None:
    for entry in config[section]:
        if entry["name"] == name:
            return dict(entry.get(SECTIONS[section]) or {})
    return None


def client_config(
    config: Config,
    *,
    context: str = "",
    cluster: str = "",
    user: str = "",
    namespace: str = "",
    server: str = "",
    token: str = "",
) -> ClientConfig:
    """What a client is to use. Arguments are flags, and win over the files. Raises CommandError for a context that is not there."""
    chosen = context or config["current-context"]
    found = _find(config, "contexts", chosen)
    if found is None:
        if chosen:
            raise CommandError(f'context "{chosen}" does not exist')
        found = {}
    cluster_name, user_name = cluster or found.get("cluster", ""), user or found.get("user", "")
    where, who = _find(config, "clusters", cluster_name), _find(config, "users", user_name)
    if where is None and cluster:
        raise CommandError(f'cluster "{cluster}" does not exist')
    if who is None and user:
        raise CommandError(f'auth info "{user}" does not exist')
    where, who = where or {}, who or {}
    return ClientConfig(
        server=(server or where.get("server") or DEFAULT_SERVER).rstrip("/"),
        namespace=namespace or found.get("namespace") or "default",
        ca=_data(where, "certificate-authority"),
        client_certificate=_data(who, "client-certificate"),
        client_key=_data(who, "client-key"),
        token=token or who.get("token") or _token_file(who),
        insecure=bool(where.get("insecure-skip-tls-verify")),
        impersonate=who.get("as", ""),
    )


def _data(body: Mapping[str, Any], key: str) -> bytes:
    inline = body.get(f"{key}-data")
    if inline:
        return base64.b64decode(inline)
    path = body.get(key)
    if not path:
        return b""
    try:
        return Path(path).read_bytes()
    except OSError as wrong:
        raise CommandError(f"unable to read {key} {path}: {(wrong.strerror or '').lower()}") from None


def _token_file(body: Mapping[str, Any]) -> str:
    path = body.get("tokenFile")
    return Path(path).read_text().strip() if path else ""


def make(
    name: str,
    server: str,
    *,
    ca: bytes = b"",
    client_certificate: bytes = b"",
    client_key: bytes = b"",
    token: str = "",
) -> Config:
    """A kubeconfig with one cluster, one user and one context of the same name, certificates inside."""

    def encoded(key: str, value: bytes) -> dict[str, str]:
        return {f"{key}-data": base64.b64encode(value).decode()} if value else {}

    user = {**encoded("client-certificate", client_certificate), **encoded("client-key", client_key)}
    if token:
        user["token"] = token
    config = empty_config()
    config["clusters"] = [{"name": name, "cluster": {**encoded("certificate-authority", ca), "server": server}}]
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
