"""The claims with which the articles end: what is there when all is done, and what is
not there yet before the kubelet acts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache

from lifecycle.api.http.wire import Object
from lifecycle.cluster.command_line import type_line
from lifecycle.cluster.rehearsal import Asked, RehearsedCluster, rehearse
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.inspector.transcript import parse_transcript

WORKLOADS = ("deployments.apps", "replicasets.apps", "pods")
COMMAND = "create deployment nginx --image=nginx --replicas=3"
STORED = {"deployments.apps": 1, "replicasets.apps": 1, "pods": 3}


async def _type(cluster: RehearsedCluster, line: str) -> int:
    typed = await type_line(
        line, cluster.client("kubectl").transport, namespace="default"
    )
    await asyncio.sleep(30)
    return typed.code


@cache
def _after(line: str) -> dict[str, list[Object]]:
    async def scene(cluster: RehearsedCluster) -> dict[str, list[Object]]:
        await _type(cluster, line)
        return {name: await cluster.items(name) for name in WORKLOADS}

    return rehearse(scene)


def _count(objects: dict[str, list[Object]]) -> dict[str, int]:
    return {name: len(items) for name, items in objects.items()}


@rebuilt("wrap-up-one-command-three-pods")
def one_command() -> Partly:
    """`create deployment --replicas=3` does; the articles' `run --replicas=3` is
    refused.
    """
    return Partly(
        _count(_after(COMMAND)) == STORED,
        _count(_after("run nginx --image=nginx --replicas=3"))["pods"] != 3,
    )


@check("wrap-up-one-command-three-pods")
def one_recorded_command(recording: Recording) -> Partly:
    """The same two lines, as recorded kubectls took them."""
    [deployment] = parse_transcript(
        recording.kubectl("dry-run/create-deployment")
    ).objects
    seed = parse_transcript(recording.kubectl("dry-run/run-seed")).objects
    return Partly(
        deployment["spec"]["replicas"] == 3,
        not any(obj.get("spec", {}).get("replicas") == 3 for obj in seed),
    )


@rebuilt("wrap-up-objects-in-store")
def objects_in_store() -> bool:
    """What had been created, and not refused, when the last of the three bindings was
    made.
    """
    asked = _all_asked()
    bindings = [
        number
        for number, one in enumerate(asked)
        if one.path.endswith("/binding") and one.status == 201
    ]
    if len(bindings) != 3:
        return False
    created = Counter(
        one.path.rpartition("/")[2]
        for one in asked[: bindings[-1]]
        if one.method == "POST" and one.status == 201
    )
    return {name: created[name.partition(".")[0]] for name in WORKLOADS} == STORED


@cache
def _all_asked() -> list[Asked]:
    """What everybody asked of the API server from the command to the end."""
    return rehearse(_asked)


async def _asked(cluster: RehearsedCluster) -> list[Asked]:
    before = len(cluster.asked)
    await _type(cluster, COMMAND)
    return cluster.asked[before:]


@check("wrap-up-objects-in-store")
def recorded_objects(recording: Recording) -> bool | None:
    """What the audit log had stored when the third pod was bound; each request had been
    authorized.
    """
    bound = _bindings(recording)
    if bound is None:
        return None
    last = max(event["stageTimestamp"] for event in bound[:3])
    stored = Counter(
        event["objectRef"]["resource"]
        for event in _finished(recording)
        if event["verb"] == "create"
        and event["responseStatus"]["code"] == 201
        and not event["objectRef"].get("subresource")
        and event["stageTimestamp"] <= last
        and event["annotations"]["authorization.k8s.io/decision"] == "allow"
    )
    return {name: stored[name] for name in ("deployments", "replicasets", "pods")} == {
        "deployments": 1,
        "replicasets": 1,
        "pods": 3,
    }


@rebuilt("wrap-up-each-pod-assigned-to-suitable-node")
def each_pod_has_a_node() -> bool:
    """A node for each, and not the tainted one."""
    nodes = [pod["spec"].get("nodeName") for pod in _after(COMMAND)["pods"]]
    return len(nodes) == 3 and all(
        name and "control-plane" not in name for name in nodes
    )


@check("wrap-up-each-pod-assigned-to-suitable-node")
def each_recorded_pod_has_a_node(recording: Recording) -> bool | None:
    """The journey's pods after the create."""
    for exchange in recording.exchanges("journey"):
        if exchange.moment == "after create" and exchange.path.partition("?")[
            0
        ].endswith("/journey/pods"):
            nodes = [
                pod["spec"].get("nodeName", "") for pod in exchange.response["items"]
            ]
            return len(nodes) == 3 and all(
                name and "control-plane" not in name for name in nodes
            )
    return None


@rebuilt("wrap-up-only-in-etcd-until-kubelet-acts")
def only_in_etcd() -> bool:
    """No kubelet's word about a pod comes before its binding, and what is stored until
    then speaks of no container.
    """
    asked, bound, heard = _all_asked(), set[str](), set[str]()
    for one in asked:
        pod = one.path.partition("/pods/")[2].partition("/")[0]
        if one.path.endswith("/binding"):
            bound.add(pod)
        elif one.path.endswith("/status") and pod:
            heard.add(pod)
            if pod not in bound:
                return False
    created = [
        one.body for one in asked if one.method == "POST" and one.path.endswith("/pods")
    ]
    return len(heard) == len(created) == 3 and not any(
        (pod.get("status") or {}).get("containerStatuses") for pod in created
    )


@check("wrap-up-only-in-etcd-until-kubelet-acts")
def nothing_before_the_kubelet(recording: Recording) -> bool | None:
    """The first thing a recorded kubelet said of each pod came after its binding, and
    spoke of containers that do not run yet.
    """
    bound = _bindings(recording)
    if bound is None:
        return None
    times = {event["objectRef"]["name"]: event["stageTimestamp"] for event in bound}
    seen: set[str] = set()
    for event in _finished(recording):
        reference = event["objectRef"]
        if reference["resource"] == "pods" and event["user"]["username"].startswith(
            "system:node:"
        ):
            name = reference["name"]
            if event["verb"] == "patch" and name in times and name not in seen:
                seen.add(name)
                if event["requestReceivedTimestamp"] < times[name]:
                    return False
    return bool(seen)


@cache
def _finished(recording: Recording) -> list[Object]:
    return [
        event
        for event in recording.audit("journey")
        if event["stage"] == "ResponseComplete"
    ]


def _bindings(recording: Recording) -> list[Object] | None:
    if not (recording.path / "audit").is_dir():
        return None
    return [
        e
        for e in _finished(recording)
        if e["objectRef"].get("subresource") == "binding" and e["verb"] == "create"
    ]
