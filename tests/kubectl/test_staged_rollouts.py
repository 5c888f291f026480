# ruff: noqa: E501 -- lines of objects, and of commands
"""`rollout status`, `history`, `undo` and `restart` at every stage that a workload can be in: what the real kubectl 1.36 said, as it was kept.

`KEEP=anew pytest` asks it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.staged import Ended, Scene, Turns, Watch, check, status

KEPT = Path(__file__).parent / "staged_answers" / "rollouts.json"
APPS = "/apis/apps/v1/namespaces/default"
PLURALS = {"Deployment": "deployments", "DaemonSet": "daemonsets", "StatefulSet": "statefulsets"}


def workload(kind: str, spec: dict[str, Any] | None = None, generation: int = 1, **state: Any) -> dict[str, Any]:
    about = {"name": "x", "namespace": "default", "uid": "1", "resourceVersion": "5", "generation": generation}
    strategy = {} if kind == "Deployment" else {"updateStrategy": {"type": "RollingUpdate"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    whole = {"selector": {"matchLabels": {"a": "b"}}, "template": template, **strategy, **(spec or {})}
    return {
        "kind": kind,
        "apiVersion": "apps/v1",
        "metadata": about,
        "spec": whole,
        "status": {"observedGeneration": 1, **state},
    }


def listed(kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "5"}, "items": [obj]}


def only(kind: str, *objs: dict[str, Any], frames: Watch | Turns | None = None, **more: Any) -> dict[str, Any]:
    """The object, by itself and in a list, and what becomes of it."""
    path = f"{APPS}/{PLURALS[kind]}"
    lists = Turns(listed(kind, obj) for obj in objs)
    answers: dict[str, Any] = {f"GET {path}/x": Turns(objs), f"GET {path}": lists}
    return {**answers, f"WATCH {path}": frames if frames is not None else Watch(), **more}


def annotated(obj: dict[str, Any], **annotations: str) -> dict[str, Any]:
    named = {f"deployment.kubernetes.io/{key}": value for key, value in annotations.items()}
    return {**obj, "metadata": {**obj["metadata"], "annotations": named}}


DONE = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}
DEPLOYED = annotated(workload("Deployment", {"replicas": 1}, **DONE), revision="3")
OF_DEPLOYMENT = ["rollout status deploy x --watch=false", "rollout status deploy x --timeout=1s"]
PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}, "replicas": 2}
PLAIN = {"replicas": 2}
OF_SET = ["rollout status sts x --watch=false", "rollout status sts x --timeout=1s"]
OF_DAEMON = ["rollout status ds x --watch=false", "rollout status ds x --timeout=1s"]
STUCK = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
WAITED = workload("Deployment", {"replicas": 2}, updatedReplicas=1)
WAITED["metadata"]["resourceVersion"] = "6"
ENDED = Ended([("MODIFIED", WAITED)])
FORBIDDEN = status(403, "Forbidden", "no")
CONFLICT = status(409, "Conflict", "meanwhile")
EXPIRED = status(410, "Expired", "too old")
BROKEN = status(500, "InternalError", "broken")


def sets(*revisions: int) -> dict[str, Any]:
    items = []
    for revision in revisions:
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "1", "controller": True}
        about = {
            "name": f"x-{revision}",
            "namespace": "default",
            "uid": f"r{revision}",
            "labels": {"a": "b", "pod-template-hash": f"h{revision}"},
        }
        about |= {"ownerReferences": [owner], "annotations": {"deployment.kubernetes.io/revision": str(revision)}}
        labels = {"a": "b", "pod-template-hash": f"h{revision}"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": f"i:{revision}"}]}}
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
        items.append({"metadata": about, "spec": spec})
    return {"kind": "ReplicaSetList", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "5"}, "items": items}


REVISED = only("Deployment", DEPLOYED) | {f"GET {APPS}/replicasets": sets(2, 3)}
BARE = only("Deployment", DEPLOYED) | {f"GET {APPS}/replicasets": sets()}

SCENES = {
    "done": Scene(
        only("Deployment", DEPLOYED), [*OF_DEPLOYMENT, *(f"rollout status deploy x --revision={n}" for n in (3, 2, 0))]
    ),
    "without a revision": Scene(
        only("Deployment", workload("Deployment", {"replicas": 1}, **DONE)), ["rollout status deploy x --revision=2"]
    ),
    "deployment not observed": Scene(only("Deployment", workload("Deployment", generation=2)), OF_DEPLOYMENT),
    "deployment not updated": Scene(
        only("Deployment", workload("Deployment", {"replicas": 2}, updatedReplicas=1)), OF_DEPLOYMENT
    ),
    "old ones are left": Scene(
        only("Deployment", workload("Deployment", {"replicas": 1}, updatedReplicas=1, replicas=2)), OF_DEPLOYMENT
    ),
    "not available": Scene(
        only("Deployment", workload("Deployment", {"replicas": 1}, updatedReplicas=1, replicas=1)), OF_DEPLOYMENT
    ),
    "too late": Scene(only("Deployment", workload("Deployment", {"replicas": 1}, conditions=STUCK)), OF_DEPLOYMENT),
    "deployment step by step": Scene(
        only(
            "Deployment",
            workload("Deployment", {"replicas": 1}, generation=2),
            frames=Watch(
                [
                    ("BOOKMARK", {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "6"}}),
                    ("MODIFIED", workload("Deployment", {"replicas": 1}, updatedReplicas=0)),
                    ("MODIFIED", workload("Deployment", {"replicas": 1}, updatedReplicas=0)),
                    ("MODIFIED", DEPLOYED),
                ]
            ),
        ),
        ["rollout status deploy x", "rollout status deploy x --revision=3"],
    ),
    "deployment deleted": Scene(
        only("Deployment", workload("Deployment", generation=2), frames=Watch([("DELETED", DEPLOYED)])),
        ["rollout status deploy x"],
    ),
    "deployment's watch ends": Scene(
        only(
            "Deployment", workload("Deployment", generation=2), frames=Turns([ENDED, Watch([("MODIFIED", DEPLOYED)])])
        ),
        ["rollout status deploy x"],
    ),
    "deployment's watch fails": Scene(
        only("Deployment", workload("Deployment", generation=2), DEPLOYED, frames=Watch([("ERROR", EXPIRED)])),
        ["rollout status deploy x --timeout=3s"],
    ),
    "deployment's watch is refused for a while": Scene(
        only(
            "Deployment",
            workload("Deployment", generation=2),
            frames=Turns([ENDED, (500, BROKEN), Watch([("MODIFIED", DEPLOYED)])]),
        ),
        ["rollout status deploy x"],
    ),
    "deployment's list is refused for a while": Scene(
        only("Deployment", workload("Deployment", generation=2), frames=Turns([Ended([("ERROR", EXPIRED)]), Watch()]))
        | {
            f"GET {APPS}/deployments": Turns(
                [
                    listed("Deployment", workload("Deployment", generation=2)),
                    (500, BROKEN),
                    listed("Deployment", DEPLOYED),
                ]
            )
        },
        ["rollout status deploy x"],
    ),
    "daemons not observed": Scene(only("DaemonSet", workload("DaemonSet", generation=2)), OF_DAEMON),
    "daemons not updated": Scene(
        only("DaemonSet", workload("DaemonSet", desiredNumberScheduled=2, updatedNumberScheduled=1)), OF_DAEMON
    ),
    "daemons not available": Scene(
        only("DaemonSet", workload("DaemonSet", desiredNumberScheduled=2, updatedNumberScheduled=2, numberAvailable=1)),
        OF_DAEMON,
    ),
    "daemons done": Scene(only("DaemonSet", workload("DaemonSet")), OF_DAEMON),
    "daemons are replaced by hand": Scene(
        only("DaemonSet", workload("DaemonSet", {"updateStrategy": {"type": "OnDelete"}})), OF_DAEMON
    ),
    "set not observed": Scene(only("StatefulSet", workload("StatefulSet", PLAIN, generation=2)), OF_SET),
    "set never observed": Scene(
        only("StatefulSet", workload("StatefulSet", PLAIN, generation=0, observedGeneration=0)), OF_SET
    ),
    "set not ready": Scene(only("StatefulSet", workload("StatefulSet", PLAIN, readyReplicas=1)), OF_SET),
    "set updates": Scene(
        only(
            "StatefulSet",
            workload(
                "StatefulSet", PLAIN, readyReplicas=2, updateRevision="x-2", currentRevision="x-1", updatedReplicas=1
            ),
        ),
        OF_SET,
    ),
    "set done": Scene(
        only(
            "StatefulSet",
            workload(
                "StatefulSet", PLAIN, readyReplicas=2, currentReplicas=2, updateRevision="x-2", currentRevision="x-2"
            ),
        ),
        OF_SET,
    ),
    "set without revisions": Scene(only("StatefulSet", workload("StatefulSet", PLAIN, readyReplicas=2)), OF_SET),
    "partition updates": Scene(only("StatefulSet", workload("StatefulSet", PARTITION, readyReplicas=2)), OF_SET),
    "partition done": Scene(
        only("StatefulSet", workload("StatefulSet", PARTITION, readyReplicas=2, updatedReplicas=1)), OF_SET
    ),
    "set is replaced by hand": Scene(
        only("StatefulSet", workload("StatefulSet", {"updateStrategy": {"type": "OnDelete"}})), OF_SET
    ),
    "no such workload": Scene(
        {}, ["rollout status deploy x", "rollout history deploy x", "rollout undo deploy x", "rollout restart deploy x"]
    ),
    "history": Scene(
        REVISED,
        [
            "rollout history deploy x",
            "rollout history deploy x --revision=2",
            "rollout history deploy x --revision=9",
            "rollout history deploy x -o yaml",
            "rollout history deploy x -o name",
            "rollout history deploy x --revision=2 -o json",
            "rollout history deploy x --revision=9 -o json",
            "rollout undo deploy x",
            "rollout undo deploy x --to-revision=2",
            "rollout undo deploy x --to-revision=3",
            "rollout undo deploy x --to-revision=9",
            "rollout undo deploy x --dry-run=client",
            "rollout undo deploy x --dry-run=server",
        ],
    ),
    "no history": Scene(
        BARE, ["rollout history deploy x", "rollout history deploy x --revision=1", "rollout undo deploy x"]
    ),
    "history cannot be read": Scene(
        only("Deployment", DEPLOYED) | {f"GET {APPS}/replicasets": (403, FORBIDDEN)},
        ["rollout history deploy x", "rollout undo deploy x"],
    ),
    "history of sets cannot be read": Scene(
        only("DaemonSet", workload("DaemonSet"))
        | only("StatefulSet", workload("StatefulSet", PLAIN))
        | {f"GET {APPS}/controllerrevisions": (403, FORBIDDEN)},
        [f"rollout {word} {kind} x" for word in ("history", "undo") for kind in ("ds", "sts")],
    ),
    "the workload cannot be read again": Scene(
        {f"GET {APPS}/{plural}/x": Turns([workload(kind), (403, FORBIDDEN)]) for kind, plural in PLURALS.items()},
        [f"rollout {word} {kind} x" for word in ("history", "undo") for kind in ("deploy", "ds", "sts")],
    ),
    "it is gone meanwhile": Scene(
        only("Deployment", DEPLOYED)
        | {
            f"GET {APPS}/deployments": {
                "kind": "DeploymentList",
                "apiVersion": "apps/v1",
                "metadata": {"resourceVersion": "5"},
                "items": [],
            }
        },
        ["rollout status deploy x --timeout=3s"],
    ),
    "no history of sets": Scene(
        only("DaemonSet", workload("DaemonSet"))
        | only("StatefulSet", workload("StatefulSet", PLAIN))
        | {
            f"GET {APPS}/controllerrevisions": {
                "kind": "ControllerRevisionList",
                "apiVersion": "apps/v1",
                "metadata": {},
                "items": [],
            }
        },
        [
            f"rollout {word} {kind} x"
            for word in ("history", "undo", "history --revision=2", "undo --to-revision=2")
            for kind in ("ds", "sts")
        ],
    ),
    "undoing is refused": Scene(REVISED | {f"PATCH {APPS}/deployments/x": (403, FORBIDDEN)}, ["rollout undo deploy x"]),
    "restarting is refused": Scene(
        only("Deployment", DEPLOYED) | {f"PATCH {APPS}/deployments/x": (409, CONFLICT)},
        ["rollout pause deploy x", "rollout resume deploy x"],
    ),
    "named without": Scene(
        {}, ["rollout history", "rollout undo", "rollout restart", "rollout pause", "rollout status"]
    ),
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, scene in SCENES.items() for line in scene.lines])
def test_the_same_is_said_and_asked_for(name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, SCENES[name], line, KEPT, tmp_path, monkeypatch)
