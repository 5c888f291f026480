"""`python -m lifecycle.apiserver.extension_server --kubeconfig lifecycle.kubeconfig`:
the glossary server as a process of its own.

It joins the cluster of the kubeconfig, prints `ready <https-url>`, serves until SIGINT
or SIGTERM, and takes its APIService away again.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import click

from lifecycle.apiserver.extension_server.lookup_server import JoinError, LookupServer
from lifecycle.apiserver.webhook.client import read_webhook_kubeconfig


@click.command()
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    default=Path("lifecycle.kubeconfig"),
    show_default=True,
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port on 127.0.0.1; 0 picks a free one.",
)
@click.option(
    "--register/--no-register",
    default=True,
    help="Create the Service and the APIService, and delete them at the end.",
)
def main(kubeconfig: Path, port: int, register: bool) -> None:
    """Serve lookup.lifecycle.book/v1 behind the cluster's API server."""
    try:
        connection = read_webhook_kubeconfig(kubeconfig)
    except (OSError, ValueError) as error:
        sys.exit(f"{kubeconfig}: {error}; `lifecycle up` writes such a file")
    try:
        asyncio.run(_serve(LookupServer(connection), port, register))
    except (JoinError, OSError) as error:
        sys.exit(f"cannot join the cluster: {error}")


async def _serve(server: LookupServer, port: int, register: bool) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    try:
        await server.start(port)
        if register:
            await server.register()
        print(f"ready {server.url}", flush=True)
        await stopped.wait()
        if register:
            await server.unregister()
    finally:
        await server.stop()


if __name__ == "__main__":
    main()
