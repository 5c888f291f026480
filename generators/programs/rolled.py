"""What a Deployment's controller does next: roll-outs that somebody has set up by hand,
at every stage, and a controller manager with this one controller.

Nobody makes pods, so what ReplicaSets say of theirs stays as it was put down. The
controller does what it can do with that, and then it waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, Server
from lifecycle.agreements.controllers.rolled import (
    APART,
    TOLD_AFTER,
    after,
    deployment,
    deployment_status,
    replica_set,
    status_of_set,
)

WHO = "kube-controller-manager v1.36.2"
APPS = "/apis/apps/v1/namespaces"
Object = dict[str, Any]


def old(size: int, available: int | None = None, **more: Any) -> Object:
    """A ReplicaSet of another template, so many of whose pods are available."""
    return {"size": size, "available": size if available is None else available, **more}


def new(size: int, available: int | None = None, **more: Any) -> Object:
    """The one of the Deployment's template."""
    return {**old(size, available), "new": True, **more}


def case(replicas: int, *sets: Object, **spec: Any) -> Object:
    """A Deployment of so many, and its ReplicaSets from old to new."""
    return {"replicas": replicas, "sets": list(sets), "spec": spec}


def at_most(surge: int | str, unavailable: int | str) -> Object:
    """A rolling update's bounds."""
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


def stuck(
    before: Object,
    said: tuple[str, str] = ("True", "NewReplicaSetCreated"),
    *,
    updated: int = 30,
    since: int = 60,
    deadline: int = 600,
) -> Object:
    """A roll-out that cannot go on: five pods, of which two are new, and one of these
    is not ready. `before`: what the Deployment's status says instead; `said`: status
    and reason of its progress, so many seconds ago.
    """
    made = case(
        4,
        old(3),
        new(2, 1),
        strategy=at_most(1, 0),
        progressDeadlineSeconds=deadline,
    )
    counts = {
        "replicas": 5,
        "updatedReplicas": 2,
        "readyReplicas": 4,
        "availableReplicas": 4,
    }
    status, reason = said
    progress = {"status": status, "reason": reason, "updated": updated, "since": since}
    return {**made, "status": {**counts, **before}, "progress": progress}


FAILURE = {
    "type": "ReplicaFailure",
    "status": "True",
    "reason": "FailedCreate",
    "message": "no room",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
ONE = at_most(1, 1)
CASES: dict[str, Object] = {
    "nothing is there": case(3),
    "another template": case(4, old(4), strategy=ONE),
    "half way": case(4, old(3), new(2), strategy=ONE),
    "the new ones are not ready": case(4, old(3), new(2, 0), strategy=ONE),
    "nobody is ready": case(4, old(4, 0), new(1, 0), strategy=ONE),
    "some old ones are not ready": case(6, old(6, 4), new(1), strategy=at_most(1, 2)),
    "not ready, old and new": case(6, old(5, 3), new(3, 1), strategy=at_most(2, 2)),
    "two old ones": case(5, old(2), old(3), strategy=at_most(2, 2)),
    "two old ones, one not ready": case(5, old(2), old(3, 1), new(1), strategy=ONE),
    "a quarter": case(10, old(10), strategy=at_most("25%", "25%")),
    "a quarter of three": case(3, old(3), strategy=at_most("25%", "25%")),
    "a quarter of three, one is there": case(
        3, old(3), new(1), strategy=at_most("25%", "25%")
    ),
    "hardly anything may be missing": case(2, old(2), strategy=at_most(0, "1%")),
    "none may be missing": case(4, old(4), new(1), strategy=at_most(1, 0)),
    "all may be missing": case(4, old(4), strategy=at_most(0, "100%")),
    "done": case(3, old(0), new(3), strategy=ONE),
    "one is kept": case(
        3, old(0), old(0), old(0), new(3), strategy=ONE, revisionHistoryLimit=1
    ),
    "none is kept": case(3, old(0), old(0), new(3), revisionHistoryLimit=0),
    "not yet done": case(
        3,
        old(0),
        old(0),
        old(1),
        new(3),
        strategy=at_most(1, 0),
        revisionHistoryLimit=0,
    ),
    "all at once": case(3, old(3), strategy={"type": "Recreate"}),
    "all at once, half way": case(3, old(0), new(0), strategy={"type": "Recreate"}),
    "too slow": case(4, old(3), new(2, 0), strategy=ONE, progressDeadlineSeconds=2),
    "slow, and not too slow": case(
        4, old(3), new(2, 0), strategy=ONE, progressDeadlineSeconds=60
    ),
    "no deadline": case(
        4, old(3), new(2, 0), strategy=ONE, progressDeadlineSeconds=2**31 - 1
    ),
    "a failure": case(4, old(3), new(2, 1, conditions=[FAILURE]), strategy=ONE),
    "an old failure": case(4, old(3, conditions=[FAILURE]), new(2, 1), strategy=ONE),
    "a failure of each": case(
        4,
        old(3, conditions=[{**FAILURE, "message": "no room for the old ones"}]),
        new(2, 1, conditions=[FAILURE]),
        strategy=ONE,
    ),
    "paused": case(4, old(4), strategy=ONE, paused=True),
    "paused, one is there": case(4, old(3), new(2), strategy=ONE, paused=True),
    "larger, half way": case(8, old(3, sized=4), new(2, sized=4), strategy=ONE),
    "smaller, half way": case(2, old(3, sized=4), new(2, sized=4), strategy=ONE),
    "larger, and nobody grows": case(
        5, old(3, sized=4), new(2, sized=4), strategy=at_most(0, 1)
    ),
    "larger, while only an old one runs": case(
        6, old(4, sized=4), new(0, sized=4), strategy=ONE, paused=True
    ),
    "smaller, while only an old one runs": case(
        2, old(4, sized=4), new(0, sized=4), strategy=ONE, paused=True
    ),
    "larger, while nobody runs": case(
        2, old(0, sized=0), new(0, sized=0), strategy=ONE, paused=True
    ),
    "smaller when it was done": case(2, old(0), new(4), strategy=ONE),
    "back again": case(3, new(0), old(3), strategy=ONE),
    "down to nothing": case(0, old(1), new(3), strategy=ONE),
    "two of one template": case(3, new(1), new(2), old(1), strategy=ONE),
    "just enough": case(4, new(4, 3), strategy=ONE),
    "one less": case(4, new(4, 2), strategy=ONE),
    "too many": case(4, new(6), strategy=ONE),
    "twelve seconds": case(
        4, old(3), new(2, 0), strategy=ONE, progressDeadlineSeconds=12
    ),
    "more new ones than before": stuck({"updatedReplicas": 1}),
    "fewer old ones than before": stuck({"replicas": 6}),
    "more old ones than before": stuck({"replicas": 4}),
    "more ready ones than before": stuck({"readyReplicas": 3, "availableReplicas": 3}),
    "more available ones than before": stuck({"availableReplicas": 3}),
    "all as before": stuck({}),
    "less of everything than before": stuck(
        {"updatedReplicas": 3, "readyReplicas": 5, "availableReplicas": 5}
    ),
    "some time ago": stuck({}, updated=15, deadline=20),
    "some time ago, and in the future": stuck({}, updated=15, since=-900, deadline=20),
    "long ago, and lately": stuck({}, updated=2, since=900, deadline=300),
    "too late already": stuck({}, updated=900, since=900, deadline=300),
    "it was too late": stuck({}, ("False", "ProgressDeadlineExceeded")),
    "it was too late, and there are more": stuck(
        {"updatedReplicas": 1}, ("False", "ProgressDeadlineExceeded")
    ),
    "it was done": stuck({}, ("True", "NewReplicaSetAvailable")),
    "it had been stopped": stuck({}, ("Unknown", "DeploymentPaused")),
    "somebody's reasons": case(3, old(3), strategy=ONE, because="a new picture"),
}


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it. No controller manager runs before, and none afterwards."""
    admin = server.admin
    rooms = {what: f"rolled-{number}" for number, what in enumerate(CASES)}
    uids: dict[str, str] = {}
    for what, room in rooms.items():
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": room}}
        admin("POST", "/api/v1/namespaces", body)
        made = admin("POST", f"{APPS}/{room}/deployments", deployment(CASES[what]))
        uids[what] = made.body["metadata"]["uid"]
    for turn in range(max(len(each["sets"]) for each in CASES.values())):
        for what, room in rooms.items():
            if turn < len(CASES[what]["sets"]):
                _make_set(admin, f"{APPS}/{room}/replicasets", what, turn, uids[what])
        time.sleep(APART)
    given = {}
    for what, room in rooms.items():
        if "status" in CASES[what]:
            where = f"{APPS}/{room}/deployments/web"
            made = admin("GET", where).body
            told = given[what] = deployment_status(CASES[what], time.time())
            reply = admin("PUT", f"{where}/status", {**made, "status": told})
            if reply.status != 200:
                raise ValueError(f"{what}: {reply.message}")
    manager = plane.controller_manager(
        server,
        "--controllers=deployment-controller",
        user="system:kube-controller-manager",
    )
    time.sleep(TOLD_AFTER)
    for what, room in rooms.items():
        seen = admin("GET", f"{APPS}/{room}/deployments/web").body
        sets = admin("GET", f"{APPS}/{room}/replicasets").body["items"]
        events = admin("GET", f"/api/v1/namespaces/{room}/events").body["items"]
        yield Answer(
            f"rolled/{what}",
            WHO,
            "a Deployment and ReplicaSets that say of their pods what they were told"
            " to: how large each is when nothing more happens, what the status of the"
            " Deployment says then, what was told on the way",
            {
                "case": CASES[what],
                "after": after(seen, sets, events, given.get(what)),
            },
        )
    plane.stop(manager)
    for room in rooms.values():
        for plural in ("deployments", "replicasets"):
            admin("DELETE", f"{APPS}/{room}/{plural}")


def _make_set(admin: Connection, path: str, what: str, turn: int, uid: str) -> None:
    made = admin("POST", path, replica_set(CASES[what], turn, uid)).body
    status = status_of_set(CASES[what], turn)
    name = made["metadata"]["name"]
    admin("PUT", f"{path}/{name}/status", {**made, "status": status})
