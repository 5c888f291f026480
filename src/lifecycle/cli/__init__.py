"""The `lifecycle` command: thin words over the rooms. One module per word."""

from __future__ import annotations

import click

from lifecycle import __version__
from lifecycle.cli.check import check
from lifecycle.cli.claims import claims
from lifecycle.cli.compare import compare
from lifecycle.cli.doctor import doctor
from lifecycle.cli.image import image
from lifecycle.cli.inspect import inspect
from lifecycle.cli.iptables_save import iptables_save
from lifecycle.cli.kubectl import kubectl
from lifecycle.cli.record import record
from lifecycle.cli.refusal import Words
from lifecycle.cli.run import run
from lifecycle.cli.trace import trace
from lifecycle.cli.up import up


@click.group(cls=Words, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lifecycle")
def main() -> None:
    """What happens when … Kubernetes: run it, follow it, compare it."""


for command in (
    up,
    run,
    trace,
    inspect,
    compare,
    record,
    claims,
    check,
    doctor,
    kubectl,
    iptables_save,
    image,
):
    main.add_command(command)
