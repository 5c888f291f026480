"""`drain` where evictions are refused, pods stay, and namespaces go: what the real kubectl 1.36 says and asks for, as it was kept.

`KEEP=anew pytest` asks it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.staged import Scene, Turns, check, status

KEPT = Path(__file__).parent / "staged_answers" / "evictions.json"
EVICT = "/api/v1/namespaces/default/pods/a/eviction"
POD = "/api/v1/namespaces/default/pods/a"
NODE: dict[str, Any] = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {"unschedulable": True}}


def pod(name: str = "a", uid: str = "1", owner: str = "ReplicaSet", **metadata: Any) -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
    about = {"name": name, "namespace": "default", "uid": uid, "ownerReferences": owners, **metadata}
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": about, "spec": spec, "status": {"phase": "Running"}}


def pods(*items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": list(items)}


def node(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    answers = {"GET /api/v1/nodes/n": NODE, "GET /api/v1/pods": pods(*items or (pod(),))}
    return {**answers, **more}


DAEMON = "/apis/apps/v1/namespaces/default/daemonsets/o"
GONE = status(404, "NotFound", 'pods "a" not found')
BUDGET = status(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.")
FORBIDDEN = status(403, "Forbidden", "no")
ENDING = status(403, "Forbidden", "ns is being terminated", causes=[{"reason": "NamespaceTerminating", "message": "x"}])
LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
REFUSED = status(500, "InternalError", "broken")

SCENES = {
    "granted": Scene(
        node(), ["drain n", "drain n --dry-run=server", "drain n --dry-run=client", "drain n --disable-eviction"]
    ),
    "gone before it was asked": Scene(
        node() | {f"POST {EVICT}": (404, GONE), f"DELETE {POD}": (404, GONE)},
        ["drain n", "drain n --disable-eviction", "drain n --grace-period=0"],
    ),
    "a budget refuses at first": Scene(node() | {f"POST {EVICT}": Turns([(429, BUDGET), (201, {})])}, ["drain n"]),
    "a budget refuses always": Scene(node() | {f"POST {EVICT}": (429, BUDGET)}, ["drain n --timeout=4s"]),
    "forbidden": Scene(
        node() | {f"POST {EVICT}": (403, FORBIDDEN), f"DELETE {POD}": (403, FORBIDDEN)},
        ["drain n", "drain n --disable-eviction"],
    ),
    "broken": Scene(
        node() | {f"POST {EVICT}": (500, REFUSED), f"DELETE {POD}": (500, REFUSED)},
        ["drain n", "drain n --disable-eviction", "drain n --ignore-errors"],
    ),
    "its namespace goes": Scene(
        node() | {f"POST {EVICT}": (403, ENDING), f"GET {POD}": Turns([pod(**LEAVING), (404, GONE)])}, ["drain n"]
    ),
    "its namespace goes, and the pod was not told": Scene(
        node() | {f"POST {EVICT}": Turns([(403, ENDING), (201, {})]), f"GET {POD}": Turns([pod(), (404, GONE)])},
        ["drain n"],
    ),
    "its namespace goes, and the pod is gone": Scene(
        node() | {f"POST {EVICT}": Turns([(403, ENDING), (404, GONE)])}, ["drain n"]
    ),
    "it stays": Scene(
        node() | {f"GET {POD}": pod(), f"DELETE {POD}": {}},
        [
            "drain n --timeout=2s",
            "drain n --timeout=2s --disable-eviction",
            "drain n --timeout=2s --disable-eviction --dry-run=server",
        ],
    ),
    "it stays a while": Scene(
        node() | {f"GET {POD}": Turns([pod(), (404, GONE)]), f"DELETE {POD}": {}},
        ["drain n", "drain n --disable-eviction"],
    ),
    "another takes its name": Scene(
        node() | {f"GET {POD}": pod(uid="2"), f"DELETE {POD}": {}}, ["drain n", "drain n --disable-eviction"]
    ),
    "it cannot be looked at": Scene(
        node() | {f"GET {POD}": (403, FORBIDDEN), f"DELETE {POD}": {}},
        ["drain n", "drain n --disable-eviction", "drain n --timeout=1m"],
    ),
    "it has been leaving for long": Scene(
        node(pod(**LEAVING)) | {f"GET {POD}": pod(**LEAVING), f"DELETE {POD}": {}},
        [
            "drain n --skip-wait-for-delete-timeout=9",
            "drain n --skip-wait-for-delete-timeout=9 --disable-eviction",
            "drain n --timeout=2s",
        ],
    ),
    "it leaves while it is waited for": Scene(
        node() | {f"GET {POD}": pod(**LEAVING), f"DELETE {POD}": {}},
        ["drain n --skip-wait-for-delete-timeout=9", "drain n --skip-wait-for-delete-timeout=9 --disable-eviction"],
    ),
    "two, and one of them is refused": Scene(
        node(pod(), pod("b")) | {f"POST {EVICT}": (403, FORBIDDEN)}, ["drain n"], at_once=True
    ),
    "its daemon set is gone": Scene(
        node(pod(owner="DaemonSet")),
        ["drain n", "drain n --force", "drain n --ignore-daemonsets", "drain n --ignore-daemonsets --force"],
    ),
    "its daemon set cannot be looked at": Scene(
        node(pod(owner="DaemonSet")) | {f"GET {DAEMON}": (403, FORBIDDEN)},
        ["drain n", "drain n --force", "drain n --ignore-daemonsets"],
    ),
    "nobody owns it": Scene(node(pod(owner="")), ["drain n", "drain n --force", "drain n --force --disable-eviction"]),
    "pods cannot be listed": Scene(
        {"GET /api/v1/nodes/n": NODE, "GET /api/v1/pods": (403, FORBIDDEN)}, ["drain n", "drain n --ignore-errors"]
    ),
    "there is no such node": Scene({}, ["drain n", "drain n m", "cordon n", "uncordon n m"]),
    "nodes cannot be listed": Scene({"GET /api/v1/nodes": (403, FORBIDDEN)}, ["drain -l a=b", "cordon -l a=b"]),
    "the node cannot be changed": Scene(
        {"GET /api/v1/nodes/n": {**NODE, "spec": {}}, "PATCH /api/v1/nodes/n": (403, FORBIDDEN)},
        ["drain n", "cordon n", "drain n n"],
    ),
    "the node is somebody else's meanwhile": Scene(
        {
            "GET /api/v1/nodes/n": {**NODE, "spec": {}},
            "PATCH /api/v1/nodes/n": (409, status(409, "Conflict", "meanwhile")),
        },
        ["cordon n"],
    ),
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, scene in SCENES.items() for line in scene.lines])
def test_the_same_is_said_and_asked_for(name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, SCENES[name], line, KEPT, tmp_path, monkeypatch)
