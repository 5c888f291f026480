"""kubectl, from an argument vector to an exit code.

Upstream: `kubectl/pkg/cmd/cmd.go` (`NewKubectlCommand`),
`kubectl/pkg/cmd/util/helpers.go` (`CheckErr`), v1.36. Left out: plugins, and all
commands that are not in the table below.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TextIO

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.client.rest import Client
from lifecycle.kubectl.commands.api_resources import api_resources, api_versions
from lifecycle.kubectl.commands.apply import apply
from lifecycle.kubectl.commands.cordon import cordon, uncordon
from lifecycle.kubectl.commands.create import ALIASES, SUBCOMMANDS, create, find
from lifecycle.kubectl.commands.delete import delete
from lifecycle.kubectl.commands.describe import describe
from lifecycle.kubectl.commands.drain import drain
from lifecycle.kubectl.commands.exec_command import exec_command
from lifecycle.kubectl.commands.explain import explain
from lifecycle.kubectl.commands.expose import expose
from lifecycle.kubectl.commands.get import SilentFailure, get
from lifecycle.kubectl.commands.label import annotate, label
from lifecycle.kubectl.commands.logs import logs
from lifecycle.kubectl.commands.patch import patch
from lifecycle.kubectl.commands.rollout import rollout
from lifecycle.kubectl.commands.run import run
from lifecycle.kubectl.commands.scale import scale
from lifecycle.kubectl.commands.set_image import set_image
from lifecycle.kubectl.commands.taint import taint
from lifecycle.kubectl.commands.version import version
from lifecycle.kubectl.commands.wait import wait
from lifecycle.kubectl.failures import (
    CodeExitError,
    CommandError,
    PartlyPrinted,
    UsageError,
    message_for,
)
from lifecycle.kubectl.flags import ErrHelp, word_positions
from lifecycle.kubectl.help import (
    command_help,
    general_help,
    group_help,
    options_help,
    words_below,
)
from lifecycle.kubectl.request.wire import Wire
from lifecycle.kubectl.session import Session, Writer


async def _set(argv: Sequence[str], session: Session) -> None:
    word, rest = split_command(argv)
    if word != "image":
        raise UsageError(f"unknown command {go_quote(word)}", "set")
    await set_image(rest, session)


COMMANDS: dict[str, Callable[[Sequence[str], Session], Awaitable[None]]] = {
    "annotate": annotate,
    "api-resources": api_resources,
    "api-versions": api_versions,
    "apply": apply,
    "cordon": cordon,
    "create": create,
    "delete": delete,
    "describe": describe,
    "drain": drain,
    "exec": exec_command,
    "explain": explain,
    "expose": expose,
    "get": get,
    "label": label,
    "logs": logs,
    "patch": patch,
    "rollout": rollout,
    "run": run,
    "scale": scale,
    "set": _set,
    "taint": taint,
    "uncordon": uncordon,
    "version": version,
    "wait": wait,
}


def wants_help(argv: Sequence[str]) -> bool:
    """Whether help is asked for, before a `--`."""
    before = argv[: argv.index("--")] if "--" in argv else argv
    return "--help" in before or "-h" in before


def _help_without_flags(argv: Sequence[str]) -> str:
    """Help for what takes no flags of its own: kubectl itself, and commands that only
    hold others.
    """
    words = [argv[i] for i in word_positions(argv)]
    if words == ["options"]:
        return options_help()
    if not words:
        return general_help() if not argv or wants_help(argv) else ""
    path = " ".join([words[0], *(ALIASES.get(word, word) for word in words[1:2])])
    group = path if path in GROUPS else words[0]
    if group not in GROUPS or (
        len(words) > group.count(" ") + 1
        and words[group.count(" ") + 1] in words_below(group)
    ):
        return ""
    return (
        group_help(group)
        if wants_help(argv) or len(words) == group.count(" ") + 1
        else ""
    )


GROUPS = ("config", "create secret", "create service", "rollout", "set")
"""Commands that do nothing by themselves."""
_GROUP_COMMANDS = {group.split()[0] for group in GROUPS}


def own_flags(command: str, rest: Sequence[str]) -> set[str]:
    """Flags of a command that are called like global ones: `--user` of `create
    rolebinding` chooses no credentials.
    """
    match = find(rest) if command == "create" else None
    return {each.name for each in SUBCOMMANDS[match[0]].flags} if match else set()


ALL_NAMES = (
    "create",
    "expose",
    "run",
    "set",
    "explain",
    "get",
    "edit",
    "delete",
    "rollout",
    "scale",
    "autoscale",
    "certificate",
    "cluster-info",
    "top",
    "cordon",
    "uncordon",
    "drain",
    "taint",
    "describe",
    "logs",
    "attach",
    "exec",
    "port-forward",
    "proxy",
    "cp",
    "auth",
    "debug",
    "events",
    "diff",
    "apply",
    "patch",
    "replace",
    "wait",
    "kustomize",
    "label",
    "annotate",
    "completion",
    "config",
    "plugin",
    "version",
    "api-versions",
    "api-resources",
    "options",
    "kuberc",
    "help",
)
"""The real kubectl's commands in its order: a typing error is answered with what comes
close.
"""


SUGGEST_FOR = {
    "delete": ("rm", "remove"),
    "describe": ("inspect",),
    "get": ("list", "ls"),
    "top": ("stats",),
}
"""What others call these commands."""


def did_you_mean(typed: str) -> str:
    """Commands that are two letters or less away, that begin like it, or that others
    call so. Upstream: `spf13/cobra` (`SuggestionsFor`).
    """
    word = typed.lower()
    close = [
        name
        for name in ALL_NAMES
        if name.startswith(word)
        or _distance(word, name) <= 2
        or word in SUGGEST_FOR.get(name, ())
    ]
    return (
        "\n\nDid you mean this?" + "".join(f"\n\t{name}" for name in close)
        if close and typed
        else ""
    )


def _distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, against in enumerate(other, 1):
            before, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, before + (letter != against)),
            )
    return row[-1]


class _Nobody:
    """Nobody to talk to: help needs no server."""

    async def round_trip(self, request: Request) -> Response:
        """Raises CommandError."""
        raise CommandError("no server is known")

    async def close(self) -> None:
        """Nothing to close."""


def split_command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """(the command, everything else in order): global flags may come before it, with
    their values.
    """
    words = word_positions(argv)
    if not words:
        return "", list(argv)
    return argv[words[0]], [*argv[: words[0]], *argv[words[0] + 1 :]]


def namespace_override(argv: Sequence[str]) -> str:
    """The value of `-n` or `--namespace`, wherever it stands before `--`."""
    namespace = ""
    words = iter(argv)
    for word in words:
        if word == "--":
            break
        if word in ("-n", "--namespace"):
            namespace = next(words, "")
        elif word.startswith("--namespace="):
            namespace = word.partition("=")[2]
        elif word.startswith("-n") and not word.startswith("--") and len(word) > 2:
            namespace = word[2:].removeprefix("=")
    return namespace


async def run_kubectl(
    argv: Sequence[str],
    client: Client | None,
    *,
    out: Writer,
    err: Writer,
    namespace: str = "",
    wire: Wire | None = None,
    stdin: TextIO | None = None,
) -> int:
    """Run one kubectl command (`argv` without the program's name); the exit code.

    `namespace` is the kubeconfig context's, used where the command names none. `wire`
    brings discovery with its caches; without it the client is asked each time. `stdin`:
    what `-f -` reads, the program's own if None. Nothing is raised: refusals are
    printed to `err`.
    """
    explicit = namespace_override(argv)
    client = client or Client(_Nobody(), "kubectl")
    discovery = wire.discovery if wire else None
    session = Session(client, out, err, explicit, discovery, stdin)
    if not explicit and namespace:
        session.namespace = namespace
    command, rest = split_command(list(argv))
    if command == "help":  # `help get` is `get --help`
        argv, (command, rest) = [*rest, "--help"], split_command([*rest, "--help"])
    text = _help_without_flags(argv)
    if text and (command not in _GROUP_COMMANDS or wants_help(argv)):
        out.write(text)
        return 0
    if text:  # a command that does nothing by itself, and nothing else
        (out if command == "rollout" else err).write(text)
        return 1
    try:
        run_command = COMMANDS.get(command)
        if run_command is None and command in ALL_NAMES:
            raise CommandError(
                f"{command}: Kubernetes' kubectl has this command, this one does not"
            )
        if run_command is None:
            raise CommandError(
                f"unknown command {go_quote(command)} for"
                f' "kubectl"{did_you_mean(command)}'
            )
        with span("kubectl", command, argv=" ".join(argv)):
            await run_command(rest, session)
    except ErrHelp as err_help:
        out.write(command_help(err_help.command, err_help.flags))
        return 0
    except SilentFailure:
        return 1
    except (CommandError, StatusError) as error:
        out.write(error.text if isinstance(error, PartlyPrinted) else "")
        err.write(message_for(error) + "\n")
        return error.code if isinstance(error, CodeExitError) else 1
    return 0
