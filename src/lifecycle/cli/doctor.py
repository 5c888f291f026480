"""`lifecycle doctor`: what this machine has, and what former runs left on it."""

from __future__ import annotations

import os
import sys

import click

from lifecycle.cli.refusal import refusals


@click.command(short_help="Which optional programs are here, and what for.")
@click.option(
    "--clean",
    is_flag=True,
    help="Take away what killed runs with real containers left behind.",
)
def doctor(clean: bool) -> None:
    """Say which optional programs and extras this machine has, what each is for, and
    what real containers would need.
    """
    from lifecycle.cluster.doctor import abandoned, checkup, extras, real_containers

    with refusals():
        if clean:
            if sys.platform == "linux":
                from lifecycle.cluster.linux.clean import clean_abandoned

                for line in clean_abandoned():
                    click.echo(line)
            click.echo("nothing of a former run is left")
            return
        for line in [
            *checkup(os.environ.get("PATH", "")),
            *extras(),
            *real_containers(),
            *abandoned(),
        ]:
            click.echo(line)
