"""Showing a kubeconfig: minified to one context, flattened into one file, without its
secrets.

Upstream: `kubectl/pkg/cmd/config/view.go`, `get_contexts.go`,
`client-go/tools/clientcmd/api/helpers.go` (`MinifyConfig`, `FlattenConfig`,
`ShortenConfig`, `RedactSecrets`), v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.documents import PATHS, SECTIONS, Config, find
from lifecycle.kubectl.printing.columns import align

OMITTED, REDACTED = "DATA+OMITTED", "REDACTED"
_HIDDEN = {
    "clusters": {"certificate-authority-data": OMITTED},
    "users": {
        "client-certificate-data": OMITTED,
        "client-key-data": OMITTED,
        "token": REDACTED,
        "password": REDACTED,
    },
    "contexts": {},
}
_ORDER = {
    "clusters": ("server", "tls-server-name", "insecure-skip-tls-verify",
    "certificate-authority", "certificate-authority-data",
                 "proxy-url", "disable-compression", "extensions"),
    "users": ("client-certificate", "client-certificate-data", "client-key",
    "client-key-data", "token", "tokenFile", "as", "as-uid",
              "as-groups", "as-user-extra", "username", "password", "auth-provider",
              "exec", "extensions"),
    "contexts": ("cluster", "user", "namespace", "extensions"),
}  # fmt: skip
_EXEC = (
    "command",
    "args",
    "env",
    "apiVersion",
    "installHint",
    "provideClusterInfo",
    "interactiveMode",
)


def minify_config(config: Config, context: str = "") -> Config:
    """Only what the current (or the given) context uses. Raises CommandError."""
    name = context or config.get("current-context") or ""
    if not name:
        raise CommandError("current-context must exist in order to minify")
    current = find(config, "contexts", name)
    if current is None:
        raise CommandError(f"cannot locate context {name}")
    kept: Config = {**config, "current-context": name}
    for section, ref, what in (
        ("clusters", current.get("cluster", ""), "cluster"),
        ("users", current.get("user", ""), "user"),
    ):
        if ref and find(config, section, ref) is None:
            raise CommandError(f"cannot locate {what} {ref}")
        kept[section] = [
            entry for entry in config[section] if ref and entry["name"] == ref
        ]
    kept["contexts"] = [entry for entry in config["contexts"] if entry["name"] == name]
    return kept


def flatten_config(config: Config) -> Config:
    """Certificates and keys moved from their files into the document. Raises
    CommandError for a file that cannot be read.
    """
    out = dict(config)
    for section in ("clusters", "users"):
        kind, entries = SECTIONS[section], []
        for entry in config[section]:
            body = dict(entry.get(kind) or {})
            for key in PATHS[section]:
                if key == "tokenFile" or not body.get(key):
                    continue
                try:
                    body[f"{key}-data"] = base64.b64encode(
                        Path(body[key]).read_bytes()
                    ).decode()
                except OSError as error:
                    raise CommandError(
                        f"open {body[key]}: {(error.strerror or '').lower()}"
                    ) from None
                del body[key]
            entries.append({**entry, kind: body})
        out[section] = entries
    return out


def redact_secrets(config: Config) -> Config:
    """What may be shown to somebody looking over one's shoulder."""
    out = dict(config)
    for section, hidden in _HIDDEN.items():
        kind, entries = SECTIONS[section], []
        for entry in config[section]:
            body = {
                key: hidden.get(key, value) if value else value
                for key, value in (entry.get(kind) or {}).items()
            }
            plugin = body.get("exec")
            if plugin and plugin.get("env"):
                body["exec"] = {
                    **plugin,
                    "env": [
                        {**each, "value": each.get("value", "")}
                        for each in plugin["env"]
                    ],
                }
            entries.append({**entry, kind: body})
        out[section] = entries
    return out


def view(
    config: Config,
    *,
    minify: bool = False,
    flatten: bool = False,
    raw: bool = False,
    context: str = "",
) -> Config:
    """The document that `kubectl config view` prints, its fields in kubectl's order.
    Raises CommandError.
    """
    if minify:
        config = minify_config(config, context)
    if flatten:
        config = flatten_config(config)
    elif not raw:
        config = redact_secrets(config)
    return external(config)


def external(config: Config) -> Config:
    """A document as kubectl writes it: sections by name, fields in their order, nothing
    that is empty.
    """
    preferences = {
        key: value for key, value in (config.get("preferences") or {}).items() if value
    }
    out: Config = {"kind": "Config", "apiVersion": "v1"}
    if preferences:
        out["preferences"] = preferences
    for section, kind in (
        ("clusters", "cluster"),
        ("users", "user"),
        ("contexts", "context"),
    ):
        entries = sorted(
            config.get(section) or (), key=lambda entry: str(entry.get("name", ""))
        )
        out[section] = [
            {"name": e["name"], kind: _body(section, e.get(kind) or {})}
            for e in entries
        ] or None
    out["current-context"] = config.get("current-context") or ""
    if config.get("extensions"):
        out["extensions"] = sorted(
            config["extensions"], key=lambda entry: str(entry.get("name", ""))
        )
    return out


def _body(section: str, body: dict[str, Any]) -> dict[str, Any]:
    always = {"clusters": ("server",), "contexts": ("cluster", "user")}.get(section, ())
    out = {key: body[key] for key in _ORDER[section] if body.get(key)}
    out |= {key: "" for key in always if key not in out}
    if "exec" in out:
        out["exec"] = _plugin(out["exec"])
    return {key: out[key] for key in _ORDER[section] if key in out}


def _plugin(plugin: dict[str, Any]) -> dict[str, Any]:
    """A plugin as it is written: two fields are there even if they say nothing."""
    exec_config = {
        "command": plugin.get("command", ""),
        "args": plugin.get("args") or None,
        "env": plugin.get("env") or None,
        "apiVersion": plugin.get("apiVersion", ""),
        "installHint": plugin.get("installHint"),
        "provideClusterInfo": bool(plugin.get("provideClusterInfo")),
        "interactiveMode": plugin.get("interactiveMode") or _default_mode(plugin),
    }
    return {
        key: exec_config[key]
        for key in _EXEC
        if exec_config[key] or key in ("command", "args", "env", "provideClusterInfo")
    }


def _default_mode(plugin: dict[str, Any]) -> str:
    from lifecycle.kubectl.kubeconfig.validation import interactive_mode

    return interactive_mode(plugin)


def contexts_table(
    config: Config,
    names: Sequence[str] = (),
    *,
    headers: bool = True,
    only_names: bool = False,
) -> tuple[str, list[str]]:
    """What `get-contexts` prints, and what it could not find."""
    contexts = {
        entry["name"]: entry.get("context") or {}
        for entry in config.get("contexts") or ()
    }
    missing = [f"context {name} not found" for name in names if name not in contexts]
    chosen = sorted(name for name in (names or contexts) if name in contexts)
    if only_names:
        return "".join(f"{name}\n" for name in chosen), missing
    rows = [["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"]] if headers else []
    for name in chosen:
        body = contexts[name]
        marker = "*" if name == config.get("current-context") else ""
        rows.append(
            [
                marker,
                name,
                body.get("cluster", ""),
                body.get("user", ""),
                body.get("namespace", ""),
            ]
        )
    return align(rows), missing
