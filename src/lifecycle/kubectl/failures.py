"""How kubectl fails: what it prints, and with which exit code.

Upstream: `kubectl/pkg/cmd/util/helpers.go` (`checkErr`, `StandardErrorMessage`,
`MultipleErrors`, `UsageErrorf`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.status import StatusError


class CommandError(Exception):
    """kubectl itself refuses or gives up. `str()` is printed after `error: `."""


class UsageError(CommandError):
    """Used the wrong way; followed by a pointer to the help of `command`."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(f"{message}\nSee 'kubectl {command} -h' for help and examples")


class FlagError(CommandError):
    """The command line could not even be parsed."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(f"{message}\nSee 'kubectl {command} --help' for usage.")


class CodeExitError(CommandError):
    """A command that kubectl ran elsewhere has failed, and kubectl ends as that did.
    Upstream: `k8s.io/utils/exec` (`CodeExitError`).
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"command terminated with exit code {code}")
        self.code = code


class NoCredentials(CommandError):
    """Nobody could be shown to the server, which therefore was not asked."""


class Exit(CommandError):
    """Said into the log, and the program ends: there is no `error: ` before it.
    Upstream: `klog.Exitf`.
    """


class PartlyPrinted(CommandError):
    """What was to be printed could be only in part. `text` is that part; it still goes
    to stdout.

    `several`: more than one thing is wrong.
    """

    def __init__(self, message: str, text: str, *, several: bool = False) -> None:
        super().__init__(message)
        self.text = text
        self.several = several


class NoMatchError(CommandError):
    """The server does not serve what was named, as far as discovery knows. Worth asking
    the server again if that came from a cache.
    """


class SeveralFailures(CommandError):
    """More than one thing went wrong; the rest was done."""

    def __init__(self, errors: Sequence[CommandError | StatusError]) -> None:
        super().__init__("\n".join(_in_a_list(error) for error in errors))


def several(errors: Sequence[CommandError | StatusError]) -> CommandError | StatusError:
    """What to raise for errors that did not stop the work: the only one, or all of
    them.
    """
    return errors[0] if len(errors) == 1 else SeveralFailures(errors)


class Aggregate(SeveralFailures):
    """The same, as one error among others: then it stands in brackets, and what is said
    twice is said once. Upstream: `utilerrors.NewAggregate`.
    """

    def __init__(self, errors: Sequence[CommandError | StatusError]) -> None:
        super().__init__(errors)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return aggregate([str(error) for error in self.errors])


class NoResourceError(NoMatchError):
    """The mapper's own complaint, which goes out without `error: ` before it."""


class ConnectionFailed(CommandError):
    """No answer came. `kind`: refused, timeout, tls, dns, dial, malformed (what came is
    no HTTP) or eof; `host` is `HOST:PORT`; the text is Go's, with method and URL.
    """

    def __init__(self, message: str, kind: str, host: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.host = host


_PREFIXES = ("error: ", "Error in configuration: ")
"""What begins like this says already that it is an error."""


def message_for(error: CommandError | StatusError) -> str:
    """What kubectl prints to stderr, without the final newline."""
    text = _message(error)
    return text if isinstance(error, SeveralFailures) else text.removesuffix("\n")


def _message(error: CommandError | StatusError) -> str:
    if isinstance(error, Aggregate):
        return "\n".join(_in_a_list(each) for each in error.errors)
    if isinstance(error, ConnectionFailed):
        return _no_answer(error)
    if isinstance(error, NoCredentials):
        return f"Unable to connect to the server: {error}"
    if isinstance(error, (CodeExitError, Exit, NoResourceError, SeveralFailures)) or (
        isinstance(error, PartlyPrinted) and error.several
    ):
        return str(error)
    if isinstance(error, CommandError):
        return str(error) if str(error).startswith(_PREFIXES) else f"error: {error}"
    if error.reason == "Invalid":
        return _invalid(error)
    return _refused(error)


def _in_a_list(error: CommandError | StatusError) -> str:
    """Among others, an error stands without `error: ` before it, and without its
    causes.
    """
    if isinstance(error, StatusError):
        return _refused(error)
    return (
        message_for(error)
        if isinstance(error, (ConnectionFailed, SeveralFailures))
        and not isinstance(error, Aggregate)
        else str(error)
    )


def _refused(error: StatusError) -> str:
    if error.reason == "Unauthorized":
        return f"error: You must be logged in to the server ({error.message})"
    return (
        f"Error from server ({error.reason}): {error.message}"
        if error.reason
        else f"Error from server: {error.message}"
    )


def _no_answer(error: ConnectionFailed) -> str:
    if error.kind == "refused":
        return (
            f"The connection to the server {error.host} was refused - did you specify"
            " the right host or port?"
        )
    reason = str(error).partition('": ')[2]
    return f"Unable to connect to the server: {reason}"


def _invalid(error: StatusError) -> str:
    details = error.status.get("details")
    if details is None:
        return (
            f"The request is invalid: {error.message}"
            if error.message
            else "The request is invalid"
        )
    causes = details.get("causes") or []
    text = "The request is invalid"
    if details.get("kind") or details.get("name"):
        text = (
            f"The {details.get('kind', '')} {go_quote(details.get('name', ''))} is"
            " invalid"
        )
    elif error.message and not causes:
        text += f": {error.message}"
    messages = list(
        dict.fromkeys(
            f"{cause.get('field', '')}: {cause.get('message', '')}" for cause in causes
        )
    )
    if len(messages) > 1:
        return f"{text}: \n" + "\n".join(f"* {message}" for message in messages)
    return f"{text}: {messages[0]}" if messages else text
