"""Refusals: one line on stderr that says what is wrong and what to do, and an exit code
other than zero; never a traceback.

Usage errors leave with 2, as click's own do; Ctrl-C with 130, as a shell says it, and
SIGTERM before anything is done with 143; everything else with 1. Whoever stops reading
in the middle (`| head`) gets no complaint.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


class Refusal(click.ClickException):
    """One line, exit code 1."""

    def show(self, file: Any = None) -> None:
        """One line on stderr."""
        click.echo(f"lifecycle: {' '.join(self.format_message().split())}", err=True)


class Misused(Refusal):
    """The command line asks for something that does not exist: exit code 2."""

    exit_code = 2


class Words(click.Group):
    """The command with all its words: what click would say in four lines it says in
    one.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave the process."""
        try:
            done = super().main(
                args,
                prog_name or "lifecycle",
                complete_var,
                standalone_mode=False,
                **extra,
            )
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx is not None else "lifecycle"
            Misused(f"{error.format_message()} (see {path} --help)").show()
            sys.exit(2)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(130)
        sys.exit(done if isinstance(done, int) else 0)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what can go wrong outside this program – files, sockets, clusters, time –
    into a `Refusal`.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads any more: nothing to say, and nobody to say it to
    except Exception as error:
        line = _in_one_line(error)
        if line is None:
            raise
        raise Refusal(line) from None


def _in_one_line(error: Exception) -> str | None:
    """What went wrong outside this program, or None."""
    from lifecycle.api.extras import MissingExtraError
    from lifecycle.api.status import StatusError
    from lifecycle.etcd.store import StoreError
    from lifecycle.inspector import InspectorError

    if isinstance(error, TimeoutError):
        return str(error) or "it took too long"
    if isinstance(error, OSError):
        where = error.filename2 or error.filename
        return f"{where}: {error.strerror}" if where and error.strerror else str(error)
    ours = (InspectorError, MissingExtraError, StatusError, StoreError)
    if isinstance(
        error, (*ours, ValueError, *_loaded("kubernetes.config", "ConfigException"))
    ):
        return str(error)
    if isinstance(error, _loaded("yaml", "YAMLError")):
        return f"not readable as YAML: {error}"
    if isinstance(error, _loaded("urllib3.exceptions", "HTTPError")):
        return f"the cluster does not answer: {error}"
    if isinstance(error, _loaded("kubernetes.client", "ApiException")):
        refused: Any = error
        return f"the cluster refuses: {refused.status} {refused.reason}"
    return None


def _loaded(library: str, name: str) -> tuple[type[Exception], ...]:
    """A library's error, if the library is loaded. What nobody has loaded nobody has
    raised, and to load it here takes longer than most words of the command.
    """
    module = sys.modules.get(library)
    return () if module is None else (getattr(module, name),)
