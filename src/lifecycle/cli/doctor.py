"""`lifecycle doctor`: what this machine has."""

from __future__ import annotations

import os

import click


@click.command()
def doctor() -> None:
    """Say which optional programs this machine has, and what each is for."""
    from lifecycle.cluster.doctor import checkup

    for line in checkup(os.environ.get("PATH", "")):
        click.echo(line)
