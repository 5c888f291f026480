"""What a Deployment's controller does next, held against the real one.

Somebody has set roll-outs up by hand, at every stage: a Deployment, ReplicaSets of some
sizes, and what these say of their pods. Nobody makes pods, so that stays as it is. Both
controllers do with it what they can, and then wait; what was there is gone, grown or
shrunk by then, and each step was told.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.own_server import own_server
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.controllers.deployment.deployment_controller import (
    DeploymentController,
)

DEPLOYMENTS, SETS = resource("deployments.apps"), resource("replicasets.apps")
PREFIX = "deployment.kubernetes.io"
CAUSE = "kubernetes.io/change-cause"
LABELS = {"app": "web"}
TIMES = ("lastUpdateTime", "lastTransitionTime")
APART = 1.1
"""Seconds between two ReplicaSets: the age of each, in whole seconds, is told apart."""
TOLD_AFTER = 20.0
"""Seconds in which nothing more happens, and a deadline has passed."""


def rolled_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each roll-out. `programs`: what the real controller did; None: as
    recorded.
    """
    cases = asked(programs, "rolled")
    table = AgreementTable(
        "Roll-outs set up by hand",
        "lifecycle",
        f"{cases[0].program}, asked directly",
        lambda table: (
            f"{len(cases)} roll-outs at one stage or another. How far the real"
            " controller goes on with each and ours does, which ReplicaSets are left,"
            " what the status says and what was told on the way:"
            f" {table.outcome('roll-outs')}."
        ),
    )
    ours = on_virtual_time(_played([each.answer["case"] for each in cases]))
    for mine, each in zip(ours, cases, strict=True):
        what, theirs = each.question.partition("/")[2], each.answer["after"]
        table.add("rolled", what, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(after: Object) -> str:
    return " + ".join(str(each["replicas"]) for each in after["sets"].values())


def template(image: str) -> Object:
    """Of pods that nobody makes."""
    return {
        "metadata": {"labels": LABELS},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }


def deployment(case: Object) -> Object:
    """The Deployment of a case."""
    spec = {key: value for key, value in case["spec"].items() if key != "because"}
    cause = case["spec"].get("because")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "annotations": {CAUSE: cause} if cause else {}},
        "spec": {
            "replicas": case["replicas"],
            "selector": {"matchLabels": LABELS},
            "template": template("new"),
            **spec,
        },
    }


def replica_set(case: Object, turn: int, uid: str) -> Object:
    """The ReplicaSet of a case that was made at this turn."""
    wanted = case["sets"][turn]
    sized = wanted.get("sized", case["replicas"])
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"web-{turn}",
            "labels": LABELS,
            "annotations": {
                f"{PREFIX}/desired-replicas": str(sized),
                f"{PREFIX}/max-replicas": str(sized + 1),
                f"{PREFIX}/revision": str(turn + 1),
            },
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "name": "web",
                    "uid": uid,
                    "controller": True,
                }
            ],
        },
        "spec": {
            "replicas": wanted["size"],
            "selector": {"matchLabels": LABELS},
            "template": template("new" if wanted.get("new") else f"v{turn}"),
        },
    }


def status_of_set(case: Object, turn: int) -> Object:
    """What it says of its pods."""
    wanted = case["sets"][turn]
    status = {
        "replicas": wanted["size"],
        "fullyLabeledReplicas": wanted["size"],
        "readyReplicas": wanted["available"],
        "availableReplicas": wanted["available"],
        "observedGeneration": 1,
    }
    if "conditions" in wanted:
        status["conditions"] = wanted["conditions"]
    return status


async def _played(cases: list[Object]) -> list[Object]:
    """What is there afterwards, case by case, with our controller."""
    async with own_server() as server:
        client = Client(server, "t")
        uids = []
        for number, case in enumerate(cases):
            meta = {"name": f"rolled-{number}"}
            await client.create(resource("namespaces"), {"metadata": meta})
            made = await client.create(DEPLOYMENTS, deployment(case), meta["name"])
            uids.append(made["metadata"]["uid"])
        for turn in range(max(len(case["sets"]) for case in cases)):
            for number, case in enumerate(cases):
                if turn < len(case["sets"]):
                    body = replica_set(case, turn, uids[number])
                    made = await client.create(SETS, body, f"rolled-{number}")
                    told = {**made, "status": status_of_set(case, turn)}
                    await client.update(SETS, told, subresource="status")
            await asyncio.sleep(APART)
        given: list[Object | None] = []
        for number, case in enumerate(cases):
            given.append(None)
            if "status" in case:
                made = await client.get(DEPLOYMENTS, "web", f"rolled-{number}")
                given[number] = deployment_status(case, Clock().now())
                told = {**made, "status": given[number]}
                await client.update(DEPLOYMENTS, told, subresource="status")
        informers = SharedInformerFactory(client)
        controller = DeploymentController(
            client, informers, clock=Clock(), names=NameSource(1)
        )
        informers.start()
        running = asyncio.create_task(controller.run())
        await asyncio.sleep(TOLD_AFTER)
        seen = [
            after(
                await client.get(DEPLOYMENTS, "web", room),
                (await client.list(SETS, room))["items"],
                (await client.list(resource("events"), room))["items"],
                given[number],
            )
            for number, room in enumerate(f"rolled-{n}" for n in range(len(cases)))
        ]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await informers.stop()
        return seen


def deployment_status(case: Object, now: float) -> Object:
    """What a Deployment says of itself before its controller comes."""
    progress = case["progress"]
    condition = {
        "type": "Progressing",
        "status": progress["status"],
        "reason": progress["reason"],
        "message": "as somebody says",
        "lastUpdateTime": format_time(now - progress["updated"]),
        "lastTransitionTime": format_time(now - progress["since"]),
    }
    return {**case["status"], "observedGeneration": 1, "conditions": [condition]}


def after(
    seen: Object, sets: list[Any], events: list[Any], given: Object | None
) -> Object:
    """What is left of the ReplicaSets, what the status says, and what was told, in
    order. Of times only whether they are those that were `given` before.
    """
    status = seen["status"]
    times = {each[key] for each in (given or {}).get("conditions", ()) for key in TIMES}
    conditions = [
        {key: each[key] for key in ("type", "status", "reason", "message")}
        | {key: each[key] in times for key in TIMES}
        for each in status.get("conditions") or ()
    ]
    counts = {key: value for key, value in status.items() if key != "conditions"}
    annotations = seen["metadata"].get("annotations") or {}
    return {
        "revision": annotations.get(f"{PREFIX}/revision"),
        "sets": {each["metadata"]["name"]: _set(each) for each in sets},
        "status": {**counts, "conditions": conditions},
        "told": [
            f"{event['type']} {event['reason']}: {event['message']}"
            for event in sorted(events, key=_moment)
            for _ in range(event["count"])
        ],
    }


def _set(seen: Object) -> Object:
    annotations = seen["metadata"].get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if PREFIX in key}
    return {
        "replicas": seen["spec"]["replicas"],
        "because": annotations.get(CAUSE),
        **{key.partition("/")[2]: value for key, value in sorted(kept.items())},
    }


def _moment(event: Object) -> int:
    """When it was told first, which its name says to the nanosecond."""
    return int(event["metadata"]["name"].rpartition(".")[2], 16)
