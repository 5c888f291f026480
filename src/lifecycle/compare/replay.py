"""The embedded cluster, asked the same as the recorded one.

`compare_cluster` puts a scenario's questions to anything that answers requests (see
`lifecycle.inspector.runner.Responder`) and compares the answers with a recording,
exactly as two recordings are compared.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

from lifecycle.compare.agreement import AgreementTable
from lifecycle.compare.observations import Observations, observations_of, settled_before
from lifecycle.compare.scenarios import compare_observations
from lifecycle.inspector import InspectorError, Recording
from lifecycle.inspector.live import LABEL, LABEL_VALUE
from lifecycle.inspector.runner import Responder, run_scenario, until_furnished
from lifecycle.inspector.scenario import (
    Scenario,
    Step,
    derive,
    load_scenario,
    scenario_names,
)
from lifecycle.inspector.unrecorded import scenario_before, unrecorded_clean_up


async def compare_cluster(
    target: Responder,
    recording: Recording,
    scenario: str,
    *,
    name: str = "the embedded cluster",
    pause: float = 0.5,
    patience: float = 120.0,
    pace: float = 1.0,
    on_step: Callable[[Step], None] | None = None,
    like_recorded: bool = True,
    given: str = "",
    audit: Callable[[], Sequence[dict[str, Any]]] = tuple,
) -> AgreementTable:
    """Ask `target` what the recorded cluster was asked, and compare.

    Scenarios kept as data are used as they are; others are derived from the recording.
    If the target has a method `watch(path)`, an asynchronous iterator of watch events,
    the scenario's watches are compared as well. Only the admin's questions are asked.
    `on_step` hears of every step before it is taken. `pause`, `patience` and `pace` are
    `run_scenario`'s. `like_recorded`: the target has
    the recorded cluster's nodes and add-ons. `given`: where the target had its answers
    from, if it did not work them out. `audit`: the target's own audit log, asked for
    when all is over.
    """
    questions = (
        load_scenario(scenario)
        if scenario in scenario_names()
        else derive(scenario, recording.exchanges(scenario))
    )
    for namespace in recording.stand_ins(scenario):
        await _make_namespace(target, namespace)
        questions = questions.in_namespace(namespace)
    if like_recorded:
        await _play_before(target, recording, scenario)
    start = asyncio.get_running_loop().time()
    async with _watching(target, questions, start) as lines:
        ours = await run_scenario(
            target,
            questions,
            pause=pause,
            patience=patience,
            pace=pace,
            on_step=on_step,
        )
    theirs = [
        exchange
        for exchange in recording.exchanges(scenario)
        if exchange.identity == "admin"
    ]
    return compare_observations(
        scenario,
        Observations(
            ours,
            lines,
            settled_before(recording) if like_recorded else (),
            audit=audit(),
        ),
        replace(observations_of(recording, scenario), exchanges=theirs),
        name,
        f"recording {recording.provenance}",
        given=given,
    )


async def _play_before(target: Responder, recording: Recording, scenario: str) -> None:
    """Where a scenario began while what the one before had made was still going: play
    that one first, and clean up as the recorder did.
    """
    before = scenario_before(recording, scenario)
    if not before:
        return
    exchanges = recording.exchanges(before)
    await run_scenario(target, derive(before, exchanges))
    for path in unrecorded_clean_up(exchanges):
        await target.request("DELETE", path, {"Accept": "application/json"}, b"")


async def _make_namespace(target: Responder, name: str) -> None:
    """What the recorder did before it asked: a namespace instead of `default`."""
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {LABEL: LABEL_VALUE}},
    }
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    headers["User-Agent"] = "OpenAPI-Generator/python"  # the official client's
    status, _, answer = await target.request(
        "POST", "/api/v1/namespaces", headers, json.dumps(namespace).encode()
    )
    if status != 201:
        raise InspectorError(f"namespace {name!r} cannot be made: {answer.decode()}")
    await until_furnished(target, name)


@contextlib.asynccontextmanager
async def _watching(
    target: Any, scenario: Scenario, start: float
) -> AsyncIterator[list[dict[str, Any]]]:
    """The scenario's watches, open for the length of the block, as
    `watch/<scenario>.jsonl` lines.
    """
    lines: list[dict[str, Any]] = []

    async def follow(path: str) -> None:
        async for event in target.watch(path):
            lines.append(
                {
                    "t": round(asyncio.get_running_loop().time() - start, 4),
                    "path": path,
                    "event": event,
                }
            )

    paths = scenario.watches if hasattr(target, "watch") else ()
    tasks = [asyncio.create_task(follow(path), name=f"watch {path}") for path in paths]
    if tasks:
        await asyncio.sleep(0.05)
    try:
        yield lines
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        lines.sort(key=lambda line: line["t"])
