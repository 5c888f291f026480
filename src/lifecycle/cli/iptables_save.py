"""`lifecycle iptables-save NODE`: the rules that kube-proxy keeps on a node of any
cluster.
"""

from __future__ import annotations

import os
from typing import Any

import click

from lifecycle.cli.refusal import Refusal, refusals


@click.command("iptables-save")
@click.argument("node")
@click.option(
    "--kubeconfig",
    default="",
    help="Which cluster; KUBECONFIG or ~/.kube/config otherwise, as for kubectl.",
)
@click.option(
    "-t", "--table", default="", help="Only this table: filter, mangle or nat."
)
def iptables_save(node: str, kubeconfig: str, table: str) -> None:
    """Print what our kube-proxy would have written on NODE by now.

    The cluster is only read: its Services, EndpointSlices and the Node. Nothing is
    installed anywhere.
    """
    import asyncio

    with refusals():
        click.echo(asyncio.run(_saved(node, kubeconfig, table)), nl=False)


async def _saved(node: str, kubeconfig: str, table: str) -> str:
    from lifecycle.api.loop.clock import Clock
    from lifecycle.api.resources import resource
    from lifecycle.api.status import StatusError
    from lifecycle.client.rest import Client
    from lifecycle.client.transport_https import HTTPSTransport
    from lifecycle.cluster.cluster_addons import NodeProxies
    from lifecycle.cluster.nodes import POD_NETWORK
    from lifecycle.kubectl.credentials.transport import (
        AuthenticatingTransport,
        Credentials,
    )
    from lifecycle.kubectl.failures import CommandError
    from lifecycle.kubectl.global_flags import global_flags
    from lifecycle.kubectl.main import chosen

    flags = global_flags([f"--kubeconfig={kubeconfig}"] if kubeconfig else [])
    try:
        credentials = Credentials(chosen(flags, os.environ))
    except CommandError as error:
        raise Refusal(str(error)) from None
    transport: Any = AuthenticatingTransport(
        HTTPSTransport(await credentials.connection()), credentials
    )
    client = Client(transport, "lifecycle-iptables-save")
    proxies = NodeProxies(client, clock=Clock(), cluster_cidr=POD_NETWORK)
    try:
        node_object = await client.get(resource("nodes"), node)
        addresses = (node_object.get("status") or {}).get("addresses") or ()
        proxies.add(
            node,
            next((a["address"] for a in addresses if a["type"] == "InternalIP"), ""),
        )
        return await proxies.iptables_save(node, *([table] if table else []))
    except StatusError as error:
        raise Refusal(error.message) from None
    finally:
        await proxies.stop()
        await transport.close()
