"""A kubelet whose runtime fails, held against a real one: no sandbox, a container that
cannot be made, one that cannot be started.

Behind both kubelets stands the same runtime, which fails as the scene says. What is
compared is what others see: the reasons for which containers wait, the phase in the
end, and the events.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cluster.witness_runtime import WitnessRuntime
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.field_rules import EventCount
from lifecycle.compare.program_answers import ProgramAnswers

PLAYED, STEP = 26.0, 0.2
TOLD = ("FailedCreatePodSandBox", "Failed", "BackOff", "Started")


def troubled_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod. `programs`: what the real one did; None: as recorded."""
    pods = asked(programs, "troubled")
    table = AgreementTable(
        "A runtime that fails",
        "lifecycle",
        f"{pods[0].program}, asked directly",
        lambda table: (
            f"{len(pods)} pods on a node whose runtime fails at one step or another."
            " What a real kubelet says of them while it tries again, and what ours"
            f" says: {table.outcome('pods')}."
        ),
    )
    ours = on_one_node(
        lambda node: _play(node, [each.answer for each in pods]), runtime=WitnessRuntime
    )
    for each in pods:
        what = each.question.partition("/")[2]
        mine, theirs = ours[what], each.answer["seen"]
        count = len(each.answer["pod"]["spec"]["containers"])
        result = compare(_by_turns(mine, count), _by_turns(theirs, count))
        table.add("failures", what, _short(mine), _short(theirs), result)
    return table


def _by_turns(seen: Object, containers: int) -> Object:
    """With counts, of each of so many containers, that may differ by as much as those
    of real kubelets do, which wait for up to half a time longer between two turns.
    """
    counts = {
        text: EventCount().told(count // containers, text.split()[1][:-1])
        for text, count in seen["events"].items()
    }
    return {**seen, "events": counts}


def _short(seen: Object) -> str:
    reasons = [each["reason"] for each in seen["waiting"]]
    return ", ".join(dict.fromkeys([*reasons, seen["phase"]]))


def failures(cases: list[Object]) -> dict[tuple[str, str], str]:
    """What goes wrong, as a runtime is told."""
    return {
        (case["fails"][0], case["pod"]["metadata"]["name"]): case["fails"][1]
        for case in cases
        if case["fails"]
    }


async def _play(node: OneNode, cases: list[Object]) -> dict[str, Object]:
    assert isinstance(node.runtime, WitnessRuntime)
    node.runtime.fails = failures(cases)
    for case in cases:
        await node.admin.create(resource("pods"), case["pod"], "default")
    seen: dict[str, list[Object]] = {
        case["pod"]["metadata"]["name"]: [] for case in cases
    }
    for _ in range(int(PLAYED / STEP)):
        await asyncio.sleep(STEP)
        for name, history in seen.items():
            history.append(await node.pod(name))
    events = (await node.admin.list(resource("events"), "default"))["items"]
    return {name: told(name, history, events) for name, history in seen.items()}


def told(name: str, history: list[Object], events: list[Any]) -> Object:
    """Of a pod that was looked at again and again: for what its containers waited in
    the second half of the time, its phase in the end, and what was said of it, how
    often.
    """
    waiting: list[Object] = []
    for pod in history[len(history) // 2 :]:
        for status in pod["status"].get("containerStatuses") or ():
            why = status["state"].get("waiting")
            if why and _plain(why, pod) not in waiting:
                waiting.append(_plain(why, pod))
    last, counts = history[-1], Counter[str]()
    for event in events:
        if event["involvedObject"]["name"] == name and event["reason"] in TOLD:
            message = _without(event["message"].strip(), last)
            text = f"{event['type']} {event['reason']}: {message}"
            counts[text] += event["count"]
    return {
        "waiting": sorted(waiting, key=lambda why: (why["reason"], why["message"])),
        "phase": last["status"]["phase"],
        "events": dict(sorted(counts.items())),
    }


def _plain(why: Mapping[str, str], pod: Object) -> Object:
    message = _without(why.get("message", ""), pod)
    return {"reason": why["reason"], "message": message}


def _without(text: str, pod: Object) -> str:
    """Names for what is another one each time."""
    meta = pod["metadata"]
    return text.replace(meta["uid"], "UID").replace(f"_{meta['namespace']}(", "_NS(")
