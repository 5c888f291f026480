"""`lifecycle run proxy`."""

from __future__ import annotations

from typing import Any

import click

from lifecycle.cli.refusal import refusals
from lifecycle.cli.run.options import connection_options, serve, target


@click.command()
@connection_options
@click.option(
    "--hostname-override",
    default="",
    metavar="NAME",
    help="The node whose rules they are; by default this machine's name.",
)
@click.option(
    "--cluster-cidr",
    default="10.244.0.0/16",
    show_default=True,
    help="What comes from there comes from pods.",
)
@click.option(
    "--netns",
    default="",
    metavar="PATH",
    help="Load them in this network namespace; /proc/self/ns/net is the machine's.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print what iptables-restore would be given."
)
def proxy(
    hostname_override: str, cluster_cidr: str, netns: str, dry_run: bool, **options: Any
) -> None:
    """Make Services work on a node: our kube-proxy, with iptables.

    It needs the rights of system:kube-proxy. The rules stay when it ends.
    """
    with refusals():
        import socket

        from lifecycle.api.clock import Clock
        from lifecycle.cluster.alone.proxy import NAME, LoneProxy, ProxyOptions

        node = ProxyOptions(
            hostname_override or socket.gethostname().lower(),
            cluster_cidr,
            netns,
            dry_run,
        )
        node.check()
    serve(
        NAME,
        lambda connection: LoneProxy(
            connection, Clock(), node, lambda text: print(text, end="", flush=True)
        ),
        target(options),
        ready_on_stderr=dry_run,
        **options,
    )
