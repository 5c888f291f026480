"""Binding held against two recordings: what the scheduler sent in the journey, and what
bindings did to the pods of *scheduling*.

The audit log has each request whole, so ours is laid beside it. What the server then
does shows in the pods: each is posted to a server of ours with the recorded nodes,
bound where it was really bound, and what changed between *posted* and *bound* is
compared: the node, the labels that came with it, annotations, and the condition.
"""

from __future__ import annotations

from typing import Any

from lifecycle.agreements.own_server import own_server
from lifecycle.agreements.recorded_journey import RecordedJourney
from lifecycle.agreements.scheduler.scheduling import noted, pods_of
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Recording
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.plugins.default_binder import DefaultBinder

PODS, NODES = resource("pods"), resource("nodes")


def binding_agreement(recording: Recording) -> AgreementTable:
    """One row per recorded request, one per bound pod."""
    table = AgreementTable(
        "Binding",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len([row for row in table.computed if row.stage == 'request'])} requests"
            " in which the real scheduler told a pod its node, and"
            f" {len([row for row in table.computed if row.stage == 'effect'])} pods as"
            " the server left them: ours sends the same, and ours writes the same;"
            f" {table.outcome('rows')}."
        ),
    )
    for event in RecordedJourney(recording).requests(
        "kube-scheduler", "create", "/binding"
    ):
        theirs = event["requestObject"]
        ours = on_virtual_time(
            binding_request(theirs["metadata"], theirs["target"]["name"])
        )[:2]
        name = theirs["metadata"]["name"]
        table.add(
            "request",
            name,
            ours[0],
            event["requestURI"],
            compare(ours, [event["requestURI"], theirs], path=f"/{name}"),
        )
    pods = [
        (posted, bound)
        for posted, bound in pods_of(recording)
        if bound["spec"].get("nodeName")
    ]
    changes = on_virtual_time(
        bound_again(noted(recording, "nodes as the scheduler sees them"), pods)
    )
    for (posted, bound), changed in zip(pods, changes, strict=True):
        name, theirs = posted["metadata"]["name"], _difference(posted, bound)
        table.add(
            "effect",
            name,
            _in_words(changed),
            _in_words(theirs),
            compare(changed, theirs, path=f"/{name}"),
        )
    return table


class _Listening:
    """A transport that answers nothing and keeps what it is asked."""

    def __init__(self) -> None:
        self.request: list[Any] = []

    async def round_trip(self, request: Request) -> Response:
        """Keep it."""
        self.request = [request.path, request.obj, request.method]
        return Response(status=201, obj={})

    async def close(self) -> None:
        """Nothing to close."""


async def binding_request(metadata: Object, node: str) -> list[Any]:
    """What our binder sends for a pod: path, object, method."""
    transport = _Listening()
    binder = DefaultBinder(Client(transport, "scheduler"))
    await binder.bind(CycleState(), {"metadata": metadata}, node)
    return transport.request


async def bound_again(
    nodes: list[Object], pods: list[tuple[Object, Object]]
) -> list[Object]:
    """What a binding changes, for each pod, on a server of ours with these nodes."""
    async with own_server() as server:
        client = Client(server, "t")
        for node in nodes:
            meta = {
                "name": node["metadata"]["name"],
                "labels": node["metadata"]["labels"],
            }
            await client.create(
                NODES, {"kind": "Node", "apiVersion": "v1", "metadata": meta}
            )
        namespace = pods[0][0]["metadata"]["namespace"]
        for kind, name in (("Namespace", namespace), ("ServiceAccount", "default")):
            body = {"kind": kind, "apiVersion": "v1", "metadata": {"name": name}}
            plural = f"{kind.lower()}s"
            await client.create(
                resource(plural), body, namespace if kind == "ServiceAccount" else ""
            )
        done = []
        for posted, bound in pods:
            meta = {
                k: v
                for k, v in posted["metadata"].items()
                if k in ("name", "namespace", "labels", "annotations")
            }
            drop = ("schedulingGates", "priorityClassName", "priority")
            spec = {
                key: value for key, value in posted["spec"].items() if key not in drop
            }
            body = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec}
            before = await client.create(PODS, body, namespace)
            node_name = bound["spec"]["nodeName"]
            status = await DefaultBinder(client).bind(CycleState(), before, node_name)
            if status is not None:
                raise status.as_error()
            done.append(
                _difference(
                    before,
                    await client.get(PODS, before["metadata"]["name"], namespace),
                )
            )
        return done


def _difference(before: Object, after: Object) -> Object:
    """What a binding can change."""
    change: Object = {"nodeName": after["spec"].get("nodeName")}
    for name in ("labels", "annotations"):
        old = before["metadata"].get(name) or {}
        change[name] = {
            k: v
            for k, v in (after["metadata"].get(name) or {}).items()
            if old.get(k) != v
        }
    conditions = (after.get("status") or {}).get("conditions") or ()
    change["condition"] = next(
        (
            {k: v for k, v in c.items() if k in ("type", "status", "reason")}
            for c in conditions
            if c["type"] == "PodScheduled"
        ),
        None,
    )
    return change


def _in_words(change: Object) -> str:
    labels = ", ".join(
        f"{key.rpartition('/')[2]}={value}" for key, value in change["labels"].items()
    )
    return f"{change['nodeName']} {labels}".strip()
