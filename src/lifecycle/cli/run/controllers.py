"""`lifecycle run controllers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lifecycle.cli.refusal import refusals
from lifecycle.cli.run.options import (
    connection_options,
    election,
    election_options,
    flag,
    serve,
    target,
)


@click.command()
@connection_options
@election_options
@click.option(
    "--controllers",
    default="*",
    show_default=True,
    help="Names, with commas between; * for all, -NAME to leave one out.",
)
@click.option(
    "--cluster-cidr",
    default="10.244.0.0/16",
    show_default=True,
    help="The range that nodes' pod addresses are cut from.",
)
@flag("allocate-node-cidrs", default=True, text="Give each node a piece of it.")
@flag(
    "use-service-account-credentials",
    default=True,
    text="Each controller acts as a service account of its own.",
)
@click.option(
    "--root-ca-file",
    type=click.Path(path_type=Path),
    help="What pods shall trust; by default what the kubeconfig does.",
)
@click.option(
    "--service-account-private-key-file",
    type=click.Path(path_type=Path),
    help="Signs tokens that are kept in secrets; without it there are none.",
)
def controllers(
    controllers: str,
    cluster_cidr: str,
    allocate_node_cidrs: bool,
    use_service_account_credentials: bool,
    root_ca_file: Path | None,
    service_account_private_key_file: Path | None,
    **options: Any,
) -> None:
    """Make the world match what is wanted: our kube-controller-manager.

    It needs the rights of system:kube-controller-manager.
    """
    with refusals():
        from lifecycle.api.loop.clock import Clock
        from lifecycle.cluster.alone.controllers import LoneControllers, ManagerOptions
        from lifecycle.controllers.manager import COMMAND

        manager = ManagerOptions(
            tuple(name for name in controllers.split(",") if name),
            cluster_cidr,
            allocate_node_cidrs,
            use_service_account_credentials,
            root_ca_file,
            service_account_private_key_file,
        )
        manager.check()
    serve(
        COMMAND,
        lambda connection: LoneControllers(connection, Clock(), manager),
        target(options),
        election=election(options),
        **options,
    )
