"""`lifecycle run dns`."""

from __future__ import annotations

from typing import Any

import click

from lifecycle.cli.refusal import refusals
from lifecycle.cli.run.options import connection_options, serve, target, tell


@click.command()
@connection_options
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=53,
    show_default=True,
    help="UDP and TCP port on 127.0.0.1; 0 picks a free one.",
)
@click.option(
    "--cluster-domain", default="cluster.local", show_default=True, help="Its zone."
)
@click.option(
    "--ttl",
    type=click.IntRange(0, 3600),
    default=30,
    show_default=True,
    help="Seconds that answers may be remembered.",
)
def dns(port: int, cluster_domain: str, ttl: int, **options: Any) -> None:
    """Answer for the names of Services and pods: our cluster DNS.

    It needs to list and watch Services, EndpointSlices and Namespaces.
    """
    with refusals():
        from lifecycle.api.loop.clock import Clock
        from lifecycle.cluster.alone.dns import NAME, DNSOptions, LoneDNS

        server = DNSOptions(port, cluster_domain, ttl)
        server.check()
    serve(
        NAME,
        lambda connection: LoneDNS(connection, Clock(), server, tell),
        target(options),
        **options,
    )
