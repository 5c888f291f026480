"""The claims about binding: put to the recorded requests and pods, and to our binder
and registry.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lifecycle.agreements.own_server import own_server
from lifecycle.agreements.recorded_journey import RecordedJourney
from lifecycle.agreements.scheduler.binding import NODES, PODS, binding_request
from lifecycle.agreements.scheduler.scheduling import pods_of
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, every, rebuilt
from lifecycle.inspector import InspectorError, Recording


@cache
def sent(recording: Recording) -> list[Object] | None:
    """The recorded binding requests; None where no audit log was kept."""
    try:
        return RecordedJourney(recording).requests("kube-scheduler", part="/binding")
    except InspectorError:
        return None


@cache
def _bound() -> tuple[Object, Object]:
    """A pod of ours before and after a binding with a label and an annotation of its
    own.
    """

    async def main() -> tuple[Object, Object]:
        async with own_server() as server:
            return await _bind_one(Client(server, "t"))

    return on_virtual_time(main())


async def _bind_one(client: Client) -> tuple[Object, Object]:
    labels = {"topology.kubernetes.io/zone": "z"}
    node = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": "n", "labels": labels},
    }
    await client.create(NODES, node)
    account = {
        "kind": "ServiceAccount",
        "apiVersion": "v1",
        "metadata": {"name": "default"},
    }
    await client.create(resource("serviceaccounts"), account, "default")
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    before = await client.create(PODS, pod, "default")
    binding = {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {
            "name": "p",
            "uid": before["metadata"]["uid"],
            "annotations": {"a": "1"},
            "labels": {"l": "1"},
        },
        "target": {"kind": "Node", "name": "n"},
    }
    await client.create(PODS, binding, "default", name="p", subresource="binding")
    return before, await client.get(PODS, "p", "default")


def _request() -> list[Any]:
    return on_virtual_time(
        binding_request({"name": "p", "namespace": "d", "uid": "u"}, "n")
    )


@check("binding-carries-pod-name-and-uid")
def name_and_uid(recording: Recording) -> bool | None:
    """Each of them."""
    requests = sent(recording)
    if requests is None:
        return None
    pairs = [(e["objectRef"], e["requestObject"]["metadata"]) for e in requests]
    return every(
        (path["name"], path["uid"]) == (sent["name"], sent["uid"])
        for path, sent in pairs
    )


@rebuilt("binding-carries-pod-name-and-uid")
def name_and_uid_here() -> bool:
    """Our binder's."""
    meta = _request()[1]["metadata"]
    return bool(meta["name"] == "p" and meta["uid"] == "u")


@check("binding-target-names-the-node")
def target(recording: Recording) -> bool | None:
    """A node, by name: the very one on which the pod was seen afterwards."""
    requests = sent(recording)
    if requests is None:
        return None
    landed = {
        pod["metadata"]["uid"]: {"kind": "Node", "name": pod["spec"]["nodeName"]}
        for line in recording.watch("journey")
        if line["path"].partition("?")[0].endswith("/pods")
        and (pod := line["event"]["object"]).get("spec", {}).get("nodeName")
    }
    bindings = [event["requestObject"] for event in requests]
    return every(
        binding["target"] == landed[binding["metadata"]["uid"]] for binding in bindings
    )


@rebuilt("binding-target-names-the-node")
def target_here() -> bool:
    """Our binder's."""
    return bool(_request()[1]["target"] == {"kind": "Node", "name": "n"})


@check("binding-posted-to-api-server")
def posted(recording: Recording) -> bool | None:
    """Every one is a `create` of the subresource, and is answered 201."""
    requests = sent(recording)
    return (
        None
        if requests is None
        else {(e["verb"], e["responseStatus"]["code"]) for e in requests}
        == {("create", 201)}
    )


@rebuilt("binding-posted-to-api-server")
def posted_here() -> bool:
    """Our binder's method and path."""
    path, _, method = _request()
    return bool((method, path) == ("POST", "/api/v1/namespaces/d/pods/p/binding"))


@check("binding-sets-node-name-on-pod")
def node_name(recording: Recording) -> bool:
    """No recorded pod was posted with a node; many have one then."""
    pairs = list(pods_of(recording))
    return not any(p["spec"].get("nodeName") for p, _ in pairs) and any(
        s["spec"].get("nodeName") for _, s in pairs
    )


@rebuilt("binding-sets-node-name-on-pod")
def node_name_here() -> bool:
    """Our registry's."""
    before, after = _bound()
    return (before["spec"].get("nodeName"), after["spec"].get("nodeName")) == (
        None,
        "n",
    )


@rebuilt("binding-merges-annotations-into-pod")
def merges_annotations() -> Partly:
    """They are; but labels are, too, the node's zone among them."""
    meta = _bound()[1]["metadata"]
    merged = (meta.get("annotations") or {}).get("a") == "1"
    return Partly(
        merged, meta.get("labels") == {"l": "1", "topology.kubernetes.io/zone": "z"}
    )


@check("binding-sets-podscheduled-condition")
def condition(recording: Recording) -> bool:
    """Of every recorded pod that has a node."""
    bound = [
        settled for _, settled in pods_of(recording) if settled["spec"].get("nodeName")
    ]
    return bool(bound) and all(_scheduled(pod) for pod in bound)


@rebuilt("binding-sets-podscheduled-condition")
def condition_here() -> bool:
    """Of ours: not before, but after."""
    before, after = _bound()
    return not _scheduled(before) and _scheduled(after)


def _scheduled(pod: Object) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(
        c["type"] == "PodScheduled" and c["status"] == "True" for c in conditions
    )
