"""Claims about the Service: where it can be reached from, when it is made, and which
way its request goes.
"""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache
from typing import Any

from lifecycle.api.http.wire import MASTERS, Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.resources import resource
from lifecycle.api.tracing import Span, listening
from lifecycle.cluster.command_line import type_line
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare.claims import check, rebuilt
from lifecycle.inspector import InspectorError, Recording
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.walk import ACCEPT, Node, Packet, outcomes

ONE_LINER = "run n --image=nginx --port=80 --expose"
STRANGER, NODE = "203.0.113.7", "172.19.0.2"


@check("services-exposed-to-outside-world")
def exposed_outside(recording: Recording) -> bool | None:
    """What `kubectl run --expose` generates names no type; a Service that names none
    became one with an inner address only.
    """
    text = recording.text("kubectl/dry-run/run-expose.txt")
    service, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    if service["kind"] != "Service" or "type" in service["spec"]:
        return None
    specs = [
        exchange.response["spec"]
        for exchange in recording.exchanges("services")
        if exchange.method == "POST"
        and exchange.path.endswith("/services")
        and _plain(exchange.body["spec"])
    ]
    if not specs:
        return None
    return any(
        spec["type"] != "ClusterIP" or any("nodePort" in port for port in spec["ports"])
        for spec in specs
    )


def _plain(spec: Object) -> bool:
    return not {"type", "clusterIP", "externalIPs"} & spec.keys()


@rebuilt("services-exposed-to-outside-world")
def our_one_liner() -> bool:
    """A packet from outside to the node's port 80, and one from a pod to the Service:
    the first finds no pod.
    """
    service, rules = _typed()["service"], parse_saved(_typed()["rules"])
    machine = Node(rules, {NODE})
    inside = outcomes(machine, Packet("10.244.1.77", service["spec"]["clusterIP"], 80))
    assert {way.verdict for way in inside} == {ACCEPT}
    assert all(way.packet.rewritten for way in inside)
    outside = outcomes(machine, Packet(STRANGER, NODE, 80))
    doors = rules["nat"]["KUBE-NODEPORTS"]
    return bool(doors) or any(way.packet.rewritten for way in outside)


@lru_cache(maxsize=1)
def _typed() -> dict[str, Any]:
    """The one-liner, typed at our cluster: the Service, the rules of a node, the pod's
    status at once and later.
    """

    async def scene(cluster: RehearsedCluster) -> dict[str, Any]:
        assert cluster.proxies is not None
        typed = await type_line(
            ONE_LINER, cluster.client("kubectl").transport, namespace="default"
        )
        assert typed.code == 0, typed.err
        [service] = [
            item
            for item in await cluster.items("services")
            if item["metadata"]["name"] == "n"
        ]
        before = (
            await cluster.client("audience").get(resource("pods"), "n", "default")
        )["status"]
        await asyncio.sleep(10)
        after = (
            await cluster.client("audience").get(resource("pods"), "n", "default")
        )["status"]
        rules = await cluster.proxies.iptables_save("lifecycle-worker")
        return {"service": service, "before": before, "after": after, "rules": rules}

    return rehearse(scene, container_latency=0.2)


@check("services-created-after-kubelet-deploys")
def created_last(recording: Recording) -> bool | None:
    """When the recorded Service was made, and when the containers behind it started."""
    if "kubelet" not in recording.scenarios():  # no kubelet ran: nothing was deployed
        return None
    answers = {
        e.path: e.response
        for e in recording.exchanges("services")
        if e.method == "GET" and e.status == 200
    }
    [service] = [
        item
        for item in answers["/api/v1/namespaces/svc/services"]["items"]
        if item["metadata"]["name"] == "web"
    ]
    started = [
        parse_time(status["state"]["running"]["startedAt"])
        for pod in answers["/api/v1/namespaces/svc/pods"]["items"]
        if pod["metadata"]["labels"].get("app") == "web"
        for status in pod["status"]["containerStatuses"]
    ]
    return parse_time(service["metadata"]["creationTimestamp"]) > min(started)


@rebuilt("services-created-after-kubelet-deploys")
def our_order() -> bool:
    """When kubectl has made both, no container of the pod has been started; later one
    has.
    """
    seen = _typed()
    assert seen["after"]["phase"] == "Running"
    return bool(
        seen["before"].get("phase", "Pending") != "Pending"
        or seen["before"].get("containerStatuses")
    )


@check("services-request-repeats-full-pipeline")
def whole_pipeline(recording: Recording) -> bool | None:
    """Two audit ids, each from receipt to answer, each authorized, and each with a key
    of its own in etcd.
    """
    try:
        events = list(recording.audit("journey"))
        keys = recording.text("etcd/keys.txt")
    except InspectorError:
        return None
    done = {}
    for event in events:
        ref = event.get("objectRef") or {}
        if (
            event["verb"] == "create"
            and event["stage"] == "ResponseComplete"
            and "kubectl" in event["userAgent"]
        ):
            done[ref["resource"]] = event
    both = [done["deployments"], done["services"]]
    authorized = [
        event["annotations"]["authorization.k8s.io/decision"] == "allow"
        for event in both
    ]
    known = [event["user"]["username"] != "" for event in both]
    stored = "/registry/services/specs/" in keys and "/registry/deployments/" in keys
    return (
        len({event["auditID"] for event in both}) == 2
        and all(authorized)
        and all(known)
        and stored
    )


@rebuilt("services-request-repeats-full-pipeline")
def our_pipeline() -> bool:
    """The spans of two requests, each with a client certificate: every stage twice, and
    a key for each.
    """

    async def scene(cluster: RehearsedCluster) -> list[Span]:
        spans: list[Span] = []
        target, headers = (
            HandlerTarget(cluster.server, ("admin", (MASTERS,))),
            {"Content-Type": "application/json"},
        )
        labels, container = {"app": "n"}, {"name": "n", "image": "nginx"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        deployment = {"metadata": {"name": "n"}, "spec": spec}
        service = {"metadata": {"name": "n"}, "spec": {"ports": [{"port": 80}]}}
        with listening(spans.append):
            for group, body in (("apis/apps", deployment), ("api", service)):
                path = (
                    f"/{group}/v1/namespaces/default/"
                    f"{'services' if body is service else 'deployments'}"
                )
                status, _, answer = await target.request(
                    "POST", path, headers, json.dumps(body).encode()
                )
                assert status == 201, answer
        return spans

    spans = rehearse(scene, without=("kubelet", "scheduler", "controllers"))
    passed = [sum(span.name == stage for span in spans) for stage in PIPELINE]
    keys = {span.attributes.get("key") for span in spans if span.name == "txn"}
    return (
        min(passed) >= 2
        and {"/registry/services/specs/default/n", "/registry/deployments/default/n"}
        <= keys
    )


PIPELINE = (
    "authentication",
    "authorization",
    "mutating admission",
    "validation",
    "validating admission",
    "storage",
)
