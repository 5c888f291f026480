"""What is wrong with the chosen cluster and user, before anything is sent.

Upstream: `client-go/tools/clientcmd/validation.go` (`validateClusterInfo`,
`validateAuthInfo`), `client_config.go` (`ConfirmUsable`), v1.36. The sentences are
theirs, full stops included. Left out: the plugin allow list.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.kubectl.failures import CommandError

INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")


class ConfigurationError(CommandError):
    """A configuration that cannot be used. `errors` are its sentences; kubectl prints
    several as a list, and a missing context as if it were one.
    """

    def __init__(self, errors: list[str], prefix: str = "") -> None:
        text = errors[0]
        if len(errors) > 1:
            text = "Error in configuration: \n" + "\n".join(
                f"* {each}" for each in errors
            )
        elif text.startswith("context was not found"):
            text = f"Error in configuration: {text}"
        super().__init__(text)
        self.errors = errors
        self.prefix = prefix


def cluster_errors(name: str, cluster: dict[str, Any]) -> list[str]:
    """What is wrong with a cluster; `name` is empty for the default one."""
    if not cluster:
        return ["cluster has no server defined"]
    errors = []
    if not cluster.get("server"):
        errors.append(
            f"no server found for cluster {go_quote(name)}"
            if name
            else "default cluster has no server defined"
        )
    path = cluster.get("certificate-authority")
    if path and cluster.get("certificate-authority-data"):
        errors.append(
            "certificate-authority-data and certificate-authority are both specified"
            f" for {name}. certificate-authority-data will override."
        )
    if path and (why := _cannot_open(path)):
        errors.append(
            f"unable to read certificate-authority {path} for {name} due to {why}"
        )
    return errors


def user_errors(name: str, user: dict[str, Any]) -> list[str]:
    """What is wrong with a user."""
    errors = []
    methods = ["token"] if user.get("token") else []
    if user.get("username") or user.get("password"):
        methods.append("basicAuth")
    certificate, key = user.get("client-certificate"), user.get("client-key")
    certificate_data, key_data = (
        user.get("client-certificate-data"),
        user.get("client-key-data"),
    )
    if certificate or certificate_data:
        if certificate and certificate_data:
            errors.append(
                f"client-cert-data and client-cert are both specified for {name}."
                " client-cert-data will override."
            )
        if key and key_data:
            errors.append(
                f"client-key-data and client-key are both specified for {name};"
                " client-key-data will override"
            )
        if not key and not key_data:
            errors.append(
                f"client-key-data or client-key must be specified for {name} to use the"
                " clientCert authentication method."
            )
        if certificate and (why := _cannot_open(certificate)):
            errors.append(
                f"unable to read client-cert {certificate} for {name} due to {why}"
            )
        if key and (why := _cannot_open(key)):
            errors.append(f"unable to read client-key {key} for {name} due to {why}")
    if user.get("exec") is not None:
        errors += _plugin_errors(name, user)
    if len(methods) > 1:
        errors.append(
            f"more than one authentication method found for {name}; found"
            f" [{' '.join(methods)}], only one is allowed"
        )
    if (
        user.get("as-uid") or user.get("as-groups") or user.get("as-user-extra")
    ) and not user.get("as"):
        errors.append(
            f"requesting uid, groups or user-extra for {name} without impersonating a"
            " user"
        )
    return errors


def _plugin_errors(name: str, user: dict[str, Any]) -> list[str]:
    plugin, method = user["exec"], f"for {name} to use exec authentication plugin"
    errors = []
    if user.get("auth-provider"):
        errors.append(
            "authProvider cannot be provided in combination with an exec plugin for"
            f" {name}"
        )
    if not plugin.get("command"):
        errors.append(f"command must be specified {method}")
    if not plugin.get("apiVersion"):
        errors.append(f"apiVersion must be specified {method}")
    errors += [
        f"env variable name must be specified {method}"
        for each in plugin.get("env") or ()
        if not each.get("name")
    ]
    mode = interactive_mode(plugin)
    if not mode:
        errors.append(f"interactiveMode must be specified {method}")
    elif mode not in INTERACTIVE_MODES:
        errors.append(f"invalid interactiveMode for {name}: {go_quote(mode)}")
    return errors


def interactive_mode(plugin: dict[str, Any]) -> str:
    """A plugin's mode. Before v1 it had a default. Upstream:
    `clientcmd/api/v1/defaults.go`.
    """
    mode = plugin.get("interactiveMode") or ""
    if not mode and str(plugin.get("apiVersion", "")).rpartition("/")[2] in (
        "v1beta1",
        "v1alpha1",
    ):
        return "IfAvailable"
    return str(mode)


def _cannot_open(path: str) -> str:
    try:
        with Path(path).open("rb"):
            return ""
    except OSError as error:
        return f"open {path}: {(error.strerror or str(error)).lower()}"
