"""What the ReplicaSets of Deployments are called, and what if the name is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generators.programs.answer import Answer
from generators.programs.control_plane import Server, until
from generators.programs.controllers import (
    APPS,
    MERGE,
    WHO,
    Object,
    Room,
    owner,
    template,
    workload,
)

HASH = "pod-template-hash"
COUNTS = (None, 0, 1, 2, 255, 256, 65536, 2**31 - 1)
"""Collisions that a Deployment has had already; None: its status says nothing of it."""


def answers(server: Server) -> Iterator[Answer]:
    """While a controller manager is at work."""
    made = [_after(server, number, count) for number, count in enumerate(COUNTS)]
    first = made[0]
    labels: dict[str, str] = dict(first["spec"]["template"]["metadata"]["labels"])
    del labels[HASH]
    pods = first["spec"]["template"]
    yield Answer(
        "names/collisions",
        WHO,
        "a Deployment, paused, whose status is made to say that there were so many"
        " collisions; it goes on: the template of its ReplicaSet without the hash's"
        " label, and the names of the ReplicaSets by that count",
        {
            "template": {**pods, "metadata": {**pods["metadata"], "labels": labels}},
            "names": [
                [count, each["metadata"]["name"]]
                for count, each in zip(COUNTS, made, strict=True)
            ],
        },
    )
    yield _taken(server, first["metadata"]["name"])


def _after(server: Server, number: int, count: int | None) -> Object:
    """The ReplicaSet after so many collisions."""
    room = Room(server.admin, f"named-{number}")
    path = f"{APPS}/{room.name}/deployments/web"
    room.make("deployments", workload("Deployment", "web", 0, paused=True))

    def said(field: str) -> Any:
        return server.admin("GET", path).body["status"].get(field)

    until("its first status", lambda: said("observedGeneration") == 1)
    if count is not None:
        change: Object = {"status": {"collisionCount": count}}
        server.admin("PATCH", f"{path}/status", change, content_type=MERGE)
    server.admin("PATCH", path, {"spec": {"paused": None}}, content_type=MERGE)
    until("its ReplicaSet", room.sets)
    [made] = room.sets()
    return made


def _taken(server: Server, name: str) -> Answer:
    room = Room(server.admin, "name-taken")
    other = workload("ReplicaSet", name, 0)
    other["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    other["spec"]["template"] = template("other")
    other["spec"]["template"]["metadata"] = {"labels": {"app": "other"}}
    room.make("replicasets", other)
    path = f"{APPS}/{room.name}/deployments/web"
    room.make("deployments", workload("Deployment", "web", 0))

    def found() -> list[str]:
        return [s["metadata"]["name"] for s in room.sets() if owner(s) == "web"]

    until("its ReplicaSet", found)
    until(
        "its status",
        lambda: server.admin("GET", path).body["status"].get("collisionCount"),
    )
    return Answer(
        "names/taken",
        WHO,
        "somebody else's ReplicaSet has the name already: what the Deployment's is"
        " called, and how many collisions its status counts",
        {
            "taken": name,
            "names": found(),
            "collisionCount": server.admin("GET", path).body["status"][
                "collisionCount"
            ],
        },
    )
