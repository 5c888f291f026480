"""`lifecycle run COMPONENT`: one of our components by itself, against any API server.

Options bear upstream's names, so that a line for kube-scheduler works here, too, as far
as an option is known.
"""

from __future__ import annotations

import click

from lifecycle.cli.run.apiserver import apiserver
from lifecycle.cli.run.controllers import controllers
from lifecycle.cli.run.dns import dns
from lifecycle.cli.run.kubelet import kubelet
from lifecycle.cli.run.proxy import proxy
from lifecycle.cli.run.scheduler import scheduler


@click.group()
def run() -> None:
    """Run one component alone, for an API server of ours or a real one.

    It acts as the user that its kubeconfig names (the API server writes one instead),
    prints one line, `ready http://127.0.0.1:PORT`, when it works (there are /healthz,
    /readyz and /metrics), and serves until Ctrl-C.
    """


for command in (apiserver, scheduler, controllers, kubelet, proxy, dns):
    run.add_command(command)
