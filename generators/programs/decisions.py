"""Decisions of controllers that need no pod: how a scaled Deployment shares out its
size, and which slices mirror which Endpoints.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.connection import Connection
from generators.programs.control_plane import Server, until

WHO = "kube-controller-manager v1.36.2"
MERGE = "application/merge-patch+json"
PREFIX = "deployment.kubernetes.io"
Object = dict[str, Any]

SCALED: tuple[tuple[str, tuple[int, ...], int, int, Any], ...] = (
    ("two sizes, up", (8, 3), 10, 15, 3),
    ("two sizes, down", (8, 3), 10, 5, 3),
    ("equal sizes, up by an odd number", (5, 5), 10, 17, 0),
    ("equal sizes, down by an odd number", (5, 5), 10, 3, 0),
    ("three of one, up", (1, 1, 1), 3, 10, 0),
    ("three sizes, down to one", (4, 4, 3), 10, 1, 1),
    ("down to nothing", (6, 4), 10, 0, 3),
    ("a surge in percent", (7, 6), 10, 20, "25%"),
    ("one is empty", (0, 5), 5, 9, 1),
    ("a small share is rounded", (20, 1), 20, 23, 1),
    ("a large one and three small ones", (10, 2, 2, 1), 12, 30, "30%"),
    ("the older one is smaller, down", (3, 8), 10, 4, 1),
    ("the largest in the middle, down", (2, 9, 4), 14, 6, 2),
    ("the largest in the middle, up", (2, 9, 4), 14, 23, 2),
    ("two equal ones and a larger one, down", (3, 3, 7), 12, 5, "10%"),
    ("two equal ones and a larger one, up", (3, 3, 7), 12, 20, "10%"),
    ("a remainder, down", (5, 7), 11, 8, 1),
    ("a remainder, up", (5, 7), 11, 14, 1),
    ("a surge of everything", (2, 5), 6, 13, "100%"),
)
"""What is asked, the sizes of the ReplicaSets from old to new, the Deployment's size
before and after, `maxSurge`.
"""

PORTS = [{"name": "http", "port": 80, "protocol": "TCP"}]
POD = {"kind": "Pod", "name": "p", "namespace": "x", "uid": "u"}
MIRRORED: tuple[tuple[str, Object, list[Object]], ...] = (
    (
        "ready, not ready, two ports",
        {},
        [
            {
                "addresses": [{"ip": "10.0.0.2"}, {"ip": "10.0.0.1", "hostname": "h"}],
                "notReadyAddresses": [{"ip": "10.0.0.3", "nodeName": "n1"}],
                "ports": [*PORTS, {"name": "dns", "port": 53, "protocol": "UDP"}],
            }
        ],
    ),
    (
        "two families",
        {"labels": {"team": "web"}, "annotations": {"why": "because"}},
        [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "ports": PORTS}],
    ),
    (
        "two subsets with ports of their own",
        {},
        [
            {"addresses": [{"ip": "10.0.0.1", "targetRef": POD}], "ports": PORTS},
            {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 81}]},
        ],
    ),
    (
        "an address twice",
        {},
        [
            {"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS},
            {"notReadyAddresses": [{"ip": "10.0.0.2"}], "ports": PORTS},
        ],
    ),
    (
        "an address more, later",
        {},
        [{"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS}],
    ),
    (
        "another port, later",
        {},
        [{"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS}],
    ),
    (
        "one family less, later",
        {},
        [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "ports": PORTS}],
    ),
    ("no ports", {}, [{"addresses": [{"ip": "10.0.0.1"}]}]),
    (
        "said not to",
        {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        [{"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS}],
    ),
    (
        "a lock of old",
        {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}},
        [{"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS}],
    ),
    (
        "a second slice, which says something else",
        {},
        [{"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS}],
    ),
)

CHANGED: dict[str, list[Object]] = {
    "an address more, later": [
        {"addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}], "ports": PORTS}
    ],
    "another port, later": [
        {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 81}]}
    ],
    "one family less, later": [{"addresses": [{"ip": "10.0.0.1"}], "ports": PORTS}],
}
"""What becomes of some of them."""
SECOND = "a second slice, which says something else"


def answers(server: Server) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    yield from _scaled(server.admin)
    yield from _mirrored(server.admin)


def _bare(obj: Object) -> Object:
    """Without bookkeeping."""
    metadata = {k: v for k, v in obj["metadata"].items() if k != "managedFields"}
    return {**obj, "metadata": metadata}


def _scaled(admin: Connection) -> Iterator[Answer]:
    for number, (name, sizes, before, after, surge) in enumerate(SCALED):
        room = namespace(admin, f"scaled-{number}").rpartition("/")[2]
        apps = f"/apis/apps/v1/namespaces/{room}"
        deployment = _workload("Deployment", "web", before, "new")
        strategy = {"maxSurge": surge, "maxUnavailable": 1}
        deployment["spec"] |= {
            "paused": True,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": strategy},
        }
        made = admin("POST", f"{apps}/deployments", deployment).body
        owner = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "web",
            "uid": made["metadata"]["uid"],
            "controller": True,
        }
        most = before + (3 if isinstance(surge, str) else surge)
        for index, size in enumerate(sizes):
            replica_set = _workload("ReplicaSet", f"web-{index}", size, f"v{index}")
            replica_set["metadata"] |= {
                "labels": {"app": "web"},
                "ownerReferences": [owner],
                "annotations": {
                    f"{PREFIX}/desired-replicas": str(before),
                    f"{PREFIX}/max-replicas": str(most),
                    f"{PREFIX}/revision": str(index + 1),
                },
            }
            admin("POST", f"{apps}/replicasets", replica_set)
            time.sleep(1.1)  # the age of each, in whole seconds, is told apart
        sets = admin("GET", f"{apps}/replicasets").body["items"]
        admin(
            "PATCH",
            f"{apps}/deployments/web",
            {"spec": {"replicas": after}},
            content_type=MERGE,
        )
        until("a size", partial(_seen, admin, apps))
        seen = admin("GET", f"{apps}/deployments/web").body
        new = admin("GET", f"{apps}/replicasets").body["items"]
        yield Answer(
            f"scaled/{name}",
            WHO,
            "a paused Deployment with ReplicaSets of some sizes is scaled: how large"
            " each is then, and what it remembers",
            {
                "deployment": _bare(seen) | {"status": {}},
                "before": [_bare(each) for each in sets],
                "after": {
                    each["metadata"]["name"]: {
                        "replicas": each["spec"]["replicas"],
                        **{
                            key: each["metadata"]["annotations"][f"{PREFIX}/{key}"]
                            for key in ("desired-replicas", "max-replicas")
                        },
                    }
                    for each in new
                },
            },
        )


def _seen(admin: Connection, apps: str) -> bool:
    deployment = admin("GET", f"{apps}/deployments/web").body
    generation = deployment["metadata"]["generation"]
    return bool(deployment.get("status", {}).get("observedGeneration") == generation)


def _workload(kind: str, name: str, replicas: int, image: str) -> Object:
    labels = {"app": "web"}
    containers = [{"name": "c", "image": image}]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": containers},
            },
        },
    }


def _mirrored(admin: Connection) -> Iterator[Answer]:
    path = namespace(admin, "mirrored")
    slices = "/apis/discovery.k8s.io/v1/namespaces/mirrored/endpointslices"
    for number, (name, metadata, subsets) in enumerate(MIRRORED):
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"s{number}"},
            "spec": {"ports": [{"port": 80}]},
        }
        admin("POST", f"{path}/services", service)
        endpoints = {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": f"s{number}", **metadata},
            "subsets": subsets,
        }
        admin("POST", f"{path}/endpoints", endpoints)
        time.sleep(3)
        selected = f"{slices}?labelSelector=kubernetes.io/service-name%3Ds{number}"
        existing: list[Object] = []
        if name in CHANGED:
            existing = admin("GET", selected).body["items"]
            patch = {"subsets": CHANGED[name]}
            where = f"{path}/endpoints/s{number}"
            admin("PATCH", where, patch, content_type=MERGE)
            time.sleep(3)
        elif name == SECOND:
            existing = admin("GET", selected).body["items"]
            another = _another(existing[0], f"s{number}-0")
            existing = [admin("POST", slices, another).body, *existing]
            time.sleep(3)
        yield Answer(
            f"mirrored/{name}",
            WHO,
            "Endpoints are made for a Service without a selector, some change later:"
            " the slices that mirror them",
            {
                "endpoints": _bare(admin("GET", f"{path}/endpoints/s{number}").body),
                "existing": [_bare(each) for each in existing],
                "slices": [
                    _bare(each) for each in admin("GET", selected).body["items"]
                ],
            },
        )


def _another(endpoint_slice: Object, name: str) -> Object:
    """As if the controller had made it, too, for an address that is gone."""
    meta = endpoint_slice["metadata"]
    kept = {key: meta[key] for key in ("generateName", "labels", "ownerReferences")}
    endpoints = [{"addresses": ["10.0.0.9"], "conditions": {"ready": True}}]
    return {
        **endpoint_slice,
        "metadata": {**kept, "name": name},
        "endpoints": endpoints,
    }
