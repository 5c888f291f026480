"""Which kubeconfig files are read, and how several become one.

`--kubeconfig` names one file, and it must be there. `KUBECONFIG` names several, and
those that are missing are skipped; so is the file in the home directory. The first file
to mention something wins: entries by their name, whole; `current-context` by being set
at all. Paths inside a file are relative to that file, so they are resolved before
anything is merged.

Upstream: `client-go/tools/clientcmd/loader.go` (`ClientConfigLoadingRules.Load`,
`GetLoadingPrecedence`, `ResolveLocalPaths`), `merge.go`, v1.36. Left out: migrating
`~/.kube/.kubeconfig`, the exact sentences about JSON of a wrong type.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.json.type_meta import interpret
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.documents import PATHS, SECTIONS, Config, empty_config
from lifecycle.kubectl.kubeconfig.field_types import decode
from lifecycle.kubectl.source_lines import CONFIG_SCHEME

_GO_NAMES = {"clusters": "Cluster", "users": "AuthInfo", "contexts": "Context"}


def loading_precedence(
    explicit: str = "", environ: Mapping[str, str] | None = None
) -> list[Path]:
    """The files to read: `--kubeconfig` alone, else those of `KUBECONFIG`, else
    `~/.kube/config`.
    """
    environ = os.environ if environ is None else environ
    if explicit:
        return [Path(explicit)]
    if environ.get("KUBECONFIG"):
        return [
            Path(part)
            for part in dict.fromkeys(environ["KUBECONFIG"].split(os.pathsep))
            if part
        ]
    return [Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config"]


def load(
    paths: Sequence[Path], *, explicit: bool = False, resolve: bool = True
) -> Config:
    """All files merged. Missing ones are skipped unless one was named explicitly.
    Raises CommandError for what cannot be read.

    `resolve=False` leaves paths as they are written.
    """
    merged = empty_config()
    for path, document in read_all(paths, explicit=explicit):
        merge(
            merged,
            resolve_local_paths(document, path.parent.absolute())
            if resolve
            else document,
        )
    return merged


def read_all(
    paths: Sequence[Path], *, explicit: bool = False
) -> list[tuple[Path, Config]]:
    """The files that are there, in order, each by itself. Raises CommandError."""
    configs, errlist = [], []
    for path in paths:
        if not path.exists():
            if explicit:
                raise CommandError(f"stat {path}: no such file or directory")
            continue
        try:
            configs.append((path, parse(path.read_text())))
        except OSError as error:
            errlist.append(
                f'error loading config file "{path}": open {path}:'
                f" {(error.strerror or '').lower()}"
            )
        except ValueError as error:
            errlist.append(f'error loading config file "{path}": {error}')
    if errlist:
        raise CommandError(aggregate(errlist))
    return configs


def parse(text: str) -> Config:
    """The document of a file. Raises ValueError with the sentence that follows the
    file's name.
    """
    document, _ = read_yaml(text.encode())
    version, kind = interpret(document)
    if document is None:
        return {}
    version, kind = version or "v1", kind or "Config"
    if (version, kind) != ("v1", "Config"):
        raise ValueError(
            f'no kind "{kind}" is registered for version "{version}" in scheme'
            f' "{CONFIG_SCHEME}"'
        )
    document = decode(document)
    for section in SECTIONS:
        seen: set[str] = set()
        for entry in document.get(section) or ():
            name = entry.get("name", "")
            if name in seen:
                one = _GO_NAMES[section]
                named = f"error converting *[]Named{one} into *map[string]*api.{one}"
                raise ValueError(
                    f'{named}: duplicate name "{name}" in list: {document[section]}'
                )
            seen.add(name)
    return document


def merge(into: Config, other: Config) -> None:
    """Add what `other` says and `into` does not. Changes `into`."""
    for section in SECTIONS:
        existing = {entry.get("name") for entry in into[section]}
        into[section] += [
            entry
            for entry in other.get(section) or ()
            if entry.get("name") not in existing
        ]
    if not into["current-context"]:
        into["current-context"] = other.get("current-context") or ""
    into["preferences"] = {
        key: value
        for preferences in (other.get("preferences") or {}, into["preferences"])
        for key, value in preferences.items()
        if value
    }
    if other.get("extensions"):
        existing = {entry.get("name") for entry in into.get("extensions") or ()}
        extra = [
            entry for entry in other["extensions"] if entry.get("name") not in existing
        ]
        into["extensions"] = [*(into.get("extensions") or ()), *extra]


def resolve_local_paths(document: Config, base: Path) -> Config:
    """The document with its paths made absolute; so is an exec plugin's command, if it
    has a slash in it.
    """
    out = dict(document)
    for section, keys in PATHS.items():
        kind = SECTIONS[section]
        entries = []
        for entry in document.get(section) or ():
            body = dict(entry.get(kind) or {})
            for key in keys:
                if body.get(key):
                    body[key] = os.path.normpath(base / body[key])
            plugin: dict[str, Any] = body.get("exec") or {}
            if "/" in plugin.get("command", "") and section == "users":
                body["exec"] = {
                    **plugin,
                    "command": os.path.normpath(base / plugin["command"]),
                }
            entries.append({**entry, kind: body})
        out[section] = entries
    return out
