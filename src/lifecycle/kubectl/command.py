"""kubectl, from an argument vector to an exit code.

Upstream: `kubectl/pkg/cmd/cmd.go` (`NewKubectlCommand`), `kubectl/pkg/cmd/util/helpers.go` (`CheckErr`), v1.36. Left out: plugins, help
texts, and all commands that are not in the table below.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from lifecycle.api.go_format import go_quote
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.client.rest import Client
from lifecycle.kubectl.commands.apply import apply
from lifecycle.kubectl.commands.create import create
from lifecycle.kubectl.commands.delete import delete
from lifecycle.kubectl.commands.expose import expose
from lifecycle.kubectl.commands.get import get
from lifecycle.kubectl.commands.rollout import rollout
from lifecycle.kubectl.commands.run import run
from lifecycle.kubectl.commands.scale import scale
from lifecycle.kubectl.commands.set_image import set_image
from lifecycle.kubectl.failures import CommandError, message_for
from lifecycle.kubectl.flags import word_positions
from lifecycle.kubectl.session import Session, Writer


async def _set(argv: Sequence[str], session: Session) -> None:
    word, rest = split_command(argv)
    if word != "image":
        raise CommandError(f'unknown command {go_quote(word)} for "kubectl set"')
    await set_image(rest, session)


COMMANDS: dict[str, Callable[[Sequence[str], Session], Awaitable[None]]] = {
    "apply": apply,
    "create": create,
    "delete": delete,
    "expose": expose,
    "get": get,
    "rollout": rollout,
    "run": run,
    "scale": scale,
    "set": _set,
}


def split_command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """(the command, everything else in order): global flags may come before it, with their values."""
    words = word_positions(argv)
    if not words:
        return "", list(argv)
    return argv[words[0]], [*argv[: words[0]], *argv[words[0] + 1 :]]


def named_namespace(argv: Sequence[str]) -> str:
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


async def run_kubectl(argv: Sequence[str], client: Client, *, out: Writer, err: Writer, namespace: str = "") -> int:
    """Run one kubectl command (`argv` without the program's name); the exit code.

    `namespace` is the kubeconfig context's, used where the command names none. Nothing is raised: refusals are printed to `err`.
    """
    explicit = named_namespace(argv)
    session = Session(client, out, err, explicit)
    if not explicit and namespace:
        session.namespace = namespace
    command, rest = split_command(list(argv))
    try:
        run_command = COMMANDS.get(command)
        if run_command is None:
            raise CommandError(f'unknown command {go_quote(command)} for "kubectl"')
        with span("kubectl", command, argv=" ".join(argv)):
            await run_command(rest, session)
    except (CommandError, StatusError) as error:
        err.write(message_for(error) + "\n")
        return 1
    return 0
