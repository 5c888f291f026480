"""`lifecycle up`: a whole cluster in this process, until somebody ends it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import click

from lifecycle.cli.refusal import refusals

DEFAULT_KUBECONFIG = Path("lifecycle.kubeconfig")


@click.command()
@click.option("--nodes", default=3, show_default=True, help="Machines, the control plane included.")
@click.option(
    "--like", type=click.Path(path_type=Path), help="Start out like a recorded cluster, e.g. recordings/kind-1.36.2."
)
@click.option(
    "--store", default="memory", show_default=True, help="Where objects live: memory, sqlite:PATH or etcd:URL."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 picks a free one.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    default=DEFAULT_KUBECONFIG,
    show_default=True,
    help="Where to write it.",
)
@click.option(
    "--runtime", default="hollow", show_default=True, help="What runs containers: hollow (in memory, instant)."
)
@click.option(
    "--latency", type=click.FloatRange(0), default=0.0, help="Seconds each step of a container's start takes."
)
@click.option("--token", default="", help="A bearer token for a user in system:masters.")
@click.option("--without", default="", help="Components to leave out: scheduler,controllers,kubelet.")
@click.option("--context", default="lifecycle", show_default=True, help="Name of the context in the kubeconfig.")
@click.option("--seed", type=int, help="Make uids and names repeatable.")
def up(kubeconfig: Path, context: str, without: str, **options: Any) -> None:
    """Start a whole cluster in this process; serve until Ctrl-C.

    Prints one line, `ready <https-url>`, when the API answers and all nodes are Ready.
    """
    from lifecycle.cluster.background import new_event_loop
    from lifecycle.cluster.cluster import ClusterConfig

    config = ClusterConfig(without=tuple(name for name in without.split(",") if name), **options)
    with refusals():
        config.check()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_serve(config, kubeconfig, context))


async def _serve(config: Any, kubeconfig: Path, context: str) -> None:
    from lifecycle.cluster.background import favour_throughput
    from lifecycle.cluster.cluster import Cluster

    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    cluster = Cluster(config)
    waiting = asyncio.ensure_future(stopped.wait())
    try:
        starting = asyncio.ensure_future(cluster.start())
        await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            return
        await starting
        favour_throughput()
        cluster.write_kubeconfig(kubeconfig, context)
        print(f"ready {cluster.url}", flush=True)
        print(f"kubeconfig: {kubeconfig}", file=sys.stderr, flush=True)
        failing = asyncio.ensure_future(cluster.failure())
        await asyncio.wait([failing, waiting], return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            await failing
        failing.cancel()
    finally:
        waiting.cancel()
        await cluster.stop()
