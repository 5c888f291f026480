"""`lifecycle run apiserver`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lifecycle.cli.refusal import refusals
from lifecycle.cli.server_options import server_options, server_settings
from lifecycle.cli.up import begin_to_load, run_cluster


@click.command()
@server_options
@click.option(
    "--etcd-servers", default="", metavar="URL", help="The same as --store etcd:URL."
)
def apiserver(
    kubeconfig: Path, context: str, etcd_servers: str, **options: Any
) -> None:
    """Serve the API, and nothing else: our kube-apiserver.

    Writes an administrator's kubeconfig, and prints `ready <https-url>`; /healthz,
    /readyz and /metrics are there, too. Others can come: `lifecycle run` has ours.
    Several of it may share one etcd, if they share one --cert-dir.
    """
    begin_to_load()
    with refusals():
        from lifecycle.cluster.cluster_config import COMPONENTS, ClusterConfig

        if etcd_servers:
            options["store"] = f"etcd:{etcd_servers}"
        config = ClusterConfig(without=COMPONENTS, **server_settings(options))
        config.check()
    run_cluster(config, kubeconfig, context)
