"""Which pods a ReplicaSet's controller deletes of too many: pods that somebody has made
by hand, and a controller manager with this one controller.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, Server, until
from lifecycle.agreements.controllers.chosen import GRACE, bare, counted_status
from lifecycle.api.loop.clock import parse_time

WHO = "kube-controller-manager v1.36.2"
APPS = "/apis/apps/v1/namespaces"
LONG_AGO, LATELY = "2026-01-01T00:00:00Z", "2026-11-29T00:00:00Z"
ABOUT_AS_LONG = "2026-01-09T00:00:00Z"
MONTH, TIER = 30 * 86400, {"tier": "front"}
OLDER = 20.0
"""Seconds until all pods are of about the same age."""
COST = "controller.kubernetes.io/pod-deletion-cost"
Object = dict[str, Any]
SIDECAR: Object = {"name": "s", "image": "i", "restartPolicy": "Always"}


def pod(
    node: str = "n1",
    phase: str = "Running",
    ready: str = LONG_AGO,
    cost: str = "",
    restarts: int = 0,
    of_sidecar: int = 0,
    labelled: bool = True,
) -> Object:
    """A pod; `ready`: since when, if it is; `labelled` as the template says."""
    return {
        "labelled": labelled,
        "node": node,
        "phase": phase,
        "ready": ready,
        "cost": cost,
        "restarts": restarts,
        "of_sidecar": of_sidecar,
    }


CASES: dict[str, tuple[int, list[Object], list[Object]]] = {
    "without a node": (1, [pod(), pod("", "Pending", ""), pod()], []),
    "pending": (1, [pod(ready=""), pod(phase="Pending", ready="")], []),
    "unknown": (
        1,
        [pod(ready=""), pod(phase="Unknown", ready=""), pod(ready="")],
        [],
    ),
    "not ready": (1, [pod(), pod(ready=""), pod()], []),
    "a low cost": (1, [pod(cost="5"), pod(cost="-3"), pod()], []),
    "a cost of nothing": (1, [pod(cost="1"), pod(cost="0"), pod(cost="2")], []),
    "not ready, at a high cost": (1, [pod(cost="-5"), pod(ready="", cost="100")], []),
    "two on a node": (1, [pod("n2"), pod("n1"), pod("n1", restarts=1)], []),
    "beside relatives": (1, [pod("n1"), pod("n2")], [pod("n2"), pod("n2")]),
    "beside relatives that are over": (
        1,
        [pod("n1", restarts=1), pod("n1"), pod("n2", restarts=2)],
        [pod("n2", "Failed", ""), pod("n2", "Failed", "")],
    ),
    "a low cost, on a node of its own": (
        1,
        [pod("n1"), pod("n1"), pod("n2", cost="-1")],
        [],
    ),
    "ready since lately": (1, [pod(), pod(ready=LATELY), pod()], []),
    "ready for about as long": (1, [pod(), pod(ready=ABOUT_AS_LONG)], []),
    "restarted": (1, [pod(), pod(restarts=3), pod(restarts=1)], []),
    "a restarted sidecar": (1, [pod(), pod(of_sidecar=2), pod(of_sidecar=1)], []),
    "restarted, and its sidecar": (1, [pod(restarts=1), pod(of_sidecar=9)], []),
    "ready since lately, or restarted": (1, [pod(ready=LATELY), pod(restarts=9)], []),
    "all": (3, [pod(), pod(cost="5"), pod(ready="")], []),
    "one ready since lately is left": (
        1,
        [pod(ready=""), pod(ready=LATELY), pod()],
        [],
    ),
    "a label less": (1, [pod(), pod(labelled=False), pod(restarts=1)], []),
    "one that is over": (
        1,
        [pod(), pod(restarts=1), pod(phase="Succeeded", ready="")],
        [],
    ),
    "five of nine": (
        5,
        [
            pod(cost="9"),
            pod("n2", restarts=4),
            pod("n2"),
            pod("n3", "Pending", ""),
            pod("n3", ready=""),
            pod("n3", ready=LATELY),
            pod("", "Pending", ""),
            pod("n2", cost="-2"),
            pod("n1", of_sidecar=1),
        ],
        [pod("n3"), pod("n3")],
    ),
}
"""How many are too many, the ReplicaSet's pods, and those of another one that belongs
to the same owner.
"""


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it. No controller manager runs before, and none afterwards."""
    admin = server.admin
    rooms = {what: f"chosen-{number}" for number, what in enumerate(CASES)}
    for what, room in rooms.items():
        many, own, others = CASES[what]
        _prepare(admin, room)
        counted = sum(each["phase"] not in ("Succeeded", "Failed") for each in own)
        _make(admin, room, "web", counted - many, own)
        if others:
            active = [each for each in others if each["phase"] != "Failed"]
            _make(admin, room, "other", len(active), others)
    time.sleep(OLDER)
    before = {room: _pods(admin, room) for room in rooms.values()}
    manager = plane.controller_manager(server, "--controllers=replicaset-controller")
    for what, room in rooms.items():
        test = partial(_are_gone, admin, room, before[room], CASES[what][0])
        until(f"pods of {room} to go", test)
    time.sleep(2)
    for what, room in rooms.items():
        chosen = _gone(admin, room, before[room])
        seen = admin("GET", f"{APPS}/{room}/replicasets/web").body
        yield Answer(
            f"chosen/{what}",
            WHO,
            "a ReplicaSet with too many pods, made by hand, and its relatives' pods:"
            " which of its pods are deleted, and what its status says of those that are"
            " left",
            {
                "pods": [bare(each) for each in before[room] if _is_of(each, "web")],
                "others": [
                    bare(each) for each in before[room] if _is_of(each, "other")
                ],
                "now": _when(admin, room),
                "chosen": sorted(chosen),
                "replica set": {"spec": seen["spec"], "status": {}},
                "left": [bare(e) for e in _pods(admin, room) if _is_of(e, "web")],
                "status": counted_status(seen["status"]),
            },
        )
    plane.stop(manager)
    for room in rooms.values():
        admin("DELETE", f"{APPS}/{room}/replicasets")
        for each in _pods(admin, room):
            path = f"/api/v1/namespaces/{room}/pods/{each['metadata']['name']}"
            admin("DELETE", f"{path}?gracePeriodSeconds=0")


def _prepare(admin: Connection, room: str) -> None:
    for path, body in (
        ("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": room}}),
        (
            f"/api/v1/namespaces/{room}/serviceaccounts",
            {"kind": "ServiceAccount", "metadata": {"name": "default"}},
        ),
    ):
        admin("POST", path, {"apiVersion": "v1", **body})


def _make(
    admin: Connection, room: str, name: str, replicas: int, pods: list[Object]
) -> None:
    owner = {"apiVersion": "apps/v1", "controller": True}
    labels, containers = {"app": name}, [{"name": "c", "image": "i"}]
    spec = {"containers": containers, "automountServiceAccountToken": False}
    family = {**owner, "kind": "Deployment", "name": "family", "uid": f"of-{room}"}
    body = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "labels": labels, "ownerReferences": [family]},
        "spec": {
            "replicas": replicas,
            "minReadySeconds": MONTH,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": {**labels, **TIER}}, "spec": spec},
        },
    }
    made = admin("POST", f"{APPS}/{room}/replicasets", body).body
    mine = {**owner, "kind": "ReplicaSet", "name": name, "uid": made["metadata"]["uid"]}
    for number, wanted in enumerate(pods):
        own = {**labels, **TIER} if wanted["labelled"] else labels
        meta: Object = {"name": f"{name}-{number}", "labels": own}
        if wanted["cost"]:
            meta["annotations"] = {COST: wanted["cost"]}
        meta["ownerReferences"] = [mine]
        placed = {**spec, "nodeName": wanted["node"]} if wanted["node"] else {**spec}
        if wanted["of_sidecar"]:
            placed["initContainers"] = [SIDECAR]
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": placed}
        path = f"/api/v1/namespaces/{room}/pods"
        new = admin("POST", path, body).body
        where = f"{path}/{meta['name']}/status"
        admin("PUT", where, {**new, "status": _status(wanted)})


def _status(wanted: Object) -> Object:
    status: Object = {"phase": wanted["phase"], "conditions": []}
    is_ready = "True" if wanted["ready"] else "False"
    since = wanted["ready"] or LONG_AGO
    status["conditions"].append(
        {"type": "Ready", "status": is_ready, "lastTransitionTime": since}
    )
    for key, name, count in (
        ("containerStatuses", "c", wanted["restarts"]),
        ("initContainerStatuses", "s", wanted["of_sidecar"]),
    ):
        if count:
            told = {"name": name, "image": "i", "imageID": "", "ready": True}
            status[key] = [{**told, "restartCount": count}]
    return status


def _pods(admin: Connection, room: str) -> list[Object]:
    items: list[Object] = admin("GET", f"/api/v1/namespaces/{room}/pods").body["items"]
    return items


def _is_of(each: Object, name: str) -> bool:
    return str(each["metadata"]["ownerReferences"][0]["name"]) == name


def _gone(admin: Connection, room: str, before: list[Object]) -> list[str]:
    left = [
        each["metadata"]["name"]
        for each in _pods(admin, room)
        if "deletionTimestamp" not in each["metadata"]
    ]
    names = [each["metadata"]["name"] for each in before]
    return [name for name in names if name not in left]


def _are_gone(admin: Connection, room: str, before: list[Object], many: int) -> bool:
    return len(_gone(admin, room, before)) >= many


def _when(admin: Connection, room: str) -> float:
    """When they were deleted, as far as one of them is still there to say so."""
    stamps = [
        each["metadata"]["deletionTimestamp"]
        for each in _pods(admin, room)
        if "deletionTimestamp" in each["metadata"]
    ]
    return parse_time(min(stamps)) - GRACE if stamps else time.time()
