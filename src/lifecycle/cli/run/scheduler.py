"""`lifecycle run scheduler`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lifecycle.cli.refusal import Refusal, refusals
from lifecycle.cli.run.options import (
    connection_options,
    election,
    election_options,
    serve,
    target,
)


@click.command()
@connection_options
@election_options
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="A KubeSchedulerConfiguration; flags that are typed win over it.",
)
def scheduler(config: Path | None, **options: Any) -> None:
    """Give pods nodes: our kube-scheduler.

    It needs the rights of system:kube-scheduler.
    """
    with refusals():
        from lifecycle.api.loop.clock import Clock
        from lifecycle.cluster.alone.scheduler import (
            NAME,
            LoneScheduler,
            read_configuration,
        )

        configuration, kubeconfig = None, ""
        elected: dict[str, Any] = {}
        if config is not None:
            try:
                configuration, elected, kubeconfig = read_configuration(
                    config.read_text()
                )
            except ValueError as error:
                raise Refusal(f"{config}: {error}") from None
    serve(
        NAME,
        lambda connection: LoneScheduler(connection, Clock(), configuration),
        target(options, kubeconfig),
        election=election(options, elected),
        **options,
    )
