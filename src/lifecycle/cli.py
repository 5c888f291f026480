"""The `lifecycle` command: thin words over the rooms.

Every refusal is one line on stderr that says what is wrong and what to do, and an exit code other than zero; never a
traceback.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from lifecycle import __version__

DEFAULT_KUBECONFIG = Path("lifecycle.kubeconfig")


class Refusal(click.ClickException):
    """One line, exit code 1."""

    def show(self, file: Any = None) -> None:
        """One line on stderr."""
        click.echo(f"lifecycle: {self.format_message()}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lifecycle")
def main() -> None:
    """What happens when … Kubernetes: run it, follow it, compare it."""


@main.command()
@click.option("--nodes", default=3, show_default=True, help="Machines, the control plane included.")
@click.option(
    "--like", type=click.Path(path_type=Path), help="Start out like a recorded cluster, e.g. recordings/kind-1.36.2."
)
@click.option("--store", default="memory", show_default=True, help="Where objects live: memory.")
@click.option("--port", default=0, help="Port on 127.0.0.1; 0 picks a free one.")
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
    try:
        config.check()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_serve(config, kubeconfig, context))
    except (ValueError, TimeoutError, OSError) as error:
        raise Refusal(str(error)) from None


async def _serve(config: Any, kubeconfig: Path, context: str) -> None:
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


@main.command()
def doctor() -> None:
    """Say which optional programs this machine has, and what each is for."""
    from lifecycle.cluster.doctor import checkup

    for line in checkup(os.environ.get("PATH", "")):
        click.echo(line)


if __name__ == "__main__":
    main()
