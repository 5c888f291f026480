"""Probes held against a real kubelet: containers that answer by a script, and what
becomes of them.

Behind both kubelets stands the same runtime, in which a command in a container ends as
the scene says. Each probe asks once a second. What is compared is what others see of
it: ready, started, restarted, in the order in which it came; and after how many
questions of one kind a container was ended.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cluster.witness_runtime import WitnessRuntime
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.cri.apis.streams import ExecSyncResponse

PLAYED = 18.0
STEP = 0.1
READINESS = "readiness"
TOLD = ("Unhealthy", "Killing")


class Script:
    """What the probes of pods answer: exit codes by pod and kind, one after the other,
    the last one for ever. A new container begins anew.
    """

    def __init__(self, pods: dict[str, dict[str, list[int]]]) -> None:
        self._pods = pods
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._noes: Counter[tuple[str, str]] = Counter()

    def __call__(
        self, pod: str, command: tuple[str, ...], attempt: int
    ) -> ExecSyncResponse:
        kind = command[-1]
        codes = self._pods[pod][kind]
        key = pod, kind, attempt
        code = codes[min(self._counts[key], len(codes) - 1)]
        self._counts[key] += 1
        self._noes[pod, kind] += code != 0
        return ExecSyncResponse(code)

    def noes(self, pod: str) -> dict[str, int]:
        """How often each probe of a pod answered no."""
        return {kind: self._noes[pod, kind] for kind in self._pods[pod]}

    def before_the_end(self, pod: str, ended: bool) -> dict[str, int]:
        """How often each probe that can end a container asked the first one; nothing if
        it has not ended.
        """
        kinds = [kind for kind in self._pods[pod] if kind != READINESS]
        return {k: self._counts[pod, k, 0] for k in kinds} if ended else {}


def probe_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod. `programs`: what the real one did; None: as recorded."""
    pods = asked(programs, "probed")
    table = AgreementTable(
        "Probes",
        "lifecycle",
        f"{pods[0].program}, asked directly",
        lambda table: (
            f"{len(pods)} containers answer their probes by a script. When a real"
            " kubelet calls each ready or started, when it ends it, and what it tells,"
            f" and when ours does: {table.outcome('answers')}."
        ),
    )
    ours = on_one_node(
        lambda node: _play(node, [each.answer for each in pods]), runtime=WitnessRuntime
    )
    for each in pods:
        what = each.question.partition("/")[2]
        mine, theirs = ours[what], each.answer["seen"]
        table.add("probes", what, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(seen: Object) -> str:
    return " → ".join(seen["states"])


async def _play(node: OneNode, cases: list[Object]) -> dict[str, Object]:
    assert isinstance(node.runtime, WitnessRuntime)
    names = [case["pod"]["metadata"]["name"] for case in cases]
    script = Script({name: c["script"] for name, c in zip(names, cases, strict=True)})
    node.runtime.says = script
    for case in cases:
        await node.admin.create(resource("pods"), case["pod"], "default")
    history: dict[str, list[Object]] = {name: [] for name in names}
    for _ in range(int(PLAYED / STEP)):
        await asyncio.sleep(STEP)
        for name in names:
            history[name].append(await node.pod(name))
    events = (await node.admin.list(resource("events"), "default"))["items"]
    return {name: seen(name, history[name], script, events) for name in names}


def seen(name: str, pods: list[Object], script: Script, events: list[Any]) -> Object:
    """What others see of a pod, which was looked at again and again: its states as long
    as its first two containers ran, in order; how often its first container was asked;
    what was told of it, and whether once each time. (What has just been answered may
    not be told yet.)
    """
    states: list[str] = []
    restarts = 0
    for pod in pods:
        for status in pod["status"].get("containerStatuses") or ():
            restarts = max(restarts, status["restartCount"])
            if "running" not in status["state"] or status["restartCount"] > 1:
                continue
            words = [
                "started" if status.get("started") else "not started",
                "ready" if status["ready"] else "not ready",
            ]
            state = f"{', '.join(words)} ({status['restartCount']})"
            if state not in states[-1:]:
                states.append(state)
    told: Counter[str] = Counter()
    for event in events:
        if event["involvedObject"]["name"] == name and event["reason"] in TOLD:
            told[f"{event['reason']}: {event['message'].strip()}"] += event["count"]
    ends = sum(count for text, count in told.items() if text.startswith("Killing: "))
    return {
        "states": states,
        "asked": script.before_the_end(name, restarts > 0),
        "told": sorted(told),
        "each no told once": {
            kind: noes - told[f"Unhealthy: {kind.capitalize()} probe failed:"] in (0, 1)
            for kind, noes in script.noes(name).items()
        },
        "each end told once": ends - restarts in (0, 1),
    }
