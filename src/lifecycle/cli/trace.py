"""`lifecycle trace`: one kubectl command, followed through every stage of an embedded
cluster.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lifecycle.cli.latency import latency_option
from lifecycle.cli.refusal import Refusal, refusals

if TYPE_CHECKING:
    from rich.table import Table

    from lifecycle.cri.hollow.step_times import Latency
    from lifecycle.trace import Journey

BAR = 40
WIDTH = 140


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the picture as a page.",
)
@click.option(
    "--png",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the picture as PNG.",
)
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the picture as SVG.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all steps as JSON.",
)
@click.option("--all", "everything", is_flag=True, help="Print every single step.")
@click.option(
    "--beside",
    metavar="DIR",
    help="A recording whose journey is put beside ours, e.g. kind-1.36.2.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Machines of the cluster.",
)
@latency_option(0.0)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def trace(
    html: Path | None,
    png: Path | None,
    svg: Path | None,
    json_file: Path | None,
    everything: bool,
    beside: str | None,
    nodes: int,
    latency: Latency,
    command: tuple[str, ...],
) -> None:
    """Follow a kubectl COMMAND until what it asked for is there.

    Without a command it is the book's own: kubectl create deployment nginx
    --image=nginx --replicas=3
    """
    import asyncio

    from rich.console import Console

    from lifecycle.cluster.background import new_event_loop
    from lifecycle.cluster.cluster_config import ClusterConfig
    from lifecycle.cluster.follow import DEFAULT_COMMAND, FollowError, follow
    from lifecycle.inspector import open_recording
    from lifecycle.trace import text
    from lifecycle.trace.recorded import recorded_journey

    argv = command[1:] if command[:1] == ("kubectl",) else command
    for file in (html, png, svg, json_file):
        if file is not None and not file.parent.is_dir():
            raise Refusal(f"{file}: there is no folder {file.parent}")
    with refusals():
        if html or png or svg:  # before anything runs: they may not be installed
            from lifecycle.figures.timeline import to_html, to_png, to_svg
        theirs = [recorded_journey(open_recording(beside).path)] if beside else []
        config = ClusterConfig(nodes=nodes, latency=latency)
        try:
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                followed = runner.run(follow(argv or DEFAULT_COMMAND, config))
        except (FollowError, LookupError) as error:
            raise Refusal(str(error)) from None
        console = Console(width=None if sys.stdout.isatty() else WIDTH)
        console.print(
            f"$ {followed.command}\n{followed.printed}", highlight=False, markup=False
        )
        for journey in (followed.journey, *theirs):
            console.print(
                text.render(journey, limit=10_000)
                if everything
                else stages_table(journey),
                highlight=False,
            )
        journeys = [followed.journey, *theirs]
        if html:
            html.write_text(to_html(journeys))
        if png:
            to_png(journeys, png)
        if svg:
            svg.write_text(to_svg(journeys))
        if json_file:
            json_file.write_text(
                json.dumps([as_document(journey) for journey in journeys], indent=1)
            )
        for file in (html, png, svg, json_file):
            if file is not None:
                click.echo(f"wrote {file}", err=True)


def stages_table(journey: Journey) -> Table:
    """A journey for a terminal: a row per stage, when it was first and last at work,
    how often, and for how long in all.
    """
    from rich.table import Table
    from rich.text import Text

    from lifecycle.trace.colours import colour_of
    from lifecycle.trace.text import milliseconds

    title = (
        f"{journey.title} – {milliseconds(journey.duration)} on {journey.provenance}"
    )
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("component")
    table.add_column("stage")
    table.add_column("first at", justify="right")
    table.add_column("from the request to the last pod", no_wrap=True, min_width=BAR)
    table.add_column("times", justify="right")
    table.add_column("in all", justify="right")
    before = ""
    for component, stage in journey.rows():
        steps = journey.of(component, stage)
        colour = colour_of(component)
        table.add_row(
            Text(component if component != before else "", style=colour),
            stage,
            milliseconds(min(step.start for step in steps)),
            Text(_marks(journey, component, stage), style=colour),
            f"{len(steps)}×",
            milliseconds(sum(step.duration for step in steps)),
        )
        before = component
    return table


def _marks(journey: Journey, component: str, stage: str) -> str:
    """When a stage was at work, as a line of blocks."""
    cells = [" "] * BAR
    whole = journey.duration or 1.0
    for step in journey.of(component, stage):
        first = min(int(BAR * step.start / whole), BAR - 1)
        for cell in range(first, min(int(BAR * step.end / whole), BAR - 1) + 1):
            cells[cell] = "▇"
    return "".join(cells).rstrip()


def as_document(journey: Journey) -> dict[str, Any]:
    """A journey for machines; seconds throughout."""
    import dataclasses

    return {
        "title": journey.title,
        "provenance": journey.provenance,
        "seconds": journey.duration,
        "steps": [dataclasses.asdict(step) for step in journey.steps],
    }
