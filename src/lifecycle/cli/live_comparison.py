"""What `lifecycle compare` needs beside recordings that are there: one made now, and
how far a cluster disagrees with itself.

A live cluster is recorded first, then the embedded one is started like it and asked the
same, so both answer within the same minute. The fresh cluster's objects are always
among what is recorded: they are what the embedded one starts from.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifecycle.compare import AgreementTable
    from lifecycle.inspector import LiveCluster

OF_THE_START = "objects"
WITH_PODS = "journey"
PAUSE = 2.0
"""Seconds to wait after things settled, as `lifecycle record` does by default."""


def record_now(
    context: str, stages: tuple[str, ...], folder: Path
) -> tuple[str, tuple[str, ...]]:
    """Record stages of a live cluster into a folder; without any, those that a cluster
    of its kind can play. The recording's path, and the stages.

    Raises InspectorError for a context that may not be touched, or a stage that is no
    scenario.
    """
    from lifecycle.inspector import LiveCluster
    from lifecycle.inspector.recorder import record

    with LiveCluster(context) as cluster:
        stages = stages or playable(cluster, context)
        asked = tuple(dict.fromkeys((OF_THE_START, *stages)))
        path = record(
            cluster,
            folder / context,
            asked,
            pause=PAUSE,
            progress=sys.stderr.isatty(),
        )
    return str(path), stages


def playable(cluster: LiveCluster, context: str) -> tuple[str, ...]:
    """The scenarios that a cluster of its kind can play; says what is left out."""
    from lifecycle.inspector.recorder import DEFAULT_SCENARIOS

    if cluster.get("/api/v1/nodes")["items"]:
        return DEFAULT_SCENARIOS
    click.echo(
        f"{context} has no nodes: {WITH_PODS}, which runs pods, is left out", err=True
    )
    return tuple(stage for stage in DEFAULT_SCENARIOS if stage != WITH_PODS)


def noise_floor(tables: Sequence[AgreementTable]) -> str:
    """One line: what two recordings of one cluster differ in, and what had to be
    forgiven. Nobody can agree with that cluster better than it does itself.
    """
    rows = [row for table in tables for row in table.rows]
    fields = sum(row.comparison.total for row in rows)
    equal = sum(row.comparison.equal for row in rows)
    forgiven = sum(row.comparison.freedoms.total() for row in rows)
    share = 100 * (fields - equal) / fields if fields else 0.0
    return (
        f"noise floor: {fields - equal:,} of {fields:,} fields ({share:.2f} %) differ"
        f" between two recordings of one cluster; {forgiven:,} more differ by a"
        " freedom that was granted"
    )
