"""Resizing on the node, held against a real kubelet: what becomes of a pod that wishes
for more, or for less, while it runs.

The real one stood in front of a container runtime of ours that takes notes. Pods came,
were resized and went, one step after the other; after each step it was written down
what their statuses say, what the runtime was told last of each container, and what the
kubelet told everybody. Ours gets the same steps, on a machine of the same size.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.kubelet.node_admission import EVICTION_HARD
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cluster.witness_runtime import POD_NAME, WitnessRuntime
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.cri.apis.container import ContainerState
from lifecycle.kubelet.cm.cpumanager.policy_static import StaticPolicy
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology
from lifecycle.kubelet.eviction.thresholds import parse_thresholds

STRATEGIC = "application/strategic-merge-patch+json"
PODS = resource("pods")
ROUND = 20.0
"""Seconds after which a kubelet has done all that it will do. Who waits is asked again
within a minute, so a pod that goes is waited for so long.
"""
TOLD = ("cpu_shares", "cpu_quota", "cpu_period", "memory_limit_in_bytes")
"""Of what the runtime is told of a container."""
REFUSAL = ("code", "reason", "message", "details")


def resized_pods_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each step. `programs`: what the real one did; None: as recorded."""
    scenes = asked(programs, "resized")
    steps = sum(len(scene.answer["steps"]) for scene in scenes)
    table = AgreementTable(
        "Pods that are resized",
        "lifecycle",
        f"{scenes[0].program}, asked directly",
        lambda table: (
            f"{steps} times a pod comes, goes, or wishes for something else. What"
            " a real kubelet promises, what it tells the runtime and everybody else,"
            f" and what ours does: {table.outcome('steps')}."
        ),
    )
    for scene in scenes:
        where = scene.question.partition("/")[2]
        ours = our_steps(scene.answer)
        for mine, step in zip(ours, scene.answer["steps"], strict=True):
            what, theirs = step["what"], step["after"]
            table.add(where, what, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(after: Object) -> str:
    if after["refusal"]["code"]:
        return f"{after['refusal']['code']} {after['refusal']['reason']}"
    said = [
        f"{name}: {condition.get('reason') or condition['type']}"
        for name, pod in after["pods"].items()
        for condition in pod["conditions"]
    ]
    return ", ".join(said) or "nothing pending"


def our_steps(scene: Object) -> list[Object]:
    """What is so after each step, with our kubelet."""

    async def play(node: OneNode) -> list[Object]:
        for made in scene["classes"]:
            await node.admin.create(resource("priorityclasses.scheduling.k8s.io"), made)
        answers: list[Object] = []
        for step in scene["steps"]:
            refusal = await _do(node, step)
            await asyncio.sleep(ROUND)
            pods = (await node.admin.list(PODS, "default"))["items"]
            events = (await node.admin.list(resource("events"), "default"))["items"]
            last = await last_told(node.runtime)
            answers.append(after(step["about"], pods, last, events, refusal))
        return told_since(answers)

    static = scene["settings"].get("cpuManagerPolicy") == "static"
    policy = StaticPolicy(CPUTopology.regular(1, 2), 1) if static else None
    return on_one_node(
        play,
        runtime=WitnessRuntime,
        dependencies={"cpu_policy": policy} if policy else {},
        capacity=scene["machine"]["capacity"],
        eviction_hard=parse_thresholds(EVICTION_HARD),
    )


async def _do(node: OneNode, step: Object) -> Object:
    """What the API server said if it refused."""
    if "pod" in step:
        await node.admin.create(PODS, step["pod"], "default")
    elif "patch" in step:
        try:
            await node.admin.patch(
                PODS,
                step["about"][0],
                "default",
                step["patch"],
                patch_type=STRATEGIC,
                subresource="resize",
            )
        except StatusError as error:
            return error.status
    else:
        await node.delete_pod(step["delete"])
    return {}


async def last_told(runtime: Any) -> dict[str, Object]:
    """What the runtime was told last of each container that runs, by pod and name."""
    told: dict[str, Object] = {}
    running = [
        (each.labels[POD_NAME], each.metadata.name)
        for each in await runtime.list_containers()
        if each.state is ContainerState.RUNNING
    ]
    for pod, name in sorted(running):
        linux = dict(runtime.container_configs[pod, name].resources)
        for call, *rest in runtime.calls:
            if call == "update" and rest[:2] == [pod, name]:
                linux |= rest[2]
        told[f"{pod}/{name}"] = {key: int(linux.get(key) or 0) for key in TOLD}
    return told


def after(
    about: Iterable[str],
    pods: list[Any],
    told: dict[str, Object],
    events: list[Any],
    refusal: Object,
) -> Object:
    """Of each pod that a step is about: what its status says, and what was told.
    `refusal`: what the API server said, if it did.
    """
    by_name = {pod["metadata"]["name"]: pod for pod in pods}
    return {
        "refusal": {key: refusal.get(key) for key in REFUSAL},
        "pods": {name: _status(by_name[name]) for name in about if name in by_name},
        "told": {
            key: linux for key, linux in told.items() if key.split("/")[0] in about
        },
        "events": counted(
            event
            for event in events
            if event["involvedObject"]["name"] in about
            and event["reason"].startswith("Resize")
        ),
    }


def counted(events: Iterable[Any]) -> dict[str, int]:
    """What was told of whom, and how often."""
    told: Counter[str] = Counter()
    for event in events:
        about, message = event["involvedObject"]["name"], event["message"].strip()
        text = f"{about}: {event['type']} {event['reason']}: {message}"
        told[text] += event["count"]
    return dict(sorted(told.items()))


def _status(pod: Object) -> Object:
    status = pod["status"]
    return {
        "phase": status["phase"],
        "qosClass": status["qosClass"],
        "conditions": [
            {key: value for key, value in each.items() if not key.startswith("last")}
            for each in status.get("conditions") or ()
            if each["type"].startswith("PodResize")
        ],
        "containers": [
            {
                key: each.get(key)
                for key in ("name", "allocatedResources", "resources", "restartCount")
            }
            for kind in ("initContainerStatuses", "containerStatuses")
            for each in status.get(kind) or ()
        ],
    }


def told_since(answers: list[Object]) -> list[Object]:
    """The same, but of events only what was told in each step, and how often."""
    known: Counter[str] = Counter()
    for each in answers:
        told: Counter[str] = Counter(each["events"])
        each["events"] = dict(told - known)
        known |= told
    return answers
