"""`kubectl config`: look at kubeconfig files, and change them. No server is asked.

Upstream: `kubectl/pkg/cmd/config/*.go`, v1.36. Left out: `set` and `unset` by property path, templates as output.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.api.go_format import go_quote
from lifecycle.kubectl.failures import CommandError, message_for
from lifecycle.kubectl.flags import Flag, Parsed, flag, parse
from lifecycle.kubectl.kubeconfig.documents import find, names
from lifecycle.kubectl.kubeconfig.modifying import KubeconfigFiles
from lifecycle.kubectl.kubeconfig.viewing import contexts_table, view
from lifecycle.kubectl.printers import to_yaml
from lifecycle.kubectl.session import Writer

Fields = Mapping[str, str]
VIEW = (
    flag("minify", "bool"), flag("flatten", "bool"), flag("raw", "bool"), flag("merge", "bool", default=True),
    flag("output", short="o", default="yaml"),
)  # fmt: skip
CLUSTER: Fields = {
    "server": "server",
    "tls-server-name": "tls-server-name",
    "insecure-skip-tls-verify": "insecure-skip-tls-verify",
    "certificate-authority": "certificate-authority",
    "proxy-url": "proxy-url",
}
CONTEXT: Fields = {"cluster": "cluster", "user": "user", "namespace": "namespace"}
USER: Fields = {
    "client-certificate": "client-certificate",
    "client-key": "client-key",
    "token": "token",
    "username": "username",
    "password": "password",
}


class _Run:
    def __init__(self, files: KubeconfigFiles, out: Writer, err: Writer) -> None:
        self.files, self.out, self.err = files, out, err

    def say(self, text: str) -> None:
        self.out.write(text + "\n")

    # -- looking ------------------------------------------------------------------------------------------------------

    def view(self, argv: Sequence[str]) -> None:
        given = parse(argv, VIEW, "kubectl config view")
        if given.args:
            raise CommandError(f"unexpected arguments: [{' '.join(given.args)}]")
        config = self.files.starting_config(resolve=given["flatten"])
        shown = view(
            config, minify=given["minify"], flatten=given["flatten"], raw=given["raw"], context=given["context"]
        )
        if given["output"] == "json":
            self.say(json.dumps(shown, indent=4, ensure_ascii=False))
        elif given["output"] == "yaml":
            self.out.write(to_yaml(shown))
        else:
            format_ = go_quote(given["output"])
            raise CommandError(
                f"unable to match a printer suitable for the output format {format_}, allowed formats are: json,yaml"
            )

    def get_contexts(self, argv: Sequence[str]) -> None:
        given = parse(argv, [flag("no-headers", "bool"), flag("output", short="o")], "kubectl config get-contexts")
        config = self.files.starting_config()
        if given["output"] not in ("", "name", "wide"):
            raise CommandError(
                f"--output {given['output']} is not available in kubectl config get-contexts; resetting to default output format"
            )
        if given["output"] == "name":
            wanted = given.args or names(config, "contexts")
            missing = [f"context {name} not found" for name in wanted if find(config, "contexts", name) is None]
            for name in sorted(set(wanted) & set(names(config, "contexts"))):
                self.say(name)
        else:
            text, missing = contexts_table(config, given.args, headers=not given["no-headers"])
            self.out.write(text)
        if missing:
            raise CommandError(missing[0] if len(missing) == 1 else "[" + ", ".join(missing) + "]")

    def current_context(self, argv: Sequence[str]) -> None:
        name = self.files.starting_config()["current-context"]
        if not name:
            raise CommandError("current-context is not set")
        self.say(name)

    def get_clusters(self, argv: Sequence[str]) -> None:
        self._names("clusters")

    def get_users(self, argv: Sequence[str]) -> None:
        self._names("users")

    def _names(self, section: str) -> None:
        self.say("NAME")
        for name in names(self.files.starting_config(), section):
            self.say(name)

    # -- changing -----------------------------------------------------------------------------------------------------

    def use_context(self, argv: Sequence[str]) -> None:
        name = _one(argv, (), "kubectl config use-context").args[0]
        self.files.use_context(name)
        self.say(f"Switched to context {go_quote(name)}.")

    def set_context(self, argv: Sequence[str]) -> None:
        given = parse(argv, [flag("current", "bool")], "kubectl config set-context")
        if given["current"]:
            if given.args:
                raise CommandError("you cannot specify both a context name and --current")
            name = self.files.starting_config()["current-context"]
            if not name:
                raise CommandError("no current context is set")
        elif not given.args:
            raise CommandError("you must specify a non-empty context name or --current")
        else:
            name = given.args[0]
        existed = self.files.set_entry("contexts", name, lambda body: body | _given(given, CONTEXT))
        self.say(f"Context {go_quote(name)} {'modified' if existed else 'created'}.")

    def set_cluster(self, argv: Sequence[str]) -> None:
        flags = [flag("embed-certs", "bool"), flag("certificate-authority"), flag("tls-server-name"), flag("proxy-url")]
        given = _one(argv, flags, "kubectl config set-cluster")
        name, new = given.args[0], _given(given, CLUSTER)
        authority = new.get("certificate-authority")
        if authority and given["insecure-skip-tls-verify"]:
            raise CommandError("you cannot specify a certificate authority and insecure mode at the same time")
        if given["embed-certs"] and not authority:
            raise CommandError("you must specify a --certificate-authority to embed")

        def change(body: dict[str, Any]) -> dict[str, Any]:
            if new.get("server"):
                body.pop("tls-server-name", None)  # it was the name of the old address
            # The flag has a default, and so counts as given: whoever does not repeat it turns verification on again.
            body |= new | {"insecure-skip-tls-verify": given["insecure-skip-tls-verify"]}
            if authority:
                _certificate(body, "certificate-authority", embed=given["embed-certs"])
            if new.get("insecure-skip-tls-verify"):
                body.pop("certificate-authority", None)
                body.pop("certificate-authority-data", None)
            return body

        self.files.set_entry("clusters", name, change)
        self.say(f"Cluster {go_quote(name)} set.")

    def set_credentials(self, argv: Sequence[str]) -> None:
        flags = [
            flag("embed-certs", "bool"), flag("client-certificate"), flag("client-key"), flag("username"), flag("password"),
            flag("exec-command"), flag("exec-api-version"), flag("exec-arg", "slice"), flag("exec-env", "slice"),
            flag("exec-interactive-mode"), flag("exec-provide-cluster-info", "bool"),
            flag("auth-provider"), flag("auth-provider-arg", "slice"),
        ]  # fmt: skip
        given = _one(argv, flags, "kubectl config set-credentials")
        new = _given(given, USER)
        methods = ["--token"] if new.get("token") else []
        if new.get("username") or new.get("password"):
            methods.append("--username/--password")
        if len(methods) > 1:
            wrong = "you cannot specify more than one authentication method at the same time"
            raise CommandError(f"{wrong}: {', '.join(methods)}")
        if given["embed-certs"] and not (new.get("client-certificate") or new.get("client-key")):
            raise CommandError("you must specify a --client-certificate or --client-key to embed")
        if given["exec-interactive-mode"] not in ("", "IfAvailable", "Never", "Always"):
            raise CommandError("invalid interactive mode type, can be only IfAvailable, Never, Always")
        self.files.set_entry("users", given.args[0], lambda body: _changed_user(body, new, given))
        self.say(f"User {go_quote(given.args[0])} set.")

    def rename_context(self, argv: Sequence[str]) -> None:
        given = parse(argv, (), "kubectl config rename-context")
        if len(given.args) != 2:
            raise CommandError(f"Unexpected args: [{' '.join(given.args)}]")
        old, new = given.args
        self.files.rename_context(old, new)
        self.say(f"Context {go_quote(old)} renamed to {go_quote(new)}.")

    def delete(self, section: str, what: str) -> Callable[[Sequence[str]], None]:
        def run(argv: Sequence[str]) -> None:
            name = _one(argv, (), f"kubectl config delete-{what}").args[0]
            default = self.files.default_file()  # it is named even if the entry was in another one
            if self.files.delete_entry(section, name):
                warning = 'this removed your active context, use "kubectl config use-context" to select a different one'
                self.err.write(f"warning: {warning}\n")
            self.say(f"deleted {what} {name} from {default}")

        return run


def _changed_user(body: dict[str, Any], new: dict[str, Any], given: Parsed) -> dict[str, Any]:
    if new.get("token"):
        body = {key: value for key, value in body.items() if key not in ("username", "password")}
    if new.get("username") or new.get("password"):
        body = {key: value for key, value in body.items() if key not in ("token", "tokenFile")}
    body |= new
    for key in ("client-certificate", "client-key"):
        if new.get(key):
            _certificate(body, key, embed=given["embed-certs"])
    plugin = {
        "command": given["exec-command"],
        "apiVersion": given["exec-api-version"],
        "interactiveMode": given["exec-interactive-mode"],
        "args": list(given["exec-arg"]),
        "env": [dict(zip(("name", "value"), pair.split("=", 1), strict=True)) for pair in given["exec-env"]],
        "provideClusterInfo": given["exec-provide-cluster-info"],
    }
    changed = {key: value for key, value in plugin.items() if value}
    if "command" in changed or body.get("exec"):
        body["exec"] = {**(body.get("exec") or {}), **changed}
    if given["auth-provider"]:
        provider = {
            "name": given["auth-provider"],
            "config": dict(pair.split("=", 1) for pair in given["auth-provider-arg"]),
        }
        body["auth-provider"] = provider
    return body


def _certificate(body: dict[str, Any], key: str, *, embed: bool) -> None:
    """A certificate's file in place of its content, or its content in place of its file."""
    import base64

    path = Path(body[key]).absolute()
    body.pop(f"{key}-data", None)
    body[key] = str(path)
    if embed:
        try:
            body[f"{key}-data"] = base64.b64encode(path.read_bytes()).decode()
        except OSError as wrong:
            raise CommandError(
                f"could not stat {key} file {path}: stat {path}: {(wrong.strerror or '').lower()}"
            ) from None
        del body[key]


def _given(given: Parsed, fields: Fields) -> dict[str, Any]:
    return {field: given[name] for name, field in fields.items() if name in given.changed}


def _one(argv: Sequence[str], flags: Sequence[Flag], command: str) -> Parsed:
    given = parse(argv, flags, command)
    if len(given.args) != 1:
        raise CommandError(f"Unexpected args: [{' '.join(given.args)}]")
    return given


def run_config(argv: Sequence[str], *, out: Writer, err: Writer, environ: Mapping[str, str] | None = None) -> int:
    """`kubectl config …` (`argv` is what follows `config`); the exit code. Nothing is raised."""
    environ = os.environ if environ is None else environ
    words = [word for word in argv if not word.startswith("-")]
    explicit = ""
    try:
        rest = list(argv)
        for i, word in enumerate(rest):
            if word == "--kubeconfig" and i + 1 < len(rest):
                explicit = rest[i + 1]
            elif word.startswith("--kubeconfig="):
                explicit = word.partition("=")[2]
        words = [word for word in words if word != explicit]
        run = _Run(KubeconfigFiles(explicit, environ), out, err)
        commands: dict[str, Callable[[Sequence[str]], None]] = {
            "view": run.view,
            "get-contexts": run.get_contexts,
            "current-context": run.current_context,
            "get-clusters": run.get_clusters,
            "get-users": run.get_users,
            "use-context": run.use_context,
            "use": run.use_context,
            "set-context": run.set_context,
            "set-cluster": run.set_cluster,
            "set-credentials": run.set_credentials,
            "rename-context": run.rename_context,
            "delete-context": run.delete("contexts", "context"),
            "delete-cluster": run.delete("clusters", "cluster"),
            "delete-user": run.delete("users", "user"),
        }
        word = next((word for word in words if word in commands), words[0] if words else "")
        if word not in commands:
            raise CommandError(f"unknown command {go_quote(word)} for {go_quote('kubectl config')}")
        rest.remove(word)
        commands[word](rest)
    except CommandError as error:
        err.write(message_for(error) + "\n")
        return 1
    return 0
