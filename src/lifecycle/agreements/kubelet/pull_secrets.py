"""Pull secrets held against a real kubelet: which credentials it shows a registry, in
which order, and who may use an image that is already here.

Behind both kubelets stands the same runtime, which notes what it is shown. First it
speaks for registries that say no to everybody, so that all that fits is tried; then for
one that lets one password in.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cluster.witness_runtime import WitnessRuntime
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

TRIED = 1.0
"""Seconds in which an image has been asked for once, and not yet again."""
GONE = 0.2
TAKEN = r" in \S+ \(\S+ including waiting\)"
TOLD = (
    "Pulling",
    "Pulled",
    "Failed",
    "ErrImageNeverPull",
    "FailedToRetrieveImagePullSecret",
)
"""Reasons of the events that belong to a pull."""


def pull_secrets_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod: what the runtime was shown, what became of the container,
    and what was told. `programs`: what the real one did; None: as recorded.
    """
    pods = [each for about in ("shown", "used") for each in asked(programs, about)]
    furniture = asked(programs, "secrets")[0].answer
    table = AgreementTable(
        "Pull secrets",
        "lifecycle",
        f"{pods[0].program}, asked directly",
        lambda table: (
            f"{len(pods)} pods want images, most of them with pull secrets. Which"
            " passwords the real kubelet shows the registry, in which order, and which"
            f" ours does; what becomes of the pod, and what is told:"
            f" {table.outcome('answers')}."
        ),
        telling="most specific first",
    )
    ours = our_pulls(furniture, [each.answer for each in pods])
    for each, mine in zip(pods, ours, strict=True):
        theirs = {key: each.answer[key] for key in mine}
        stage, _, what = each.question.partition("/")
        table.add(stage, what, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(answer: Object) -> str:
    shown = [
        f"{user}:{word}" if user else "nothing" for _, user, word in answer["pulls"]
    ]
    return f"{', '.join(shown) or 'not asked'} → {answer['state']}"


def our_pulls(furniture: Object, asked: list[Object]) -> list[Object]:
    """What our kubelet does with the pods, which come one after the other."""

    async def scene(node: OneNode) -> list[Object]:
        assert isinstance(node.runtime, WitnessRuntime)
        for plural in ("secrets", "serviceaccounts"):
            for each in furniture[plural]:
                await node.admin.create(resource(plural), each, "default")
        answers = []
        for each in asked:
            node.runtime.images.private = {
                place: (user, word) for place, (user, word) in each["private"].items()
            }
            for secret in each["secrets"]:
                await _put(node, secret)
            answers.append(await _pulled(node, node.runtime, each["pod"]))
        return answers

    return on_one_node(scene, runtime=WitnessRuntime)


async def _put(node: OneNode, secret: Object) -> None:
    """Make it, or make it so."""
    kind, name = resource("secrets"), secret["metadata"]["name"]
    there = await node.admin.list(kind, "default")
    if any(each["metadata"]["name"] == name for each in there["items"]):
        await node.admin.patch(kind, name, "default", {"data": secret["data"]})
    else:
        await node.admin.create(kind, secret, "default")


async def _pulled(node: OneNode, runtime: WitnessRuntime, pod: Object) -> Object:
    runtime.calls.clear()
    name = pod["metadata"]["name"]
    await node.admin.create(resource("pods"), pod, "default")
    await asyncio.sleep(TRIED)
    status = (await node.pod(name))["status"]
    events = (await node.admin.list(resource("events"), "default"))["items"]
    await node.delete_pod(name, GONE)
    return {
        "pulls": [list(each[1:]) for each in runtime.calls if each[0] == "pull"],
        "state": container_state(status),
        "events": told([e for e in events if e["involvedObject"]["name"] == name]),
    }


def container_state(status: Object) -> str:
    """Of a pod's only container: why it waits, or which state it is in. Whether the
    kubelet has begun to back off is a matter of the moment.
    """
    [entry] = status["containerStatuses"]
    [(kind, details)] = entry["state"].items()
    reason = str(details.get("reason", kind)) if kind == "waiting" else str(kind)
    if reason in ("ErrImagePull", "ImagePullBackOff"):
        return "ErrImagePull"
    return ": ".join(filter(None, (reason, details.get("message", ""))))


def told(events: list[Any]) -> list[Any]:
    """Type, reason and message of those that belong to a pull; how long one took is
    another time's affair.
    """
    texts = {
        (each["type"], each["reason"], re.sub(TAKEN, " in TIME", each["message"]))
        for each in events
        if each["reason"] in TOLD and each["message"] != "Error: ImagePullBackOff"
    }
    return [list(each) for each in sorted(texts)]
