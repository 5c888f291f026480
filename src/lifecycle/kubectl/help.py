"""`--help`: what a command takes, with the flags and defaults of the real kubectl, in
words of this one.

Upstream: `kubectl/pkg/util/templates/templater.go`,
`kubectl/pkg/cmd/options/options.go`, v1.36.2. Left out: examples.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lifecycle.kubectl.flags import COMMON, Flag
from lifecycle.kubectl.help_texts import ARGUMENTS, COMMANDS, FLAGS

GLOBAL_OPTIONS = (
    'Use "kubectl options" for a list of global command-line options (applies to all'
    " commands).\n"
)


def words_below(path: str) -> list[str]:
    """The words that may follow a command: `rollout` → `history` …; the empty path is
    kubectl itself.
    """
    before = f"{path} " if path else ""
    return [
        name.removeprefix(before)
        for name in COMMANDS
        if name.startswith(before) and " " not in name[len(before) :]
    ]


def general_help() -> str:
    """All commands, a line each."""
    return (
        "This kubectl is part of a book about Kubernetes. It knows these commands:\n\n"
        + _listed("")
        + '\nUse "kubectl <command> --help" for what a command takes.\n'
        + GLOBAL_OPTIONS
    )


def group_help(path: str) -> str:
    """A command that only holds others."""
    return (
        f"{COMMANDS[path]}.\n\nAvailable Commands:\n{_listed(path)}\nUsage:\n  kubectl"
        f" {path} SUBCOMMAND [options]\n\n"
        f'Use "kubectl {path} <command> --help" for more information about a given'
        f" command.\n{GLOBAL_OPTIONS}"
    )


def _listed(path: str) -> str:
    words = words_below(path)
    width = max(map(len, words)) + 2
    return "".join(
        f"  {word:{width}}{COMMANDS[f'{path} {word}'.strip()]}\n" for word in words
    )


def command_help(command: str, flags: Iterable[Flag]) -> str:
    """What one command takes."""
    text = f"{COMMANDS.get(command, command)}.\n\n"
    if words_below(command):
        text += f"Available Commands:\n{_listed(command)}\n"
    options = "".join(
        _flag(command, each)
        for each in sorted(flags, key=lambda each: each.name)
        if not each.deprecated
    )
    arguments = ARGUMENTS.get(command, "NAME" if command.startswith("create ") else "")
    usage = f"kubectl {command} {arguments}".rstrip()
    return (
        text
        + (f"Options:\n{options}" if options else "")
        + f"Usage:\n  {usage} [options]\n\n{GLOBAL_OPTIONS}"
    )


def options_help() -> str:
    """The flags of every command."""
    flags = [each for each in COMMON if each.name != "help"]
    return "The following options can be passed to any command:\n\n" + "".join(
        _flag("", each) for each in sorted(flags, key=lambda each: each.name)
    )


def _flag(command: str, spec: Flag) -> str:
    short = f"-{spec.short}, " if spec.short else ""
    about = FLAGS.get(f"{command} {spec.name}") or FLAGS[spec.name]
    return f"    {short}--{spec.name}={_default(spec)}:\n\t{about}\n\n"


def _default(spec: Flag) -> str:
    """A flag's default, as pflag writes it."""
    if spec.name == "cache-dir":
        return f"'{Path.home() / '.kube' / 'cache'}'"
    match spec.kind:
        case "string":
            return f"'{spec.default}'"
        case "bool":
            return str(spec.default).lower()
        case "slice" | "array":
            return "[]"
        case "map":
            return ""
        case "duration":
            minutes, seconds = divmod(int(spec.default), 60)
            return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
    return str(spec.default)
