"""`lifecycle compare`: the same questions to two clusters, and the answers field by
field.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lifecycle.cli.latency import RECORDED, latency_option
from lifecycle.cli.live_comparison import noise_floor, record_now
from lifecycle.cli.refusal import Misused, Refusal, refusals

if TYPE_CHECKING:
    from rich.progress import Progress

    from lifecycle.compare import AgreementTable
    from lifecycle.cri.hollow.step_times import Latency
    from lifecycle.inspector import Recording

COMPUTED = (
    "journey",
    "scheduling",
    "services",
    "kubelet",
    "authz",
    "admission",
    "corpus",
    "storage",
)
"""What is asked of both clusters when nothing is named: answers that have to be worked
out. Those that ours was given – planted, or shipped – are compared only by name.
"""

OF_NODES = ("iptables", "dns")
"""Stages that were not recorded as requests: what a node or the DNS server said."""

WIDTH = 140
"""Columns where the output is not a terminal."""


@click.command(short_help="Hold a cluster against a recorded one, field by field.")
@click.argument("stages", nargs=-1)
@click.option(
    "--recording",
    default="kind-1.36.2",
    show_default=True,
    metavar="DIR",
    help="The recorded cluster to hold against.",
)
@click.option(
    "--against",
    default="embedded",
    show_default=True,
    metavar="embedded|DIR|CONTEXT",
    help=(
        "Who is compared with it: the embedded cluster, another recording, or the live"
        " context kind-lifecycle."
    ),
)
@click.option(
    "--live",
    metavar="CONTEXT",
    help=(
        "Ask a live cluster and the embedded one, both now: a context of your"
        " kubeconfig named kind-lifecycle, or one whose server is on this machine."
    ),
)
@click.option(
    "--noise",
    nargs=2,
    metavar="DIR DIR",
    help="Two recordings of one cluster: how far a cluster disagrees with itself.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the tables as JSON.",
)
@click.option(
    "--all-rows", is_flag=True, help="Print every row, also those that are equal."
)
@latency_option(RECORDED)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="What our cluster draws its times and ties from.",
)
def compare(
    stages: tuple[str, ...],
    recording: str,
    against: str,
    live: str | None,
    noise: tuple[str, str] | None,
    json_file: Path | None,
    all_rows: bool,
    latency: Latency,
    seed: int,
) -> None:
    """Compare STAGES (any recorded scenario, iptables or dns; all that ours has to work
    out if none is named) of two clusters.

    Answers that ours was given, as those of objects and discovery, are marked so and
    left out of the sum.
    Leaves with 1 on a disagreement nobody has explained, with 2 if asked for a stage
    that was not recorded.
    """
    import json

    from rich.console import Console
    from rich.progress import Progress

    from lifecycle.inspector import open_recording

    if json_file is not None and not json_file.parent.is_dir():
        raise Refusal(f"{json_file}: there is no folder {json_file.parent}")
    if sum((live is not None, noise is not None, against != "embedded")) > 1:
        raise Misused("--live, --noise and --against exclude each other")
    with ExitStack() as stack, refusals():
        if live is not None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            recording, stages = record_now(live, stages, folder)
        if noise is not None:
            against, recording = noise
        theirs = open_recording(recording)
        known = theirs.scenarios()
        if against == "embedded":
            known = [
                *known,
                *(name for name in OF_NODES if _was_recorded(theirs, name)),
            ]
        for stage in stages:
            if stage not in known:
                raise Misused(
                    f"{theirs.name} has no stage {stage!r}; it has: {', '.join(known)}"
                )
        asked = known if noise else (*COMPUTED, *OF_NODES)
        chosen = stages or tuple(stage for stage in asked if stage in known)
        bar = Progress(
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        with bar:
            tables = _tables(against, theirs, chosen, latency, seed, bar)
        if json_file:
            json_file.write_text(
                json.dumps([json.loads(table.to_json()) for table in tables], indent=1)
            )
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for table in tables:
        if all_rows:
            table.limit = sys.maxsize
        console.print(table)
        console.print()
    if noise is not None:
        console.print(noise_floor(tables))
    if any(table.unexplained for table in tables):
        sys.exit(1)


def _tables(
    against: str,
    theirs: Recording,
    stages: tuple[str, ...],
    latency: Latency,
    seed: int,
    bar: Progress,
) -> list[AgreementTable]:
    from lifecycle.compare import compare_recordings
    from lifecycle.inspector import open_recording

    tables = []
    if against == "embedded":
        for stage in stages:
            tables.append(_embedded(theirs, stage, latency, seed, bar))
    elif against == "kind" or against.startswith("kind-lifecycle"):
        tables = _live(against, theirs, stages, bar)
    else:
        ours = open_recording(against)
        missing = [stage for stage in stages if stage not in ours.scenarios()]
        if missing:
            raise Misused(
                f"{ours.name} has no stage {', '.join(missing)}; it has:"
                f" {', '.join(ours.scenarios())}"
            )
        for stage in bar.track(stages, description="comparing"):
            tables.append(compare_recordings(ours, theirs, stage))
    return tables


def _was_recorded(recording: Recording, stage: str) -> bool:
    """Whether somebody looked: into the nodes' tables, or with `dig`."""
    if stage == "dns":
        return any((recording.path / "dns").glob("*.txt"))
    return any((recording.path / "node").glob("*/iptables-save*"))


def _embedded(
    theirs: Recording, stage: str, latency: Latency, seed: int, bar: Progress
) -> AgreementTable:
    from lifecycle.cluster.agree import agreement_with

    if stage in OF_NODES:
        from lifecycle.agreements.dns_answers import dns_agreement
        from lifecycle.agreements.proxy.iptables_rules import iptables_agreement

        return (dns_agreement if stage == "dns" else iptables_agreement)(theirs)
    task = bar.add_task(stage, total=len(theirs.exchanges(stage)))
    return agreement_with(
        theirs,
        stage,
        latency=latency,
        seed=seed,
        on_step=lambda _: bar.advance(task),
    )


def _live(
    context: str, theirs: Recording, stages: tuple[str, ...], bar: Progress
) -> list[AgreementTable]:
    """Record the live cluster first, then compare two recordings: the recorder knows
    how to leave nothing behind.
    """
    from lifecycle.compare import compare_recordings
    from lifecycle.inspector import LiveCluster, open_recording
    from lifecycle.inspector.live import ALLOWED_CONTEXT
    from lifecycle.inspector.recorder import record

    with (
        LiveCluster(ALLOWED_CONTEXT if context == "kind" else context) as cluster,
        tempfile.TemporaryDirectory() as folder,
    ):
        tables = []
        for stage in bar.track(stages, description="asking the live cluster"):
            taken = open_recording(
                str(record(cluster, Path(folder) / context, [stage], progress=False))
            )
            tables.append(compare_recordings(taken, theirs, stage))
        return tables
