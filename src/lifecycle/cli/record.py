"""`lifecycle record`: a recording of a live cluster, made by the same questions as
those in `recordings/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lifecycle.cli.live_comparison import playable
from lifecycle.cli.refusal import Misused, Refusal, refusals


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--context",
    required=True,
    help="Context of your kubeconfig: kind-lifecycle, or one on this machine.",
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    help="What to record; may be repeated. Left out: everything.",
)
@click.option(
    "--pause",
    type=click.FloatRange(0),
    default=2.0,
    show_default=True,
    help="Seconds to wait after things settled.",
)
def record(out: Path, context: str, scenarios: tuple[str, ...], pause: float) -> None:
    """Record a live cluster into the folder OUT.

    Touches only namespaces that it creates, and deletes them again, also after Ctrl-C.
    """
    from lifecycle.inspector import LiveCluster
    from lifecycle.inspector.recorder import record as make_recording
    from lifecycle.inspector.scenario import scenario_names

    unknown = [name for name in scenarios if name not in scenario_names()]
    if unknown:
        raise Misused(
            f"no scenario {', '.join(unknown)}; there are:"
            f" {', '.join(scenario_names())}"
        )
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise Refusal(f"{out} is there already; name a folder that is not")
    with refusals(), LiveCluster(context) as cluster:
        recording = make_recording(
            cluster,
            out,
            scenarios or playable(cluster, context),
            pause=pause,
            progress=sys.stderr.isatty(),
        )
    click.echo(f"recorded {recording}")
