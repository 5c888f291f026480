"""`lifecycle run kubelet`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lifecycle.cli.latency import latency_option
from lifecycle.cli.refusal import refusals
from lifecycle.cli.run.options import connection_options, serve, target


@click.command()
@connection_options
@click.option(
    "--hostname-override",
    default="",
    metavar="NAME",
    help="The node's name; by default this machine's.",
)
@click.option(
    "--node-ip", default="127.0.0.1", show_default=True, help="The node's address."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=10250,
    show_default=True,
    help="Port on 127.0.0.1 of its own API; 0 picks a free one.",
)
@click.option(
    "--pod-cidr",
    default="",
    help="The range of its pods' addresses; by default the controllers choose it.",
)
@click.option(
    "--node-labels", default="", metavar="KEY=VALUE,…", help="Labels to register with."
)
@click.option(
    "--register-with-taints",
    default="",
    metavar="KEY=VALUE:EFFECT,…",
    help="Taints to register with.",
)
@click.option(
    "--client-ca-file",
    type=click.Path(path_type=Path),
    help="Who vouches for its clients; by default who does for the API server.",
)
@latency_option(0.0)
def kubelet(
    hostname_override: str,
    node_ip: str,
    port: int,
    pod_cidr: str,
    node_labels: str,
    register_with_taints: str,
    client_ca_file: Path | None,
    latency: float | str,
    **options: Any,
) -> None:
    """Be a node: our kubelet, with a hollow runtime.

    It needs the rights of system:node:NAME in system:nodes. A node is Ready once it
    has a range of pod addresses.
    """
    with refusals():
        import socket

        from lifecycle.api.loop.clock import Clock
        from lifecycle.cluster.alone.kubelet import (
            NAME,
            LoneKubelet,
            NodeOptions,
            parse_labels,
            parse_taints,
        )

        node = NodeOptions(
            hostname_override or socket.gethostname().lower(),
            node_ip,
            port,
            pod_cidr,
            parse_labels(node_labels),
            parse_taints(register_with_taints),
            client_ca_file,
            latency,  # type: ignore[arg-type]
        )
        node.check()
    serve(
        NAME,
        lambda connection: LoneKubelet(connection, Clock(), node),
        target(options),
        **options,
    )
