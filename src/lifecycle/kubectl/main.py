"""kubectl as a program: kubeconfig, credentials, the wire, caches, and then the
command.

Upstream: `kubectl/pkg/cmd/cmd.go` (`NewDefaultKubectlCommand`),
`cli-runtime/pkg/genericclioptions/config_flags.go` (`ToRESTConfig`,
`ToDiscoveryClient`), v1.36.2. Left out: plugins, kuberc.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path

from lifecycle.api.loop.clock import Clock
from lifecycle.kubectl import kubeconfig, source_lines
from lifecycle.kubectl.command import (
    COMMANDS,
    own_flags,
    run_kubectl,
    split_command,
    wants_help,
)
from lifecycle.kubectl.commands.config import run_config
from lifecycle.kubectl.credentials.transport import AuthenticatingTransport, Credentials
from lifecycle.kubectl.discovery.cached_discovery import default_cache_directory
from lifecycle.kubectl.failures import CommandError, message_for
from lifecycle.kubectl.flags import word_positions
from lifecycle.kubectl.global_flags import GlobalFlags, global_flags, parse_timeout
from lifecycle.kubectl.request.debugging import plain_klog_line
from lifecycle.kubectl.request.wire import Wire, connect
from lifecycle.kubectl.session import Writer


def chosen(flags: GlobalFlags, environ: Mapping[str, str]) -> kubeconfig.ClientConfig:
    """What the kubeconfig files and the flags say. Raises CommandError."""
    explicit = flags["kubeconfig"]
    loaded = kubeconfig.load(
        kubeconfig.loading_precedence(explicit, environ), explicit=bool(explicit)
    )
    return kubeconfig.client_config(
        loaded,
        environ=environ,
        namespace_first=True,
        context=flags["context"],
        cluster=flags["cluster"],
        user=flags["user"],
        namespace=flags["namespace"],
        server=flags["server"],
        token=flags["token"],
        username=flags["username"],
        password=flags["password"],
        impersonate=flags["as"],
        impersonate_uid=flags["as-uid"],
        impersonate_groups=tuple(flags.lists.get("as-group", ())),
        impersonate_extra=tuple(flags.lists.get("as-user-extra", ())),
        certificate_authority=flags["certificate-authority"],
        client_certificate=flags["client-certificate"],
        client_key=flags["client-key"],
        insecure=flags.true("insecure-skip-tls-verify"),
        server_name=flags["tls-server-name"],
    )


async def main(
    argv: Sequence[str],
    *,
    out: Writer,
    err: Writer,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Run one command (`argv` without the program's name) as the kubeconfig and the
    flags say; the exit code. Nothing is raised.
    """
    environ = os.environ if environ is None else environ
    command, rest = split_command(argv)
    wire: Wire | None = None
    try:
        if command == "config" and word_positions(
            rest
        ):  # about files; no server is asked
            return run_config(rest, out=out, err=err, environ=environ)
        if command not in COMMANDS or wants_help(argv):
            return await run_kubectl(argv, None, out=out, err=err)
        flags = global_flags(argv, own_flags(command, rest))
        flags.command = command
        level = flags.level
        config = chosen(flags, environ)
        credentials = Credentials(config)
        if level >= 6:
            _tell_files(flags, environ, err)
        words = [argv[at] for at in word_positions(argv)[:2]]
        try:
            wire = connect(
                await credentials.connection(),
                log=err.write,
                level=level,
                command=_command_path(command, words),
                sign=lambda inner: AuthenticatingTransport(inner, credentials),
                cache=Path(flags["cache-dir"])
                if flags["cache-dir"]
                else default_cache_directory(environ),
                timeout=parse_timeout(flags["request-timeout"]),
                timeout_text=flags["request-timeout"],
            )
        except (ssl.SSLError, ValueError) as error:
            if config.client_certificate and b"-----BEGIN" not in (
                config.client_certificate
            ):
                raise CommandError(
                    "tls: failed to find any PEM data in certificate input"
                ) from None
            raise CommandError(f"unable to use the certificates: {error}") from None
        return await run_kubectl(
            argv, wire.client, out=out, err=err, namespace=config.namespace, wire=wire
        )
    except CommandError as error:
        err.write(message_for(error) + "\n")
        return 1
    finally:
        if wire is not None:
            await wire.close()


def _tell_files(flags: GlobalFlags, environ: Mapping[str, str], err: Writer) -> None:
    """Which kubeconfig files there were (level 6)."""
    for path in kubeconfig.loading_precedence(flags["kubeconfig"], environ):
        if path.exists():
            message = f"Config loaded from file:  {path}"
            err.write(
                plain_klog_line(
                    message, source=source_lines.LOADER_WARNING, now=Clock().now()
                )
            )


def _command_path(command: str, words: Sequence[str]) -> str:
    """`create deployment`, `rollout undo`; a single word for commands without
    subcommands.
    """
    return " ".join(words) if command in ("create", "rollout", "set") else command
