"""`lifecycle kubectl`: the book's own kubectl as a program, against any kubeconfig."""

from __future__ import annotations

import os
import sys

import click

from lifecycle.cli.refusal import refusals


@click.command(
    context_settings={
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": [],
    },
    add_help_option=False,
)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED)
def kubectl(argv: tuple[str, ...]) -> None:
    """Run a kubectl command: lifecycle kubectl get pods -o wide.

    It reads --kubeconfig, KUBECONFIG or ~/.kube/config as kubectl does, and keeps its
    caches where kubectl keeps them.
    """
    import asyncio

    from lifecycle.kubectl.main import main

    with refusals():
        try:
            code = asyncio.run(main(argv, out=sys.stdout, err=sys.stderr))
            sys.stdout.flush()  # that nobody reads is known here, not at the very end
        except KeyboardInterrupt:
            code = 130
        except BrokenPipeError:
            # what is still in the buffer is written once more when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
    raise SystemExit(code)
