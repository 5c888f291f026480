"""Statuses of pods, one odd field after the other: addresses, nominations, containers, claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.differential.case import Case, Step
from tests.differential.scenes import MERGE

Object = dict[str, Any]
PODS = "/api/v1/namespaces/{ns}/pods"
TIME = "2026-01-01T00:00:00Z"
IPS = [
    "10.1.2.3",
    "fd00::3",
    "::ffff:10.1.2.3",
    "010.1.2.3",
    "x",
    "",
    "10.1.2.4",
    "FD00::3",
    "10.1.2.3 ",
    "::",
    "0.0.0.0",
    "127.0.0.1",
    "fe80::1",
    "224.0.0.1",
    "fe80::1%eth0",
]


def _statuses() -> Iterator[Object]:
    for one, many in (("podIP", "podIPs"), ("hostIP", "hostIPs")):
        for a in IPS:
            yield {one: a}
        for a in IPS:
            yield {many: [{"ip": a}]}
        for a, b in product(IPS[:6], IPS[:6]):
            yield {many: [{"ip": a}, {"ip": b}]}
        for a, b in product(IPS[:6], IPS[:6]):
            yield {one: a, many: [{"ip": b}]}
        yield {many: [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}, {"ip": "10.1.2.4"}]}
        yield {many: [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}, {"ip": "fd00::4"}]}
        yield {one: "10.1.2.3", many: []}
        yield {one: "fd00::3", many: [{"ip": "fd00::3"}, {"ip": "10.1.2.3"}]}
        yield {one: "10.1.2.3", many: [{"ip": "fd00::3"}, {"ip": "10.1.2.3"}]}
        yield {many: [{}]}
        yield {many: None, one: None}
    for n in ("n", "Some_Node", "a.b", "a" * 64, "a" * 254, "", "-", "a..b"):
        yield {"nominatedNodeName": n}
    for q in ("Guaranteed", "Burstable", "BestEffort", "X", ""):
        yield {"qosClass": q}
    for q in ("Pending", "Running", "Succeeded", "Failed", "Unknown", "X", ""):
        yield {"phase": q}
    for c in (
        {"type": "Ready"},
        {"type": "Ready", "status": "X"},
        {"status": "True"},
        {"type": "", "status": "True"},
        {"type": "a b", "status": "True"},
        {"type": "Ready", "status": "True", "reason": "a b", "message": "x" * 40000},
        {"type": "x/y/z", "status": "True"},
        {"type": "x.io/Y", "status": "Unknown", "observedGeneration": -1},
        {"type": "PodReadyToStartContainers", "status": "True", "lastProbeTime": TIME},
    ):
        yield {"conditions": [c]}
    for v in ("Proposed", "InProgress", "Deferred", "Infeasible", "X", ""):
        yield {"resize": v}
    for g in (-1, 0, 1, 2):
        yield {"observedGeneration": g}
    yield {"startTime": TIME}
    yield {"startTime": "x"}
    plain = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    for st in (
        {},
        {"waiting": {}},
        {"running": {}},
        {"terminated": {"exitCode": 0}},
        {"waiting": {}, "running": {}},
        {"terminated": {"exitCode": 0}, "running": {}},
        {"terminated": {"exitCode": -1, "signal": 9}},
    ):
        yield {"containerStatuses": [{**plain, "state": st}]}
        yield {"containerStatuses": [{**plain, "lastState": st}]}
    for m in (
        {"user": {"linux": {"uid": -1, "gid": 0}}},
        {"user": {"linux": {"uid": 0, "gid": 0, "supplementalGroups": [-1]}}},
        {"user": {"linux": {"uid": 0, "gid": 2**40}}},
        {"user": {}},
        {"stopSignal": "SIGTERM"},
        {"stopSignal": "X"},
        {"started": True},
        {"allocatedResources": {"cpu": "1"}},
        {"allocatedResources": {"x": "1"}},
        {"allocatedResources": {"cpu": "-1"}},
        {"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}},
        {"allocatedResourcesStatus": [{"name": "x", "resources": []}]},
        {"allocatedResourcesStatus": [{"name": "claim:r/q", "resources": [{"resourceID": "a", "health": "Healthy"}]}]},
        {
            "allocatedResourcesStatus": [
                {
                    "name": "claim:r",
                    "resources": [{"resourceID": "a", "health": "X"}, {"resourceID": "a", "health": "Unknown"}],
                }
            ]
        },
        {
            "allocatedResourcesStatus": [
                {"name": "nvidia.com/gpu", "resources": [{"resourceID": "a", "health": "Healthy"}]},
                {"name": "nvidia.com/gpu", "resources": [{"resourceID": "a", "health": "Healthy"}]},
            ]
        },
        {"volumeMounts": [{"name": "v", "mountPath": "/x"}]},
        {"volumeMounts": [{"name": "v", "mountPath": "/x", "recursiveReadOnly": "X"}]},
        {"volumeMounts": [{"name": "v", "mountPath": "/x", "readOnly": True, "recursiveReadOnly": "Enabled"}]},
        {"restartCount": -1},
        {"image": ""},
        {"imageID": ""},
        {"containerID": "x"},
        {"name": ""},
        {"name": "nobody"},
        {"name": "i"},
    ):
        yield {"containerStatuses": [{**plain, "state": {"running": {}}, **m}]}
        yield {"initContainerStatuses": [{**plain, "name": "i", "state": {"running": {}}, **m}]}
        yield {"ephemeralContainerStatuses": [{**plain, "name": "e", "state": {"running": {}}, **m}]}
    yield {"containerStatuses": [{**plain, "state": {}}, {**plain, "state": {}}]}
    for n in (
        {"name": "r", "resourceClaimName": "x"},
        {"name": "r"},
        {"name": "q", "resourceClaimName": "x"},
        {"name": "r", "resourceClaimName": "X Y"},
        {"name": "", "resourceClaimName": "x"},
        {"name": "t", "resourceClaimName": "x"},
    ):
        yield {"resourceClaimStatuses": [n]}
    yield {"resourceClaimStatuses": [{"name": "r"}, {"name": "r"}]}
    for x in (
        {"resourceClaimName": "x", "requestMappings": []},
        {
            "resourceClaimName": "",
            "requestMappings": [{"containerName": "c", "resourceName": "a/b", "requestName": "r"}],
        },
        {
            "resourceClaimName": "x",
            "requestMappings": [{"containerName": "c", "resourceName": "a.b/c", "requestName": "r"}],
        },
        {
            "resourceClaimName": "x",
            "requestMappings": [{"containerName": "z", "resourceName": "cpu", "requestName": "R R"}],
        },
        {
            "resourceClaimName": "x",
            "requestMappings": [
                {"containerName": "c", "resourceName": "a.b/c", "requestName": "r"},
                {"containerName": "c", "resourceName": "a.b/c", "requestName": "r"},
            ],
        },
        {"resourceClaimName": "x", "requestMappings": [{}]},
    ):
        yield {"extendedResourceClaimStatus": x}
    yield {"allocatedResources": {"cpu": "1"}}
    yield {"allocatedResources": {"x": "1"}}
    yield {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}
    yield {"resources": {"requests": {"x": "2"}}}
    yield {"reason": "a b", "message": "m"}
    yield {"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "x"}]}


SPEC = {
    "containers": [{"name": "c", "image": "i"}],
    "initContainers": [{"name": "i", "image": "i"}],
    "resourceClaims": [{"name": "r", "resourceClaimTemplateName": "t"}, {"name": "t", "resourceClaimName": "q"}],
}
DEVICES = {"requests": {"a.b/c": "1", "a.b/d": "1"}, "limits": {"a.b/c": "1", "a.b/d": "1"}}
ASKING = {
    "containers": [{"name": "c", "image": "i", "resources": DEVICES}, {"name": "o", "image": "i"}],
    "initContainers": [
        {"name": "i", "image": "i", "resources": {"requests": {"a.b/i": "1"}, "limits": {"a.b/i": "1"}}}
    ],
    "resourceClaims": [{"name": "r", "resourceClaimTemplateName": "t"}, {"name": "t", "resourceClaimName": "q"}],
}


def _mapping(c: str = "c", r: str = "a.b/c", q: str = "r") -> Object:
    return {"containerName": c, "resourceName": r, "requestName": q}


def _devices(name: str, *ids: str, health: str = "Healthy") -> Object:
    return {"name": name, "resources": [{"resourceID": each, "health": health} for each in ids]}


def _asked() -> Iterator[Object]:
    for ms in (
        [_mapping()],
        [_mapping(), _mapping()],
        [_mapping(), _mapping(r="a.b/d")],
        [_mapping(), _mapping(r="a.b/d", q="s")],
        [_mapping(), _mapping(q="s")],
        [_mapping("i")],
        [_mapping("i", "a.b/i")],
        [_mapping("o")],
        [_mapping("c", "a.b/i")],
        [_mapping("z")],
        [_mapping("")],
        [_mapping(r="")],
        [_mapping(q="")],
        [_mapping(r="cpu")],
        [_mapping(r="requests.a/b")],
        [_mapping(r="kubernetes.io/x")],
        [_mapping(r="A B/c")],
        [_mapping(r="a.b/z")],
        [_mapping(q="R R")],
        [_mapping(q="r/s")],
        [_mapping(q="r/s/t")],
        [_mapping(q="a" * 64)],
        [_mapping("z", "cpu", "R"), _mapping("z", "cpu", "R")],
        [{}],
        [_mapping("i", "a.b/i", "x"), _mapping("c", "a.b/c", "x")],
        [_mapping(r="deviceclass.resource.kubernetes.io/x")],
        [_mapping(r="c")],
        [_mapping(r="x/a.b/c")],
        [],
    ):
        for n in ("x", "", "X Y"):
            yield {"extendedResourceClaimStatus": {"resourceClaimName": n, "requestMappings": ms}}
    plain = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": {"running": {}}}
    for a in (
        [_devices("a.b/c", "1")],
        [_devices("a.b/c", "1"), _devices("a.b/c", "2")],
        [_devices("a.b/c", "1", "1")],
        [_devices("a.b/c", "1", health="X")],
        [_devices("a.b/c", "", health="")],
        [_devices("", "1")],
        [_devices("cpu", "1")],
        [_devices("a.b/z", "1"), _devices("a.b/z", "1")],
        [_devices("A B", "1")],
        [_devices("claim:r", "1")],
        [_devices("claim:r/x", "1")],
        [_devices("claim:z", "1")],
        [_devices("claim:", "1")],
        [_devices("claim:r", "1"), _devices("claim:r", "2")],
        [_devices("claim:t", "1", "1")],
        [_devices("a.b/c")],
        [_devices("a.b/c", "1"), _devices("a.b/d", "1", "2", "1"), _devices("x", "1")],
        [{"name": "a.b/c"}],
        [_devices("a.b/c", *map(str, range(101)))],
        [_devices("a.b/i", "1")],
        [_devices("claim:A_B", "1"), _devices("claim:A_B", "1")],
    ):
        for g, n in (
            ("containerStatuses", "c"),
            ("containerStatuses", "o"),
            ("initContainerStatuses", "i"),
            ("containerStatuses", "zz"),
            ("ephemeralContainerStatuses", "e"),
        ):
            yield {g: [{**plain, "name": n, "allocatedResourcesStatus": a}]}


def cases() -> Iterator[Case]:
    """Each is a dry run on a pod that has said something before."""
    sts = list(_statuses())
    for name, first in (
        ("none", None),
        (
            "ips",
            {
                "podIP": "10.1.2.3",
                "podIPs": [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}],
                "hostIP": "192.0.2.1",
                "hostIPs": [{"ip": "192.0.2.1"}, {"ip": "fd00::1"}],
                "nominatedNodeName": "n",
                "phase": "Running",
                "startTime": TIME,
                "observedGeneration": 1,
            },
        ),
        (
            "odd",
            {
                "podIPs": [{"ip": "fd00::3"}],
                "hostIP": "fd00::1",
                "hostIPs": [{"ip": "fd00::1"}],
                "resourceClaimStatuses": [{"name": "r", "resourceClaimName": "x"}],
            },
        ),
    ):
        for a in range(0, len(sts), 60):
            steps = [Step("POST", PODS, {"metadata": {"name": "p"}, "spec": SPEC})]
            if first:
                steps.append(Step("PATCH", PODS + "/p/status", {"status": first}, MERGE))
            steps += [Step("PATCH", PODS + "/p/status?dryRun=All", {"status": s}, MERGE) for s in sts[a : a + 60]]
            yield Case(tuple(steps), name=f"status after {name} {a}")
    for node in (None, "n"):
        spec = {**SPEC, **({"nodeName": node} if node else {})}
        steps = [Step("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})]
        for n in ("n", "m", "Some_Node", "", "-"):
            steps.append(Step("PATCH", PODS + "/p/status?dryRun=All", {"status": {"nominatedNodeName": n}}, MERGE))
        steps.append(Step("PATCH", PODS + "/p/status", {"status": {"nominatedNodeName": "m"}}, MERGE))
        steps += [Step("POST", PODS + "/p/binding", {"target": {"kind": "Node", "name": x}}) for x in ("", "k", "l")]
        steps += [Step("GET", PODS + "/p")]
        for n in ("n", "", "-"):
            steps.append(Step("PATCH", PODS + "/p/status?dryRun=All", {"status": {"nominatedNodeName": n}}, MERGE))
        for b in (
            {"metadata": {"labels": {"a": "b"}}},
            {"metadata": {"annotations": {"a": "b"}}},
            {"metadata": {"finalizers": ["a/b"]}},
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "a", "uid": "u"}]}},
            {"spec": {"nodeName": "z"}},
            {"spec": {"activeDeadlineSeconds": 1}},
            {"metadata": {"generateName": "q"}},
            {"metadata": {"deletionGracePeriodSeconds": 3}},
        ):
            steps.append(Step("PATCH", PODS + "/p/status?dryRun=All", {**b, "status": {"message": "m"}}, MERGE))
        yield Case(tuple(steps), name=f"nominated {node}")

    asked = list(_asked())
    for a in range(0, len(asked), 60):
        yield Case(
            (
                Step("POST", PODS, {"metadata": {"name": "p"}, "spec": ASKING}),
                *(Step("PATCH", PODS + "/p/status?dryRun=All", {"status": s}, MERGE) for s in asked[a : a + 60]),
            ),
            name=f"claims and devices {a}",
        )
