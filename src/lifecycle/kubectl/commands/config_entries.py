"""The subcommands of `kubectl config` that change something: contexts, clusters, users,
and single properties.

Each returns what it prints.

Upstream:
`kubectl/pkg/cmd/config/{set_context,set_cluster,set_credentials,set,unset,use_context,rename_context,delete_*}.go`,
v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import Parsed, flag
from lifecycle.kubectl.kubeconfig.modifying import KubeconfigFiles
from lifecycle.kubectl.kubeconfig.properties import Place, decoded, place_of

Body = dict[str, Any]
CONTEXT_FLAGS = (
    flag("current", "bool"),
    flag("cluster"),
    flag("user"),
    flag("namespace", short="n"),
)
CLUSTER_FLAGS = (
    flag("server"),
    flag("tls-server-name"),
    flag("insecure-skip-tls-verify", "bool"),
    flag("certificate-authority"),
    flag("embed-certs", "bool"),
    flag("proxy-url"),
)
USER_FLAGS = (
    *(
        flag(name)
        for name in (
            "client-certificate",
            "client-key",
            "token",
            "username",
            "password",
        )
    ),
    flag("embed-certs", "bool"),
    flag("auth-provider"),
    flag("auth-provider-arg", "slice"),
    *(
        flag(name)
        for name in ("exec-command", "exec-api-version", "exec-interactive-mode")
    ),
    flag("exec-provide-cluster-info", "bool"),
    flag("exec-arg", "slice"),
    flag("exec-env", "array"),
)


class Misused(Exception):
    """The arguments make no sense; help is printed, and then this, if it says
    anything.
    """


def _one(p: Parsed) -> str:
    if len(p.args) != 1:
        raise Misused(f"Unexpected args: [{' '.join(p.args)}]")
    return p.args[0]


def _changed_flags(p: Parsed, names: Sequence[str]) -> Body:
    return {name: p[name] for name in names if name in p.changed}


def use_context(p: Parsed, files: KubeconfigFiles) -> str:
    """`config use-context NAME`"""
    files.use_context(_one(p))
    return f"Switched to context {go_quote(p.args[0])}.\n"


def rename_context(p: Parsed, files: KubeconfigFiles) -> str:
    """`config rename-context OLD NEW`"""
    if len(p.args) != 2:
        raise Misused(f"Unexpected args: [{' '.join(p.args)}]")
    old, new = p.args
    if not new:
        raise CommandError("You must specify a new non-empty context name")
    files.rename_context(old, new)
    return f"Context {go_quote(old)} renamed to {go_quote(new)}.\n"


def delete_entry(section: str, what: str) -> Callable[[Parsed, KubeconfigFiles], str]:
    """`config delete-context NAME`, `delete-cluster`, `delete-user`"""

    def run(p: Parsed, files: KubeconfigFiles) -> str:
        if len(p.args) != 1:
            raise (
                UsageError("user to delete is required", "config delete-user")
                if what == "user"
                else Misused("")
            )
        default = files.filename()  # it is named even if the entry was in another one
        if files.delete_entry(section, p.args[0]):
            warning = (
                'this removed your active context, use "kubectl config use-context" to'
                " select a different one"
            )
            files.warn(f"warning: {warning}\n")
        return f"deleted {what} {p.args[0]} from {default}\n"

    return run


def set_context(p: Parsed, files: KubeconfigFiles) -> str:
    """`config set-context (NAME | --current)`"""
    if len(p.args) > 1:
        raise Misused(f"Unexpected args: [{' '.join(p.args)}]")
    name = p.args[0] if p.args else ""
    if not name and not p["current"]:
        raise CommandError("you must specify a non-empty context name or --current")
    if name and p["current"]:
        raise CommandError("you cannot specify both a context name and --current")
    if p["current"]:
        name = files.starting_config()["current-context"]
        if not name:
            raise CommandError("no current context is set")
    existed = files.set_entry(
        "contexts",
        name,
        lambda body: body | _changed_flags(p, ("cluster", "user", "namespace")),
    )
    return f"Context {go_quote(name)} {'modified' if existed else 'created'}.\n"


def set_cluster(p: Parsed, files: KubeconfigFiles) -> str:
    """`config set-cluster NAME`"""
    name, authority = _one(p), p["certificate-authority"]
    if not name:
        raise CommandError("you must specify a non-empty cluster name")
    if authority and p["insecure-skip-tls-verify"]:
        raise CommandError(
            "you cannot specify a certificate authority and insecure mode at the same"
            " time"
        )
    if p["embed-certs"]:
        if not authority:
            raise CommandError("you must specify a --certificate-authority to embed")
        _there("certificate-authority", authority)

    def change(body: Body) -> Body:
        if "server" in p.changed:
            body.pop("tls-server-name", None)  # it was the name of the old address
        # The flag has a default, and so counts as given: whoever does not repeat it
        # turns verification on again.
        body |= _changed_flags(p, ("server", "tls-server-name")) | {
            "insecure-skip-tls-verify": p["insecure-skip-tls-verify"]
        }
        if p["insecure-skip-tls-verify"]:
            body.pop("certificate-authority", None)
            body.pop("certificate-authority-data", None)
        _certificate(body, "certificate-authority", p)
        return body | _changed_flags(p, ("proxy-url",))

    files.set_entry("clusters", name, change)
    return f"Cluster {go_quote(name)} set.\n"


def set_credentials(p: Parsed, files: KubeconfigFiles) -> str:
    """`config set-credentials NAME`"""
    if len(p.args) != 1:
        raise Misused(f"unexpected args: [{' '.join(p.args)}]")
    provider = _pairs(p["auth-provider-arg"], "auth-provider-arg")
    environment = _pairs(p["exec-env"], "exec-env")
    if not p.args[0]:
        raise CommandError("you must specify a non-empty user name")
    methods = ["--token"] if p["token"] else []
    if p["username"] or p["password"]:
        methods.append("--username/--password")
    if len(methods) > 1:
        wrong = (
            "you cannot specify more than one authentication method at the same time"
        )
        raise CommandError(f"{wrong}: {', '.join(methods)}")
    if p["embed-certs"]:
        if not p["client-certificate"] and not p["client-key"]:
            raise CommandError(
                "you must specify a --client-certificate or --client-key to embed"
            )
        for name in ("client-certificate", "client-key"):
            if p[name]:
                _there(name, p[name])
    if "exec-interactive-mode" in p.changed and p["exec-interactive-mode"] not in (
        "IfAvailable",
        "Never",
        "Always",
    ):
        raise CommandError(
            "invalid interactive mode type, can be only IfAvailable, Never, Always"
        )
    files.set_entry(
        "users", p.args[0], lambda body: _changed_user(body, p, provider, environment)
    )
    return f"User {go_quote(p.args[0])} set.\n"


def _changed_user(
    body: Body,
    p: Parsed,
    provider: Mapping[str, str | None],
    environment: Mapping[str, str | None],
) -> Body:
    for name in ("client-certificate", "client-key"):
        _certificate(body, name, p)
    body |= _changed_flags(p, ("token", "username", "password"))
    if (
        "auth-provider" in p.changed
        and (body.get("auth-provider") or {}).get("name") != p["auth-provider"]
    ):
        body["auth-provider"] = {"name": p["auth-provider"]}
    if body.get("auth-provider"):
        settings = _updated(body["auth-provider"].get("config") or {}, provider)
        body["auth-provider"] = {**body["auth-provider"], "config": settings}
    if "exec-command" in p.changed:
        body["exec"] = {
            **(body.get("exec") or {}),
            "command": p["exec-command"],
            "args": None,
        }
    if body.get("exec"):
        body["exec"] = _changed_plugin(body["exec"], p, environment)
    if p["token"]:
        body = {
            key: value
            for key, value in body.items()
            if key not in ("username", "password")
        }
    elif p["username"] or p["password"]:
        body.pop("token", None)
    return body


def _changed_plugin(
    plugin: Body, p: Parsed, environment: Mapping[str, str | None]
) -> Body:
    fields = {
        "exec-api-version": "apiVersion",
        "exec-interactive-mode": "interactiveMode",
        "exec-provide-cluster-info": "provideClusterInfo",
    }
    plugin = plugin | {
        field: p[name] for name, field in fields.items() if name in p.changed
    }
    if p["exec-arg"]:
        plugin["args"] = list(p["exec-arg"])
    before = {each["name"]: each.get("value", "") for each in plugin.get("env") or ()}
    after = [
        {"name": name, "value": value}
        for name, value in _updated(before, environment).items()
    ]
    return {**plugin, "env": after or None}


def _updated(
    before: Mapping[str, str], changes: Mapping[str, str | None]
) -> dict[str, str]:
    """The entries after the changes; None takes one away."""
    after = {
        key: value for key, value in before.items() if changes.get(key, "") is not None
    }
    return after | {key: value for key, value in changes.items() if value is not None}


def _pairs(items: Sequence[str], what: str) -> dict[str, str | None]:
    """`KEY=VALUE`, or `KEY-` to take one away. Raises Misused."""
    pairs: dict[str, str | None] = {}
    invalid = []
    for item in items:
        key, equals, value = item.partition("=")
        if equals and key:
            pairs[key] = value
        elif item.endswith("-") and item != "-":
            pairs[item[:-1]] = None
        else:
            invalid.append(item)
    if invalid:
        raise Misused(f"invalid {what} format: {', '.join(invalid)}")
    return pairs


def _there(name: str, path: str) -> None:
    if not Path(path).exists():
        raise CommandError(
            f"could not stat {name} file {path}: stat {path}: no such file or directory"
        )


def _certificate(body: Body, key: str, p: Parsed) -> None:
    """A certificate's file in place of its content, or its content in place of its
    file.
    """
    if key not in p.changed:
        return
    path = Path(p[key]).absolute()
    body[key] = str(path)
    if p["embed-certs"]:
        body[f"{key}-data"] = base64.b64encode(path.read_bytes()).decode()
        del body[key]
    else:
        body.pop(f"{key}-data", None)


def set_property(p: Parsed, files: KubeconfigFiles) -> str:
    """`config set PATH VALUE`"""
    if len(p.args) != 2:
        raise Misused(f"Unexpected args: [{' '.join(p.args)}]")
    path, value = p.args
    if not value:
        raise CommandError("you cannot use set to unset a property")
    if not path:
        raise CommandError("you must specify a property")
    place = place_of(path)
    new = decoded(place, value, raw=p["set-raw-bytes"])
    _write(files, place, lambda body: {**body, place.field: new}, new)
    return f"Property {go_quote(path)} set.\n"


def unset_property(p: Parsed, files: KubeconfigFiles) -> str:
    """`config unset PATH`"""
    if not _one(p):
        raise CommandError("you must specify a property")
    place = place_of(p.args[0])
    known = (
        [entry["name"] for entry in files.starting_config()[place.section]]
        if place.section
        else []
    )
    if place.name and place.field and place.name not in known:
        raise CommandError(f"current map key `{place.name}` is invalid")
    if place.section and not place.field:
        for name in (
            [place.name] if place.name in known else [] if place.name else known
        ):
            files.delete_entry(place.section, name)
    else:
        _write(
            files,
            place,
            lambda body: {k: v for k, v in body.items() if k != place.field},
            "",
        )
    return f"Property {go_quote(p.args[0])} unset.\n"


def _write(
    files: KubeconfigFiles, place: Place, change: Callable[[Body], Body], value: Any
) -> None:
    if place.section:
        files.set_entry(place.section, place.name, change, relative=False)
    else:
        files.set_current(value)
