"""Others are answered while somebody attacks: the worst kinds of `benchmarks.attacks`, against a server of their own.

What counts is the processor time that the server spends while one `/livez` waits, and the limit is a piece of plain Python, timed
beside it: half a second on an ordinary machine, and as much more as this one is slower. A machine that is busy with other things
makes both longer.
"""

from __future__ import annotations

import asyncio
import time

from benchmarks.prober import Outcome, probe

WORST = (
    "JSON: 3 MB that ends wrong",
    "data: 200,000 bad keys",
    "labels: 100,000 bad",
    "YAML: below the limit",
    "pod: 40,000 containers",
    "protobuf: pod of containers",
    "JSON patch: 30 doubling copies",
    "JSON patch: 10,000 inserts at the head",
    "merge patch: 200,000 keys",
    "selector: 500 KB of keys",
    "CEL: 24 doubling variables",
    "CEL: a text that doubles",
    "list: 40 MB as YAML",
    "60 lists of 40 MB that nobody reads",
    "100 watches with the initial 40 MB that nobody reads",
    "300 anonymous paths of 900 KB",
)
PATIENCE = 2.0
MOST_KEPT = 384.0
"""MiB that the server may hold afterwards beside what it held before: the attacks send and ask for gigabytes."""


def _plain_python() -> float:
    """Milliseconds of processor time that counting takes."""
    started = time.process_time()
    for _ in range(10_000_000):
        pass
    return (time.process_time() - started) * 1000


async def _run(names: tuple[str, ...]) -> list[Outcome]:
    return [outcome async for outcome in probe(names, PATIENCE)]


def test_others_are_answered_while_somebody_attacks() -> None:
    outcomes = asyncio.run(_run(WORST))
    limit = max(500.0, 2 * _plain_python())
    stalled = tuple(outcome.name for outcome in outcomes if outcome.stall > limit)
    if stalled:  # what is no accident happens again
        again = asyncio.run(_run(stalled))
        assert not [str(outcome) for outcome in again if outcome.stall > limit]
    assert outcomes[-1].after - outcomes[0].before < MOST_KEPT, [str(outcome) for outcome in outcomes]
