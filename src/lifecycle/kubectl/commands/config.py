"""`kubectl config`: look at kubeconfig files, and change them. No server is asked.

Upstream: `kubectl/pkg/cmd/config/*.go`, v1.36.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.kubectl.commands import config_entries
from lifecycle.kubectl.failures import (
    CommandError,
    PartlyPrinted,
    UsageError,
    message_for,
)
from lifecycle.kubectl.flags import (
    PRINT,
    ErrHelp,
    Flag,
    Parsed,
    flag,
    parse,
    word_positions,
)
from lifecycle.kubectl.global_flags import global_flags
from lifecycle.kubectl.help import command_help
from lifecycle.kubectl.kubeconfig.documents import names
from lifecycle.kubectl.kubeconfig.modifying import KubeconfigFiles
from lifecycle.kubectl.kubeconfig.viewing import contexts_table, view
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.session import Writer


def _view(p: Parsed, files: KubeconfigFiles) -> str:
    if p.args:
        raise UsageError(f"unexpected arguments: [{' '.join(p.args)}]", "config view")
    if "merge" in p.changed and not p["merge"] and not files.explicit:
        raise CommandError("if merge==false a precise file must be specified")
    if "output" not in p.changed and p["template"]:
        p.values["output"] = ""  # then it is the template that counts
    printer = Printer(p)
    if not printer.whole:
        return "config/<unknown>\n"  # a kubeconfig has no name
    config = files.starting_config(resolve=p["flatten"])
    return printer.text(
        view(
            config,
            minify=p["minify"],
            flatten=p["flatten"],
            raw=p["raw"],
            context=p["context"],
        ),
        "",
    )


def _get_contexts(p: Parsed, files: KubeconfigFiles) -> str:
    if p["output"] not in ("", "name"):
        raise CommandError(
            f"--output {p['output']} is not available in kubectl config get-contexts;"
            " resetting to default output format"
        )
    text, missing = contexts_table(
        files.starting_config(),
        p.args,
        headers=not p["no-headers"],
        only_names=p["output"] == "name",
    )
    if missing:
        raise PartlyPrinted("\n".join(missing), text, several=len(missing) > 1)
    return text


def _current_context(p: Parsed, files: KubeconfigFiles) -> str:
    name = files.starting_config()["current-context"]
    if not name:
        raise CommandError("current-context is not set")
    return f"{name}\n"


def _listed(section: str) -> Callable[[Parsed, KubeconfigFiles], str]:
    def run(p: Parsed, files: KubeconfigFiles) -> str:
        return "".join(
            f"{name}\n" for name in ("NAME", *names(files.starting_config(), section))
        )

    return run


@dataclass(slots=True, frozen=True)
class Word:
    """One subcommand: its flags, and what it does and says."""

    flags: Sequence[Flag]
    run: Callable[[Parsed, KubeconfigFiles], str]


VIEW = (
    *PRINT,
    flag("merge", "bool", True),
    *(flag(name, "bool") for name in ("minify", "flatten", "raw")),
)
WORDS = {
    "view": Word(
        tuple(
            flag("output", default="yaml", short="o") if f.name == "output" else f
            for f in VIEW
        ),
        _view,
    ),
    "get-contexts": Word(
        (flag("no-headers", "bool"), flag("output", short="o")), _get_contexts
    ),
    "current-context": Word((), _current_context),
    "get-clusters": Word((), _listed("clusters")),
    "get-users": Word((), _listed("users")),
    "use-context": Word((), config_entries.use_context),
    "set-context": Word(config_entries.CONTEXT_FLAGS, config_entries.set_context),
    "set-cluster": Word(config_entries.CLUSTER_FLAGS, config_entries.set_cluster),
    "set-credentials": Word(config_entries.USER_FLAGS, config_entries.set_credentials),
    "set": Word((flag("set-raw-bytes", "bool"),), config_entries.set_property),
    "unset": Word((), config_entries.unset_property),
    "rename-context": Word((), config_entries.rename_context),
    "delete-context": Word((), config_entries.delete_entry("contexts", "context")),
    "delete-cluster": Word((), config_entries.delete_entry("clusters", "cluster")),
    "delete-user": Word((), config_entries.delete_entry("users", "user")),
}
ALIASES = {"use": "use-context"}


def run_config(
    argv: Sequence[str],
    *,
    out: Writer,
    err: Writer,
    environ: Mapping[str, str] | None = None,
) -> int:
    """`kubectl config …` (`argv` is what follows `config`); the exit code. Nothing is
    raised.
    """
    environ = os.environ if environ is None else environ
    try:
        places = word_positions(argv)
        word = argv[places[0]] if places else ""
        name = ALIASES.get(word, word)
        if name not in WORDS:
            raise UsageError(
                f"unknown command {go_quote(' '.join(argv[i] for i in places))}",
                "config",
            )
        rest = [word for i, word in enumerate(argv) if i != places[0]]
        p = parse(rest, WORDS[name].flags, f"config {name}")
        files = KubeconfigFiles(
            global_flags(argv)["kubeconfig"], environ, warn=err.write
        )
        out.write(WORDS[name].run(p, files))
    except ErrHelp as err_help:
        out.write(command_help(err_help.command, err_help.flags))
    except config_entries.Misused as error:  # then the real one prints its help first
        out.write(command_help(f"config {name}", WORDS[name].flags))
        err.write(f"error: {error}\n" if str(error) else "")
        return int(bool(str(error)))
    except CommandError as error:
        out.write(error.text if isinstance(error, PartlyPrinted) else "")
        err.write(message_for(error) + "\n")
        return 1
    return 0
