"""What a scheduler decides. The nodes are objects that no kubelet stands behind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace, pod
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, Server, until

WHO = "kube-scheduler v1.36.2"
OTHER = "other-scheduler"
MERGE = "application/merge-patch+json"
Object = dict[str, Any]


def node(name: str, cpu: str = "4", allocatable: str = "") -> Object:
    """A ready node of so many CPUs."""
    there = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": "a",
            },
        },
        "status": {
            "capacity": there,
            "allocatable": {**there, "cpu": allocatable or cpu},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def asking(name: str, cpu: str, **spec: Any) -> Object:
    """A pod that asks for CPU."""
    body = pod(name, **spec)
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return body


class Nodes:
    """Nodes that are there only inside the `with`, and pods on them."""

    def __init__(self, admin: Connection, path: str) -> None:
        self.admin, self.path = admin, path

    def place(self, *nodes: Object) -> None:
        """Exactly these nodes, and no pods."""
        self.admin("DELETE", f"{self.path}/pods?gracePeriodSeconds=0")
        for item in self.admin("GET", f"{self.path}/pods").body["items"]:
            name = item["metadata"]["name"]
            self.admin("DELETE", f"{self.path}/pods/{name}?gracePeriodSeconds=0")
        self.admin("DELETE", "/api/v1/nodes")
        for each in nodes:
            self.admin("POST", "/api/v1/nodes", each)
            name = each["metadata"]["name"]
            # Without a kubelet nobody takes the taint away that a new node gets.
            self.admin(
                "PATCH",
                f"/api/v1/nodes/{name}",
                {"spec": {"taints": None}},
                content_type=MERGE,
            )

    def make(self, body: Object) -> None:
        """A pod."""
        self.admin("POST", f"{self.path}/pods", body)

    def where(self, name: str) -> str:
        """The node that a pod is given; `""` as soon as it is told that there is
        none.
        """

        def decided() -> str | None:
            body = self.admin("GET", f"{self.path}/pods/{name}").body
            if body["spec"].get("nodeName"):
                return str(body["spec"]["nodeName"])
            refused = any(
                each.get("reason") == "Unschedulable"
                for each in body.get("status", {}).get("conditions", ())
            )
            return " " if refused else None

        return str(until(f"a decision about {name}", decided)).strip()


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it; the controller manager runs at `server`."""
    admin = server.admin
    nodes = Nodes(admin, namespace(admin, "scheduling"))
    plane.scheduler(server, "system:kube-scheduler", "-v=2")
    yield from _capacity(nodes)
    yield from _choice(nodes)
    yield from _another(plane, server, nodes)
    yield from _filters(plane, nodes)
    yield from _binding(admin, nodes)


def _capacity(nodes: Nodes) -> Iterator[Answer]:
    nodes.place(node("half", "4", allocatable="2"))
    nodes.make(asking("three", "3"))
    nodes.make(asking("one", "1500m"))
    yield Answer(
        "scheduling/allocatable",
        WHO,
        "a node with 4 CPUs of which 2 are allocatable: where a pod that asks for 3"
        " goes, and one that asks for 1.5",
        {"3": nodes.where("three"), "1.5": nodes.where("one")},
    )
    nodes.make(asking("two", "1500m"))
    before = nodes.where("two")
    status = nodes.admin("GET", f"{nodes.path}/pods/one").body["status"]["phase"]
    nodes.admin(
        "PATCH",
        f"{nodes.path}/pods/one/status",
        {"status": {"phase": "Succeeded"}},
        content_type=MERGE,
    )
    after = until(
        "a place",
        lambda: (
            nodes.admin("GET", f"{nodes.path}/pods/two").body["spec"].get("nodeName")
        ),
    )
    yield Answer(
        "scheduling/what-counts",
        WHO,
        "then another that asks for 1.5, while the first one, whose container never"
        " ran, is there, and after it is said to have succeeded",
        {"the first one's phase": status, "beside it": before, "after it": after},
    )


def _choice(nodes: Nodes) -> Iterator[Answer]:
    chosen = []
    for number in range(5):
        nodes.place(node("busy"), node("idle"))
        nodes.make(asking("load", "2", nodeName="busy"))
        nodes.make(asking(f"next-{number}", "100m"))
        chosen.append(nodes.where(f"next-{number}"))
    yield Answer(
        "scheduling/least-requested",
        WHO,
        "two nodes, half of one asked for: where a pod goes, five times",
        chosen,
    )


def _another(plane: ControlPlane, server: Server, nodes: Nodes) -> Iterator[Answer]:
    nodes.place(node("n1"))
    configuration = plane.file(
        "other.yaml",
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "clientConnection": {
                    "kubeconfig": str(server.kubeconfig(OTHER, "system:masters"))
                },
                "leaderElection": {"leaderElect": False},
                "profiles": [{"schedulerName": "mine"}],
            }
        ),
    )
    nodes.make(asking("mine", "1", schedulerName="mine"))
    nodes.make(asking("ordinary", "1"))
    nodes.where("ordinary")
    alone = nodes.admin("GET", f"{nodes.path}/pods/mine").body["spec"].get("nodeName")
    plane.scheduler(
        server, OTHER, f"--config={configuration}", groups=("system:masters",)
    )
    yield Answer(
        "scheduling/another",
        WHO,
        "a pod with schedulerName mine: its node while only the default scheduler runs,"
        " and after another process with a profile of that name was started",
        {"before": alone or "", "after": nodes.where("mine")},
    )
    written = {
        f"{event['verb']} {event['objectRef']['resource']}"
        + (f"/{sub}" if (sub := event["objectRef"].get("subresource")) else "")
        for event in server.requests(OTHER)
        if event["verb"] not in ("get", "list", "watch") and "objectRef" in event
    }
    yield Answer(
        "scheduling/registration",
        WHO,
        "everything that this other scheduler wrote",
        sorted(written),
    )
    nodes.make(asking("placed", "1", nodeName="n1"))
    nodes.make(asking("after", "1"))
    nodes.where("after")
    bound = {
        event["objectRef"]["name"]
        for event in server.requests("system:kube-scheduler", verb="create")
        if event["objectRef"].get("subresource") == "binding"
        and event["objectRef"]["namespace"] == "scheduling"
    }
    yield Answer(
        "scheduling/which-pods",
        WHO,
        "three pods: one with a node, one without, one for another scheduler: which of"
        " them it bound",
        sorted(bound & {"placed", "after", "mine"}),
    )


def _evaluated(plane: ControlPlane, name: str) -> list[str]:
    return re.findall(
        rf'"Successfully bound pod to node" pod="scheduling/{name}".*'
        r"evaluatedNodes=(\d+)",
        plane.log("system-kube-scheduler"),
    )


def _filters(plane: ControlPlane, nodes: Nodes) -> Iterator[Answer]:
    seen = {}
    for count in (20, 300):
        nodes.place(*(node(f"n{number}") for number in range(count)))
        name = f"among-{count}"
        nodes.make(asking(name, "100m"))
        nodes.where(name)
        evaluated = until("the log", partial(_evaluated, plane, name))
        seen[str(count)] = int(evaluated[0]) >= count
    nodes.place(node("cordoned"), node("open"))
    nodes.admin(
        "PATCH",
        "/api/v1/nodes/cordoned",
        {"spec": {"unschedulable": True}},
        content_type=MERGE,
    )
    nodes.make(asking("round", "100m"))
    yield Answer(
        "scheduling/nodes-looked-at",
        WHO,
        "clusters of 20 and of 300 nodes: whether the scheduler's log says that all"
        " nodes were evaluated for a pod; where one goes, of a cordoned node and a"
        " free one",
        {**seen, "beside a cordoned one": nodes.where("round")},
    )


def _binding(admin: Connection, nodes: Nodes) -> Iterator[Answer]:
    nodes.place(node("n1"))
    nodes.make(asking("by-hand", "100m", schedulerName="nobody"))
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "name": "by-hand",
            "annotations": {"note": "x"},
            "labels": {"label": "x"},
        },
        "target": {"kind": "Node", "name": "n1"},
    }
    reply = admin("POST", f"{nodes.path}/pods/by-hand/binding", binding)
    bound = admin("GET", f"{nodes.path}/pods/by-hand").body["metadata"]
    yield Answer(
        "scheduling/binding-metadata",
        "kube-apiserver v1.36.2",
        "a Binding with an annotation and a label, to a node of a zone: what of it the"
        " pod has then",
        {
            "status": reply.status,
            "annotations": bound.get("annotations", {}),
            "labels": {k: v for k, v in bound["labels"].items() if k != "app"},
        },
    )
