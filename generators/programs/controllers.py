"""What the controller manager does: deployments, replica sets, owners."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, Server, until

WHO = "kube-controller-manager v1.36.2"
APPS = "/apis/apps/v1/namespaces"
SETS = "system:serviceaccount:kube-system:replicaset-controller"
DEPLOYMENTS = "system:serviceaccount:kube-system:deployment-controller"
MERGE = "application/strategic-merge-patch+json"
Object = dict[str, Any]


def template(image: str = "nginx") -> Object:
    """Pods labelled app=web."""
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }


def workload(kind: str, name: str, replicas: int, **spec: Any) -> Object:
    """A Deployment or ReplicaSet that selects app=web."""
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(),
            **spec,
        },
    }


def owner(obj: Object) -> str:
    """The name of the controller that an object belongs to."""
    return next(
        (
            str(each["name"])
            for each in obj["metadata"].get("ownerReferences", ())
            if each.get("controller")
        ),
        "",
    )


class Room:
    """A namespace of its own."""

    def __init__(self, admin: Connection, name: str) -> None:
        self.admin, self.name = admin, name
        self.path = namespace(admin, name)

    def pods(self) -> list[Object]:
        """Its pods that are not being deleted."""
        return [
            pod
            for pod in self.admin("GET", f"{self.path}/pods").body["items"]
            if "deletionTimestamp" not in pod["metadata"]
        ]

    def sets(self) -> list[Object]:
        """Its ReplicaSets."""
        items: list[Object] = self.admin("GET", f"{APPS}/{self.name}/replicasets").body[
            "items"
        ]
        return items

    def make(self, resource: str, obj: Object) -> Object:
        """Create something of apps/v1."""
        body: Object = self.admin("POST", f"{APPS}/{self.name}/{resource}", obj).body
        return body

    def owners(self) -> list[str]:
        """Whose its pods are."""
        return sorted(map(owner, self.pods()))

    def settle(self, count: int) -> None:
        """Until it has so many pods."""
        until(f"{count} pods in {self.name}", lambda: len(self.pods()) == count)

    def status(self, name: str) -> Object:
        """Of a ReplicaSet."""
        status: Object = self.admin(
            "GET", f"{APPS}/{self.name}/replicasets/{name}"
        ).body["status"]
        return status


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it; ends with another controller manager than it began with."""
    first = plane.controller_manager(server, "-v=4")
    yield from _owners(server)
    yield from _bursts(server)
    yield from _deployment(plane, server)
    yield from _restart(plane, server, first)


def _owners(server: Server) -> Iterator[Answer]:
    room = Room(server.admin, "owners")
    lost = {"apiVersion": "v1", "kind": "Pod", **template()}
    lost["metadata"] = {"name": "lost", **lost["metadata"]}
    room.admin("POST", f"{room.path}/pods", lost)
    room.make("replicasets", workload("ReplicaSet", "one", 1))
    until("the adoption", lambda: room.owners() == ["one"])
    adopted = [(pod["metadata"]["name"], owner(pod)) for pod in room.pods()]
    two = room.make("replicasets", workload("ReplicaSet", "two", 1))
    until("both", lambda: len(room.owners()) == 2)
    until("its status", lambda: room.status("two").get("observedGeneration") == 1)
    beside = room.owners()
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "two",
        "uid": two["metadata"]["uid"],
        "controller": True,
    }
    second = room.admin(
        "PATCH",
        f"{room.path}/pods/lost",
        {"metadata": {"ownerReferences": [reference]}},
        content_type=MERGE,
    )
    yield Answer(
        "owners/adoption",
        WHO,
        "a pod without an owner, then a ReplicaSet for one pod that selects it: the"
        " pods and their owners",
        [list(each) for each in adopted],
    )
    yield Answer(
        "owners/beside",
        WHO,
        "a second ReplicaSet for one pod with the same selector: the pods' owners",
        beside,
    )
    yield Answer(
        "owners/second-controller",
        "kube-apiserver v1.36.2",
        "a patch that gives the first one's pod a second controller: its code and"
        " reason",
        {"status": second.status, "reason": second.reason},
    )
    gone = room.pods()[[owner(pod) for pod in room.pods()].index("two")]
    name = gone["metadata"]["name"]
    room.admin("DELETE", f"{room.path}/pods/{name}?gracePeriodSeconds=0")
    until(
        "a replacement",
        lambda: (
            room.owners() == ["one", "two"]
            and name not in [pod["metadata"]["name"] for pod in room.pods()]
        ),
    )
    yield Answer(
        "owners/replacement",
        WHO,
        "one of its pods is deleted: whose pods there are then, and whether it is"
        " another pod",
        {"owners": room.owners(), "another": True},
    )
    sets = f"{APPS}/{room.name}/replicasets"
    room.admin("DELETE", f"{sets}/one?propagationPolicy=Orphan")
    until(
        "the orphan", lambda: "one" not in [s["metadata"]["name"] for s in room.sets()]
    )
    orphaned = [pod for pod in room.pods() if pod["metadata"]["name"] == "lost"]
    room.admin("DELETE", f"{sets}/two?propagationPolicy=Background")
    until("no set", lambda: not room.sets())
    until("the collector", lambda: "two" not in room.owners())
    yield Answer(
        "owners/deletion",
        WHO,
        "one ReplicaSet is deleted with Orphan, the other with Background: whether the"
        " first one's pod is still there then, how many pods belong to the second",
        {
            "orphan left": len(orphaned) == 1,
            "of the second": room.owners().count("two"),
        },
    )


def _creates(server: Server, room: str) -> list[int]:
    return [
        event["responseStatus"]["code"]
        for event in server.requests(SETS, verb="create", namespace=room)
        if event["objectRef"]["resource"] == "pods"
    ]


def _bursts(server: Server) -> Iterator[Answer]:
    room = Room(server.admin, "quota-of-three")
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "three"},
        "spec": {"hard": {"pods": "3"}},
    }
    room.admin("POST", f"{room.path}/resourcequotas", quota)
    until(
        "the quota",
        lambda: (
            room.admin("GET", f"{room.path}/resourcequotas/three")
            .body["status"]
            .get("used")
        ),
    )
    room.make("replicasets", workload("ReplicaSet", "twenty", 20))
    until(
        "the failure to be told",
        lambda: any(
            each["type"] == "ReplicaFailure"
            for each in room.status("twenty").get("conditions", ())
        ),
    )
    codes = _creates(server, room.name)
    yield Answer(
        "replicas/quota",
        WHO,
        "a ReplicaSet for 20 pods in a namespace with a quota of 3: how many of its"
        " first seven attempts were answered how, and how many attempts there were when"
        " its status first told of the failure",
        {
            "made": codes[:7].count(201),
            "refused": codes[:7].count(403),
            "attempts below twenty": len(codes) < 20,
        },
    )
    room = Room(server.admin, "six-hundred")
    room.make("replicasets", workload("ReplicaSet", "many", 600))
    room.settle(600)
    room.admin("DELETE", f"{APPS}/{room.name}/replicasets/many")
    logged = re.findall(
        r'"Too few replicas" replicaSet="six-hundred/many" need=600 creating=(\d+)',
        server.plane.log("controllers"),
    )
    yield Answer(
        "replicas/burst",
        WHO,
        "a ReplicaSet for 600 pods: how many pods each sync of it set out to make",
        [int(count) for count in logged],
    )
    times = [
        event["requestReceivedTimestamp"]
        for event in server.requests(SETS, verb="create", namespace=room.name)
        if event["objectRef"]["resource"] == "pods"
    ]
    ends = [
        event["stageTimestamp"]
        for event in server.requests(SETS, verb="create", namespace=room.name)
        if event["objectRef"]["resource"] == "pods"
    ]
    yield Answer(
        "replicas/batches",
        WHO,
        "the same: how many of its creates were asked before each of the first ones was"
        " answered",
        {
            "before the 1st answer": _asked_before(times, ends, 1),
            "before the 2nd": _asked_before(times, ends, 2),
            "before the 4th": _asked_before(times, ends, 4),
        },
    )


def _asked_before(asked: list[str], answered: list[str], nth: int) -> int:
    moment = sorted(answered)[nth - 1]
    return sum(1 for each in asked if each < moment)


def _has_set_of(room: Room, image: str) -> bool:
    return image in [
        each["spec"]["template"]["spec"]["containers"][0]["image"]
        for each in room.sets()
    ]


def _deployment(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    room = Room(server.admin, "revisions")
    path = f"{APPS}/{room.name}/deployments/web"
    room.make("deployments", workload("Deployment", "web", 0, revisionHistoryLimit=1))
    for image in ("nginx:2", "nginx:3", "nginx:4"):
        until("a set", room.sets)
        room.admin(
            "PATCH", path, {"spec": {"template": template(image)}}, content_type=MERGE
        )
        until("the roll-out", partial(_has_set_of, room, image))
    until("the cleaning up", lambda: len(room.sets()) == 2)
    yield Answer(
        "deployments/history",
        WHO,
        "a Deployment without replicas and revisionHistoryLimit 1 gets four templates:"
        " the images of the ReplicaSets that are left",
        sorted(
            each["spec"]["template"]["spec"]["containers"][0]["image"]
            for each in room.sets()
        ),
    )
    room = Room(server.admin, "rollout")
    room.make("deployments", workload("Deployment", "web", 3))
    room.settle(3)
    room.admin(
        "DELETE", f"{APPS}/{room.name}/replicasets/{room.sets()[0]['metadata']['name']}"
    )
    until("the pods again", lambda: len(room.pods()) == 3 and len(room.sets()) == 1)
    room.admin("DELETE", f"{APPS}/{room.name}/deployments/web")
    room.settle(0)
    log = plane.log("controllers")
    yield Answer(
        "deployments/callbacks",
        WHO,
        "a Deployment is made, changed and deleted: what the controller's log (-v=4)"
        " says of it, and whether of a sync after each of the first two",
        {
            verb: f'"{verb} deployment" logger="deployment-controller"'
            f' deployment="{where}/web"' in log
            for verb, where in (
                ("Adding", "revisions"),
                ("Updating", "revisions"),
                ("Deleting", "rollout"),
            )
        },
    )
    syncs = re.findall(
        r'"(Started|Finished) syncing deployment".*deployment="rollout/web"', log
    )
    yield Answer(
        "deployments/syncs",
        WHO,
        "a Deployment of three pods, none of which ever is ready: how many times it was"
        " synced, and whether each sync had ended before the next one began",
        {
            "more than twice": syncs.count("Started") > 2,
            "one after the other": all(
                each == ("Started", "Finished")[number % 2]
                for number, each in enumerate(syncs)
            ),
        },
    )
    asked = [
        (event["verb"], event["objectRef"]["resource"])
        for event in server.requests(DEPLOYMENTS)
        if event.get("objectRef", {}).get("namespace") == "rollout"
    ]
    yield Answer(
        "deployments/requests",
        WHO,
        "the same Deployment, whose ReplicaSet was deleted once: every kind of request"
        " that the deployment controller made in that namespace",
        sorted({f"{verb} {resource}" for verb, resource in asked}),
    )
    yield Answer(
        "deployments/reconciled",
        WHO,
        "the same: how many ReplicaSets it made, one after the deletion of the other",
        asked.count(("create", "replicasets")),
    )
    yield Answer(
        "informers/reads",
        WHO,
        "the audit log of all these scenes: how often the two controllers read pods,"
        " ReplicaSets or Deployments themselves, by list or get; how often they made"
        " something",
        {
            "lists": sum(1 for _ in _reads(server, "list")),
            "gets of pods": sum(1 for each in _reads(server, "get") if each == "pods"),
            "more than 600 creates": sum(
                1
                for event in server.requests(SETS, verb="create")
                if event["objectRef"]["resource"] == "pods"
            )
            > 600,
        },
    )


def _reads(server: Server, verb: str) -> Iterator[str]:
    for user in (SETS, DEPLOYMENTS):
        for event in server.requests(user, verb=verb):
            resource = event["objectRef"]["resource"]
            if resource in ("pods", "replicasets", "deployments"):
                yield resource


def _restart(plane: ControlPlane, server: Server, first: Any) -> Iterator[Answer]:
    room = Room(server.admin, "restart")
    room.make("deployments", workload("Deployment", "web", 3))
    room.settle(3)
    before = {(pod["metadata"]["uid"], owner(pod)) for pod in room.pods()}
    plane.stop(first)
    plane.controller_manager(server, "-v=4")
    other = Room(server.admin, "after-the-restart")
    other.make("deployments", workload("Deployment", "web", 1))
    other.settle(1)
    time.sleep(2)
    after = {(pod["metadata"]["uid"], owner(pod)) for pod in room.pods()}
    yield Answer(
        "owners/restart",
        WHO,
        "a Deployment of three pods; the controller manager is killed and another one"
        " started: whether the same pods belong to the same ReplicaSet",
        {"pods": len(after), "the same": before == after},
    )
