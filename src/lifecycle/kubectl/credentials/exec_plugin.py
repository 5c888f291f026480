"""Credential plugins: another program knows who we are.

kubectl starts it with an `ExecCredential` in the environment variable
`KUBERNETES_EXEC_INFO`, and reads one back from its output: a token, or a certificate
and its key, and until when they are good. They are kept until then; and if the server
answers 401, they are asked for anew for the *next* request – the refused one is not
sent again.

Upstream: `client-go/plugin/pkg/client/auth/exec/exec.go`
(`Authenticator.refreshCredsLocked`, `isInteractive`, `roundTripper.RoundTrip`), v1.36.
Left out: metrics, the allow list of plugins.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.structs import StructDecoder
from lifecycle.api.go.json.type_meta import interpret
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.schema.scalars import time as canonical_time
from lifecycle.kubectl.failures import CommandError, NoCredentials
from lifecycle.kubectl.source_lines import EXEC_SCHEME

GROUP = "client.authentication.k8s.io"
API_VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
ENVIRONMENT = "KUBERNETES_EXEC_INFO"
_FIELDS = (
    "token",
    "clientCertificateData",
    "clientKeyData",
    "expirationTimestamp",
)
HINT_TIMES, HINT_SECONDS = 10, 3600.0
INSTALL_HELP = """

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"""


@dataclass(slots=True, frozen=True)
class PluginCredentials:
    """What a plugin returned: a token, or certificate and key (PEM), or both. `expires`
    in seconds since 1970, 0 for never.
    """

    token: str = ""
    certificate: bytes = b""
    key: bytes = b""
    expires: float = 0.0


class ExecPlugin:
    """One plugin, as a user entry's `exec` describes it. `cluster` is what it may be
    told about the cluster.

    Raises CommandError for a version of the protocol that nobody speaks.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        cluster: Mapping[str, Any] | None = None,
        *,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        stdin_is_terminal: Callable[[], bool] | None = None,
    ) -> None:
        self._settings = settings
        self.api_version: str = settings.get("apiVersion", "")
        if self.api_version not in API_VERSIONS:
            raise CommandError(
                f"exec plugin: invalid apiVersion {go_quote(self.api_version)}"
            )
        self._command = os.path.normpath(settings.get("command", ""))
        self._cluster = cluster
        self._clock = clock or Clock()
        self._environ = os.environ if environ is None else environ
        self._stdin_is_terminal = stdin_is_terminal or (
            lambda: sys.stdin is not None and sys.stdin.isatty()
        )
        self._kept: PluginCredentials | None = None
        self._lock = asyncio.Lock()
        self._hints = 0
        self.runs = 0
        """How often the program was started."""

    async def credentials(self) -> PluginCredentials:
        """What to use for the next request. Raises NoCredentials."""
        async with self._lock:
            kept = self._kept
            if kept is not None and (
                not kept.expires or self._clock.now() < kept.expires
            ):
                return kept
            try:
                return await self._refresh()
            except PluginError as error:
                raise NoCredentials(f"getting credentials: {error}") from error

    async def refused(self, used: PluginCredentials) -> None:
        """The server answered 401 to `used`: ask again, unless somebody else has
        already. What goes wrong is only for the log.
        """
        async with self._lock:
            if used is self._kept:
                try:
                    await self._refresh()
                except PluginError:
                    return

    async def _refresh(self) -> PluginCredentials:
        interactive = self._interactive()
        spec: dict[str, Any] = {"interactive": interactive}
        if self._settings.get("provideClusterInfo") and self._cluster is not None:
            spec["cluster"] = dict(self._cluster)
        cred = {"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec}
        own = {
            each["name"]: each.get("value", "")
            for each in self._settings.get("env") or ()
        }
        environ = {**self._environ, **own, ENVIRONMENT: fast_json.dumps(cred).decode()}
        self.runs += 1
        self._kept = self._read(await self._run(environ, interactive))
        return self._kept

    def _interactive(self) -> bool:
        """Whether the program may talk to the user. Raises PluginError."""
        mode = self._settings.get("interactiveMode") or ""
        if mode == "Never":
            return False
        if mode == "IfAvailable":
            return self._stdin_is_terminal()
        if mode == "Always":
            if not self._stdin_is_terminal():
                raise PluginError(
                    "exec plugin cannot support interactive mode: standard input is not"
                    " a terminal"
                )
            return True
        raise PluginError(
            "exec plugin cannot support interactive mode: unknown interactiveMode:"
            f" {go_quote(mode)}"
        )

    async def _run(self, environ: Mapping[str, str], interactive: bool) -> bytes:
        arguments = [str(each) for each in self._settings.get("args") or ()]
        stdin = None if interactive else asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                self._command,
                *arguments,
                env=dict(environ),
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError as error:
            if "/" in self._command:  # that one is not looked for
                why = "no such file or directory"
                raise PluginError(f"exec: fork/exec {self._command}: {why}") from error
            raise PluginError(
                f"exec: executable {self._command} not found{self._install_hint()}"
            ) from None
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise PluginError(f"exec: fork/exec {self._command}: {why}") from None
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            code = process.returncode if process.returncode > 0 else -1
            raise PluginError(
                f"exec: executable {self._command} failed with exit code {code}"
            )
        return output

    def _install_hint(self) -> str:
        """How to get the program: said ten times, no more."""
        self._hints += 1
        if self._hints > HINT_TIMES:
            return ""
        hint = self._settings.get("installHint", "")
        return INSTALL_HELP + (f"\n\n{hint}" if hint else "")

    def _another_version(self, version: str) -> PluginError:
        configured = f"exec plugin is configured to use API version {self.api_version}"
        return PluginError(f"{configured}, plugin returned version {version}")

    def _read(self, output: bytes) -> PluginCredentials:
        """The answer. Raises PluginError."""
        try:
            answer, _ = read_yaml(output)
        except ValueError as error:
            raise PluginError(
                f"decoding stdout: couldn't get version/kind; json parse error: {error}"
            ) from error
        try:
            version, kind = interpret(answer)
        except ValueError as error:
            raise PluginError(f"decoding stdout: {error}") from error
        if not kind and not version:
            raise self._another_version("client.authentication.k8s.io/__internal")
        if not kind:
            raise PluginError(
                "decoding stdout: Object 'Kind' is missing in"
                f" '{output.decode(errors='replace')}'"
            )
        if version not in API_VERSIONS or kind != "ExecCredential":
            raise PluginError(
                f'decoding stdout: no kind "{kind}" is registered for version'
                f' "{version}" in scheme "{EXEC_SCHEME}"'
            )
        if version != self.api_version:
            raise self._another_version(version)
        return _credentials(answer)


def _credentials(answer: dict[str, Any]) -> PluginCredentials:
    """What stands in the status of an `ExecCredential`. Raises PluginError."""
    version = answer["apiVersion"].rpartition("/")[2]
    types = {
        "ExecCredential": {"status": f"{version}.ExecCredentialStatus"},
        "ExecCredentialStatus": dict.fromkeys(_FIELDS, "string"),
    }
    try:
        status = StructDecoder(types).decode(answer, "ExecCredential").get("status")
        if status is None:
            raise PluginError("exec plugin didn't return a status field")
        token, certificate, key, end = (status.get(name, "") for name in _FIELDS)
        ends = canonical_time(end) if end else None  # the year 1 is no time
    except ValueError as error:
        raise PluginError(f"decoding stdout: {error}") from error
    if not (token or certificate or key):
        raise PluginError("exec plugin didn't return a token or cert/key pair")
    if bool(certificate) != bool(key):
        raise PluginError("exec plugin returned only certificate or key, not both")
    expires = parse_time(ends) if ends else 0.0
    return PluginCredentials(token, certificate.encode(), key.encode(), expires)


class PluginError(Exception):
    """What went wrong with a plugin, in upstream's words."""
