"""What one command costs: how many writes each component made until everything was
still again, ours beside the audit log's.

The recorded journey begins with `create deployment --replicas=3`. Everything written
from then until the next command is counted by component, verb and resource. Ours plays
the same command on virtual time, with containers that start as slowly as real ones: how
often a status is written depends on how many steps its writer can see one by one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import Asked, RehearsedCluster, rehearse
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Recording

NAMESPACE = "journey"
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
LATENCY = 0.35
"""Seconds for each step of a container's start, about as on the recorded nodes."""

Cost = tuple[str, str, str]
"""Component, verb, resource with its subresource."""


def recorded_costs(recording: Recording) -> Counter[Cost]:
    """Writes that succeeded, from the first command until the Service was created."""
    events = [
        event
        for event in recording.audit(NAMESPACE)
        if event["stage"] == "ResponseComplete"
    ]
    until = next(
        event["requestReceivedTimestamp"]
        for event in events
        if event["verb"] == "create" and event["objectRef"]["resource"] == "services"
    )
    costs: Counter[Cost] = Counter()
    for event in events:
        reference, verb = event["objectRef"], event["verb"]
        done = verb in VERBS.values() and event["responseStatus"]["code"] < 300
        if done and event["requestReceivedTimestamp"] < until:
            what = "/".join(
                filter(None, (reference["resource"], reference.get("subresource")))
            )
            costs[_component(event["user"]["username"]), verb, what] += 1
    return costs


def our_costs(
    replicas: int = 3, *, nodes: int = 3, like: Path | None = None
) -> Counter[Cost]:
    """The same of an embedded cluster, shaped like a recorded one if wanted: writes for
    one Deployment of so many pods.
    """
    return rehearse(
        lambda cluster: _scene(cluster, replicas),
        nodes=nodes,
        container_latency=LATENCY,
        like=like,
    )


async def _scene(cluster: RehearsedCluster, replicas: int) -> Counter[Cost]:
    user = cluster.client("kubernetes-admin")
    before = len(cluster.asked)
    await user.create(resource("namespaces"), {"metadata": {"name": NAMESPACE}})
    await asyncio.sleep(5)
    await user.create(resource("deployments.apps"), deployment(replicas), NAMESPACE)
    await asyncio.sleep(60)
    mine = (
        asked
        for asked in cluster.asked[before:]
        if f"/namespaces/{NAMESPACE}/" in asked.path
    )
    return Counter(
        _cost(asked) for asked in mine if asked.method in VERBS and asked.status < 300
    )


def _cost(asked: Asked) -> Cost:
    what, _, rest = asked.path.partition(f"/namespaces/{NAMESPACE}/")[2].partition("/")
    subresource = rest.partition("/")[2]
    return (
        asked.component,
        VERBS[asked.method],
        "/".join(filter(None, (what, subresource))),
    )


def _component(user: str) -> str:
    return "kubelet" if user.startswith("system:node:") else user.rpartition(":")[2]


def deployment(replicas: int) -> Object:
    """As the journey creates it, so many times."""
    labels = {"app": "nginx"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "nginx", "image": "nginx:1.27"}]},
    }
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": template,
    }
    meta = {"name": "nginx", "labels": labels}
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": meta,
        "spec": spec,
    }


def cost_agreement(recording: Recording) -> AgreementTable:
    """One row for each thing that was written by somebody."""
    table = AgreementTable(
        "What one command costs",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"`create deployment --replicas=3` made the real cluster write"
            f" {theirs.total()} times until all was still, and ours {ours.total()}"
            f" times; counted by who writes what, {table.outcome('counts')}."
        ),
    )
    ours, theirs = our_costs(like=recording.path), recorded_costs(recording)
    for component, verb, what in sorted({*ours, *theirs}):
        here, there = ours[component, verb, what], theirs[component, verb, what]
        question = f"{component}: {verb} {what}"
        table.add(
            "costs", question, f"{here}×", f"{there}×", compare(here, there, path="")
        )
    return table
