"""`lifecycle run proxy`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lifecycle.cli.refusal import Refusal, refusals
from lifecycle.cli.run.options import connection_options, is_typed, serve, target


@click.command()
@connection_options
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="A KubeProxyConfiguration; flags that are typed win over it.",
)
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
    config: Path | None,
    hostname_override: str,
    cluster_cidr: str,
    netns: str,
    dry_run: bool,
    **options: Any,
) -> None:
    """Make Services work on a node: our kube-proxy, with iptables.

    It needs the rights of system:kube-proxy. The rules stay when it ends.
    """
    with refusals():
        import socket

        from lifecycle.api.loop.clock import Clock
        from lifecycle.cluster.alone.proxy import NAME, LoneProxy, ProxyOptions
        from lifecycle.proxy.kube_proxy_configuration import (
            KubeProxyConfiguration,
            parse_configuration,
        )

        configuration = KubeProxyConfiguration()
        if config is not None:
            try:
                configuration = parse_configuration(config.read_text())
            except ValueError as error:
                raise Refusal(f"{config}: {error}") from None
        if config is None or is_typed("cluster_cidr"):
            proxier = replace(configuration.proxier, cluster_cidr=cluster_cidr)
            configuration = replace(configuration, proxier=proxier)
        node = ProxyOptions(
            hostname_override
            or configuration.hostname_override
            or socket.gethostname().lower(),
            configuration,
            netns,
            dry_run,
        )
        node.check()
    serve(
        NAME,
        lambda connection: LoneProxy(
            connection, Clock(), node, lambda text: print(text, end="", flush=True)
        ),
        target(options, configuration.kubeconfig),
        ready_on_stderr=dry_run,
        **options,
    )
