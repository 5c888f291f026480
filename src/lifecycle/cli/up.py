"""`lifecycle up`: a whole cluster in this process, until somebody ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lifecycle.api.garbage import collect_rarely
from lifecycle.api.late_import import BEHIND_A_SOCKET, late_import, load_beside
from lifecycle.cli.latency import latency_option
from lifecycle.cli.refusal import Refusal, refusals
from lifecycle.cli.server_options import names, server_options, server_settings
from lifecycle.cli.signals import first_signal

if TYPE_CHECKING:
    import asyncio

    from lifecycle.cluster.cluster_config import ClusterConfig
else:  # `lifecycle --help` loads every word
    asyncio = late_import("asyncio")


@click.command()
@click.option(
    "--nodes",
    default=3,
    show_default=True,
    help="Machines, the control plane included.",
)
@click.option(
    "--like",
    metavar="kind|PATH",
    help=(
        "Start out like a recorded cluster: kind's fresh one, or a recording's folder."
    ),
)
@server_options
@click.option(
    "--runtime",
    default="hollow",
    show_default=True,
    help=(
        "What runs containers: hollow (in memory, instant), sandbox (real ones, ours),"
        " containerd (real ones, in a private containerd), containerd:SOCKET (in yours,"
        " with --nodes 1)."
    ),
)
@click.option(
    "--overlay",
    default="vxlan",
    show_default=True,
    help="Between real nodes: vxlan (a tunnel) or host-gw (routes).",
)
@latency_option(0.0)
@click.option(
    "--kube-version",
    default="",
    metavar="VERSION",
    help=(
        "An older Kubernetes whose API clients find, and whose version they are told:"
        " v1.20.2."
    ),
)
@click.option(
    "--without",
    default="",
    help="Components to leave out: scheduler,controllers,kubelet,proxy,dns.",
)
def up(kubeconfig: Path, context: str, without: str, **options: Any) -> None:
    """Start a whole cluster in this process; serve until Ctrl-C.

    The kubeconfig is written as soon as the API answers. Prints one line, `ready
    <https-url>`, when also all nodes are Ready, as far as that does not take a
    component that --without leaves out.
    """
    begin_to_load()
    from lifecycle.cluster.cluster_config import ClusterConfig

    with refusals():
        settings = server_settings(options)
        config = ClusterConfig(without=names(without), **settings, **options)
        config.check()
    run_cluster(config, kubeconfig, context)


def begin_to_load() -> None:
    """For a process that is about to load the rooms and to start a cluster."""
    collect_rarely()  # a thousand modules are objects that stay, too
    load_beside(*BEHIND_A_SOCKET)


def run_cluster(config: ClusterConfig, kubeconfig: Path, context: str) -> None:
    """Until a signal comes. Leaves the process with 1 and one line for what goes wrong,
    with 128 and the number for a signal before it was ready.
    """
    from lifecycle.cluster.background import new_event_loop

    with refusals(), asyncio.Runner(loop_factory=new_event_loop) as runner:
        too_early = runner.run(_serve(config, kubeconfig, context))
    if too_early:  # as a shell says it: 128 and the signal's number
        Refusal("ended by a signal before the cluster was ready").show()
        click.get_current_context().exit(128 + too_early)


async def _serve(config: ClusterConfig, kubeconfig: Path, context: str) -> int:
    """Until a signal comes. Returns its number if that was before the cluster was
    ready, else 0.
    """
    from lifecycle.api.freed_memory import keep_little
    from lifecycle.cluster.background import favour_throughput
    from lifecycle.cluster.cluster import Cluster

    waiting = first_signal()
    cluster = Cluster(config)
    written: list[Path] = []

    def write() -> None:
        cluster.write_kubeconfig(kubeconfig, context)
        written.append(kubeconfig)

    try:
        starting: asyncio.Future[Any] = asyncio.ensure_future(cluster.start(write))
        await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.wait([starting])  # it takes back what it has begun
            for path in written:  # it names a server that is gone
                path.unlink(missing_ok=True)
            return waiting.result()
        await starting
        keep_little()
        favour_throughput()
        print(f"ready {cluster.url}", flush=True)
        print(f"kubeconfig: {kubeconfig}", file=sys.stderr, flush=True)
        if cluster.dns is not None:
            ask = (
                f"dig @127.0.0.1 -p {cluster.dns.port}"
                " kubernetes.default.svc.cluster.local"
            )
            print(
                f"dns: 127.0.0.1:{cluster.dns.port} (try {ask})",
                file=sys.stderr,
                flush=True,
            )
        if cluster.machines is not None:
            print(cluster.machines.where, file=sys.stderr, flush=True)
        failing: asyncio.Future[Any] = asyncio.ensure_future(cluster.failure())
        await asyncio.wait([failing, waiting], return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            await failing
        failing.cancel()
        return 0
    finally:
        waiting.cancel()
        await cluster.stop()
