"""From a kubeconfig and flags to what a client needs.

The current context names a cluster, a user and a namespace; flags can name others, and
then change single fields of what was found. Over plain HTTP no credentials are sent at
all, whatever the file says: anybody could read them on the way.

Upstream: `client-go/tools/clientcmd/client_config.go`
(`DirectClientConfig.ClientConfig`, `getCluster`, `getAuthInfo`, `Namespace`),
`overrides.go`, `merged_client_builder.go`, `client-go/rest/config.go`
(`InClusterConfig`), v1.36. Left out: proxies, asking for a password at the terminal.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.documents import Config, find
from lifecycle.kubectl.kubeconfig.validation import (
    ConfigurationError,
    cluster_errors,
    interactive_mode,
    user_errors,
)

DEFAULT_SERVER = "http://localhost:8080"
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(slots=True, frozen=True)
class ClientConfig:
    """What a client needs: PEM bytes for certificates, a bearer token, the namespace to
    use where none is named.

    `token_file` is where the token came from, to be read again; `exec` and
    `auth_provider` are a plugin's and a provider's settings as the file has them,
    `exec_cluster` what a plugin may be told about the cluster.
    """

    server: str
    namespace: str = "default"
    ca: bytes = b""
    client_certificate: bytes = b""
    client_key: bytes = b""
    token: str = ""
    insecure: bool = False
    impersonate: str = ""
    impersonate_uid: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    server_name: str = ""
    username: str = ""
    password: str = ""
    token_file: str = ""
    exec: Mapping[str, Any] | None = None
    exec_cluster: Mapping[str, Any] = field(default_factory=dict)
    auth_provider: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Overrides:
    """The flags. Empty: not given. `insecure` is `--insecure-skip-tls-verify`."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    token: str = ""
    username: str = ""
    password: str = ""
    impersonate: str = ""
    impersonate_uid: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_extra: tuple[str, ...] = ()
    """`KEY=VALUE` each."""
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""
    insecure: bool = False
    server_name: str = ""


def client_config(
    config: Config,
    *,
    environ: Mapping[str, str] | None = None,
    namespace_first: bool = False,
    **flags: Any,
) -> ClientConfig:
    """What a client is to use. `flags` are fields of `Overrides`, and win over the
    files. Raises CommandError, in the words that kubectl prints. `environ`: where to
    look for a pod's own API server if nothing is configured. `namespace_first`: as
    commands do, which ask for the namespace before they ask for a client, and so hear
    of other mistakes first.
    """
    direct = DirectClientConfig(config, Overrides(**flags))
    if namespace_first:
        direct.namespace()
    return direct.client_config(environ)


class DirectClientConfig:
    """A merged kubeconfig under some flags."""

    def __init__(self, config: Config, overrides: Overrides | None = None) -> None:
        self.config = config
        self.overrides = overrides or Overrides()

    @property
    def context_name(self) -> str:
        """The context in force; empty for none."""
        return self.overrides.context or self.config.get("current-context") or ""

    def context(self) -> dict[str, Any]:
        """The context, flags included. Raises CommandError for one that a flag names
        and that is not there.
        """
        context = find(self.config, "contexts", self.context_name)
        if context is None and self.overrides.context:
            raise CommandError(f'context "{self.context_name}" does not exist')
        overrides = {
            "cluster": self.overrides.cluster,
            "user": self.overrides.user,
            "namespace": self.overrides.namespace,
        }
        return {
            **(context or {}),
            **{key: value for key, value in overrides.items() if value},
        }

    def user(self) -> dict[str, Any]:
        """The user, flags included. Raises CommandError for one that a flag names and
        that is not there.
        """
        flags = self.overrides
        name = self.context().get("user", "")
        auth_info = find(self.config, "users", name)
        if auth_info is None and flags.user:
            raise CommandError(f'auth info "{name}" does not exist')
        merged_auth_info = dict(auth_info or {})
        overrides: dict[str, Any] = {
            "token": flags.token,
            "username": flags.username,
            "password": flags.password,
            "as": flags.impersonate,
            "as-uid": flags.impersonate_uid,
            "as-groups": list(flags.impersonate_groups),
            "as-user-extra": _extra(flags.impersonate_extra),
            "client-certificate": flags.client_certificate,
            "client-key": flags.client_key,
        }
        merged_auth_info |= {key: value for key, value in overrides.items() if value}
        for key in ("client-certificate", "client-key"):
            if overrides[key]:
                merged_auth_info.pop(f"{key}-data", None)
        return merged_auth_info

    def cluster(self) -> dict[str, Any]:
        """The cluster, flags included. Raises CommandError for one that a flag names
        and that is not there.
        """
        flags = self.overrides
        name = self.context().get("cluster", "")
        cluster_info = find(self.config, "clusters", name)
        if cluster_info is None and flags.cluster:
            raise CommandError(f'cluster "{name}" does not exist')
        merged_cluster_info = {
            "server": DEFAULT_SERVER,
            **{key: value for key, value in (cluster_info or {}).items() if value},
        }
        if flags.server:
            merged_cluster_info["server"] = flags.server
        if flags.insecure or flags.certificate_authority:
            merged_cluster_info |= {
                "insecure-skip-tls-verify": flags.insecure,
                "certificate-authority": flags.certificate_authority,
            }
            merged_cluster_info.pop("certificate-authority-data", None)
        if flags.server_name or flags.server:
            merged_cluster_info["tls-server-name"] = flags.server_name
        return merged_cluster_info

    def confirm_usable(self) -> None:
        """Raises ConfigurationError, with everything that is wrong with the chosen
        context, user and cluster.
        """
        name = self.context_name
        if name and find(self.config, "contexts", name) is None:
            raise ConfigurationError(
                [f"context was not found for specified context: {name}"]
            )
        context = self._or_nothing(self.context)
        errors = user_errors(context.get("user", ""), self._or_nothing(self.user))
        try:
            errors += cluster_errors(context.get("cluster", ""), self.cluster())
        except CommandError:  # a flag names a cluster that is not there
            errors.append(f'no server found for cluster "{context.get("cluster", "")}"')
        if errors:
            raise ConfigurationError(errors)

    def namespace(self) -> str:
        """The namespace to use where none is named; what kubectl looks at first. Raises
        ConfigurationError.
        """
        if self.overrides.namespace:
            return self.overrides.namespace
        self.confirm_usable()
        return self.context().get("namespace") or "default"

    def client_config(self, environ: Mapping[str, str] | None = None) -> ClientConfig:
        """What a client is to use. Raises CommandError."""
        user, context, cluster = self.user(), self.context(), self.cluster()
        self.confirm_usable()
        server = str(cluster["server"]).rstrip("/")
        if server == DEFAULT_SERVER and not context and in_cluster_possible(environ):
            return in_cluster(environ, self.overrides)
        extra = {
            key: tuple(values)
            for key, values in (user.get("as-user-extra") or {}).items()
        }
        who: dict[str, Any] = {
            "impersonate": user.get("as", ""),
            "impersonate_uid": user.get("as-uid", ""),
            "impersonate_groups": tuple(user.get("as-groups") or ()),
            "impersonate_extra": extra,
        }
        namespace = context.get("namespace") or "default"
        if not server.startswith("https:"):
            return ClientConfig(server, namespace, **who)
        ca = read(cluster, "certificate-authority")
        return ClientConfig(
            server=server,
            namespace=namespace,
            ca=ca,
            client_certificate=read(user, "client-certificate"),
            client_key=read(user, "client-key"),
            token=user.get("token") or _token_file(user),
            token_file=user.get("tokenFile", ""),
            insecure=bool(cluster.get("insecure-skip-tls-verify")),
            server_name=cluster.get("tls-server-name") or "",
            username=user.get("username", ""),
            password=user.get("password", ""),
            exec=_plugin(user),
            exec_cluster=_config_to_exec_cluster(cluster, ca)
            if user.get("exec")
            else {},
            auth_provider=user.get("auth-provider"),
            **who,
        )

    @staticmethod
    def _or_nothing(question: Any) -> dict[str, Any]:
        try:
            value: dict[str, Any] = question()
        except CommandError:
            return {}
        return value


def _extra(pairs: Iterable[str]) -> dict[str, list[str]]:
    extra: dict[str, list[str]] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        extra.setdefault(key, []).append(value)
    return extra


def _plugin(user: Mapping[str, Any]) -> Mapping[str, Any] | None:
    plugin = user.get("exec")
    return (
        {**plugin, "interactiveMode": interactive_mode(plugin)}
        if plugin is not None
        else None
    )


def _config_to_exec_cluster(cluster: Mapping[str, Any], ca: bytes) -> dict[str, Any]:
    """`spec.cluster` of an ExecCredential. Upstream: `client-go/tools/auth/exec` and
    `rest/exec.go` (`ConfigToExecCluster`).
    """
    exec_cluster: dict[str, Any] = {"server": cluster["server"]}
    if cluster.get("tls-server-name"):
        exec_cluster["tls-server-name"] = cluster["tls-server-name"]
    if cluster.get("insecure-skip-tls-verify"):
        exec_cluster["insecure-skip-tls-verify"] = True
    if ca:
        exec_cluster["certificate-authority-data"] = base64.b64encode(ca).decode()
    config = next(
        (
            each.get("extension")
            for each in cluster.get("extensions") or ()
            if each.get("name") == EXEC_EXTENSION
        ),
        None,
    )
    exec_cluster["config"] = config
    return exec_cluster


def read(body: Mapping[str, Any], key: str) -> bytes:
    """A certificate or key, from inside the file or from beside it. Raises
    CommandError.
    """
    inline = body.get(f"{key}-data")
    if inline:
        return base64.b64decode(inline)
    path = body.get(key)
    if not path:
        return b""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CommandError(
            f"unable to read {key} {path}: {(error.strerror or '').lower()}"
        ) from None


def _token_file(body: Mapping[str, Any]) -> str:
    path = body.get("tokenFile")
    if not path:
        return ""
    try:
        return Path(path).read_text().strip()
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from None


def in_cluster_possible(
    environ: Mapping[str, str] | None = None, folder: Path = SERVICE_ACCOUNT
) -> bool:
    """Whether this process runs in a pod that knows its API server."""
    environ = os.environ if environ is None else environ
    known = environ.get("KUBERNETES_SERVICE_HOST") and environ.get(
        "KUBERNETES_SERVICE_PORT"
    )
    return bool(known) and (folder / "token").is_file()


def in_cluster(
    environ: Mapping[str, str] | None = None,
    overrides: Overrides | None = None,
    folder: Path = SERVICE_ACCOUNT,
) -> ClientConfig:
    """What a pod finds in its environment and its service account's folder. Raises
    CommandError outside of a pod.
    """
    environ, flags = (
        (os.environ if environ is None else environ),
        overrides or Overrides(),
    )
    host, port = (
        environ.get("KUBERNETES_SERVICE_HOST", ""),
        environ.get("KUBERNETES_SERVICE_PORT", ""),
    )
    if not host or not port:
        raise CommandError(
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and"
            " KUBERNETES_SERVICE_PORT must be defined"
        )
    authority = (
        Path(flags.certificate_authority)
        if flags.certificate_authority
        else folder / "ca.crt"
    )
    inside = folder / "namespace"
    namespace = (
        flags.namespace
        or environ.get("POD_NAMESPACE", "")
        or (inside.read_text().strip() if inside.exists() else "")
    )
    address = f"[{host}]" if ":" in host else host
    return ClientConfig(
        server=flags.server or f"https://{address}:{port}",
        namespace=namespace or "default",
        ca=authority.read_bytes() if authority.exists() else b"",
        token=flags.token or (folder / "token").read_text().strip(),
        token_file="" if flags.token else str(folder / "token"),
    )
