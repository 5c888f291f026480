"""One Deployment's life: rehearsed, and as it was recorded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cache

from lifecycle.agreements.claim_checks.played_deployments import (
    a_deployment,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.tracing import Span, listening
from lifecycle.cluster.rehearsal import Asked, RehearsedCluster, rehearse
from lifecycle.inspector import Recording

DEPLOYMENTS, SETS = resource("deployments.apps"), resource("replicasets.apps")
HASH, REVISION = "pod-template-hash", "deployment.kubernetes.io/revision"
CONTROLLER = "deployment-controller"


@dataclass(slots=True)
class Life:
    """What one rehearsed Deployment went through."""

    first: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    created: Object = field(default_factory=dict)
    after_scale: int = 0
    scaled_to: int = 0
    after_image: int = 0
    scalings: list[str] = field(default_factory=list)
    after_loss: int = 0
    asked: list[Asked] = field(default_factory=list)
    idle: int = 0
    looks: int = 0
    overdue: list[str] = field(default_factory=list)
    kept: int = 0


@cache
def life() -> Life:
    """Created, scaled, changed, robbed of its ReplicaSet, stuck."""
    seen = Life()

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")

        async def sets(name: str = "web") -> list[Object]:
            return [
                s
                for s in await cluster.items("replicasets.apps")
                if s["metadata"]["labels"]["app"] == name
            ]

        await client.create(DEPLOYMENTS, a_deployment(), "default")
        await asyncio.sleep(10)
        seen.first, seen.pods = await sets(), await cluster.items("pods")
        seen.created = await client.get(DEPLOYMENTS, "web", "default")
        seen.asked = cluster.requests(CONTROLLER)
        await client.patch(DEPLOYMENTS, "web", "default", {"spec": {"replicas": 5}})
        await asyncio.sleep(10)
        seen.after_scale = len(await sets())
        seen.scaled_to = sum(s["spec"]["replicas"] for s in await sets())
        change = {
            "spec": {"template": a_deployment(image="nginx:1.28")["spec"]["template"]}
        }
        await client.patch(DEPLOYMENTS, "web", "default", change)
        await asyncio.sleep(30)
        seen.scalings = [
            event["message"]
            for event in await cluster.items("events")
            if event["reason"] == "ScalingReplicaSet"
        ]
        seen.after_image = len(await sets())
        for newest in [s for s in await sets() if s["spec"]["replicas"]]:
            await client.delete(
                SETS, newest["metadata"]["name"], "default", propagation="Orphan"
            )
        await asyncio.sleep(10)
        seen.after_loss = sum(1 for s in await sets() if s["spec"]["replicas"] == 5)
        await client.create(
            DEPLOYMENTS,
            a_deployment(
                "stuck",
                "registry.invalid/x:1",
                revisionHistoryLimit=0,
                progressDeadlineSeconds=200,
            ),
            "default",
        )
        await asyncio.sleep(60)
        before, looks = len(cluster.requests(CONTROLLER)), list[Span]()
        with listening(looks.append):
            await asyncio.sleep(100)
        seen.idle = len(cluster.requests(CONTROLLER)) - before
        seen.looks = sum(
            span.attributes.get("key") == "default/stuck" for span in looks
        )
        for seconds in (35, 15):  # just before it is over, and just after
            await asyncio.sleep(seconds)
            stuck = await client.get(DEPLOYMENTS, "stuck", "default")
            seen.overdue += [
                c["reason"]
                for c in (stuck.get("status") or {}).get("conditions") or ()
                if c["type"] == "Progressing"
            ]
        change = {"spec": {"template": a_deployment("stuck")["spec"]["template"]}}
        await client.patch(DEPLOYMENTS, "stuck", "default", change)
        await asyncio.sleep(60)
        seen.kept = len(await sets("stuck"))

    rehearse(scene)
    return seen


@cache
def journey(recording: Recording) -> tuple[list[Object], list[Object]]:
    """Every state of the recorded Deployment and of its ReplicaSets, in order."""
    states: dict[str, list[Object]] = {"deployments": [], "replicasets": []}
    for line in recording.watch("journey"):
        kind, event = line["path"].partition("?")[0].rpartition("/")[2], line["event"]
        if kind in states and event.get("type") in ("ADDED", "MODIFIED"):
            states[kind].append(event["object"])
    return states["deployments"], states["replicasets"]
