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
AT_ONCE = 60
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
PLAIN: Object = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0}


def _addresses() -> Iterator[Object]:
    for one, many in (("podIP", "podIPs"), ("hostIP", "hostIPs")):
        for ip in IPS:
            yield {one: ip}
        for ip in IPS:
            yield {many: [{"ip": ip}]}
        for first, second in product(IPS[:6], IPS[:6]):
            yield {many: [{"ip": first}, {"ip": second}]}
        for first, second in product(IPS[:6], IPS[:6]):
            yield {one: first, many: [{"ip": second}]}
        yield {many: [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}, {"ip": "10.1.2.4"}]}
        yield {many: [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}, {"ip": "fd00::4"}]}
        yield {one: "10.1.2.3", many: []}
        yield {one: "fd00::3", many: [{"ip": "fd00::3"}, {"ip": "10.1.2.3"}]}
        yield {one: "10.1.2.3", many: [{"ip": "fd00::3"}, {"ip": "10.1.2.3"}]}
        yield {many: [{}]}
        yield {many: None, one: None}


def _words() -> Iterator[Object]:
    for node in ("n", "Some_Node", "a.b", "a" * 64, "a" * 254, "", "-", "a..b"):
        yield {"nominatedNodeName": node}
    for quality in ("Guaranteed", "Burstable", "BestEffort", "X", ""):
        yield {"qosClass": quality}
    for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown", "X", ""):
        yield {"phase": phase}
    for condition in (
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
        yield {"conditions": [condition]}
    for resize in ("Proposed", "InProgress", "Deferred", "Infeasible", "X", ""):
        yield {"resize": resize}
    for generation in (-1, 0, 1, 2):
        yield {"observedGeneration": generation}
    yield {"startTime": TIME}
    yield {"startTime": "x"}


def _container_statuses() -> Iterator[Object]:
    for state in (
        {},
        {"waiting": {}},
        {"running": {}},
        {"terminated": {"exitCode": 0}},
        {"waiting": {}, "running": {}},
        {"terminated": {"exitCode": 0}, "running": {}},
        {"terminated": {"exitCode": -1, "signal": 9}},
    ):
        yield {"containerStatuses": [{**PLAIN, "state": state}]}
        yield {"containerStatuses": [{**PLAIN, "lastState": state}]}
    for more in (
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
        yield {"containerStatuses": [{**PLAIN, "state": {"running": {}}, **more}]}
        yield {"initContainerStatuses": [{**PLAIN, "name": "i", "state": {"running": {}}, **more}]}
        yield {"ephemeralContainerStatuses": [{**PLAIN, "name": "e", "state": {"running": {}}, **more}]}
    yield {"containerStatuses": [{**PLAIN, "state": {}}, {**PLAIN, "state": {}}]}


def _claims() -> Iterator[Object]:
    for claim in (
        {"name": "r", "resourceClaimName": "x"},
        {"name": "r"},
        {"name": "q", "resourceClaimName": "x"},
        {"name": "r", "resourceClaimName": "X Y"},
        {"name": "", "resourceClaimName": "x"},
        {"name": "t", "resourceClaimName": "x"},
    ):
        yield {"resourceClaimStatuses": [claim]}
    yield {"resourceClaimStatuses": [{"name": "r"}, {"name": "r"}]}
    for claim in (
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
        yield {"extendedResourceClaimStatus": claim}
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


def _mapping(container: str = "c", resource: str = "a.b/c", request: str = "r") -> Object:
    return {"containerName": container, "resourceName": resource, "requestName": request}


def _devices(name: str, *ids: str, health: str = "Healthy") -> Object:
    return {"name": name, "resources": [{"resourceID": each, "health": health} for each in ids]}


def _mapped() -> Iterator[Object]:
    for mappings in (
        [_mapping()],
        [_mapping(), _mapping()],
        [_mapping(), _mapping(resource="a.b/d")],
        [_mapping(), _mapping(resource="a.b/d", request="s")],
        [_mapping(), _mapping(request="s")],
        [_mapping("i")],
        [_mapping("i", "a.b/i")],
        [_mapping("o")],
        [_mapping("c", "a.b/i")],
        [_mapping("z")],
        [_mapping("")],
        [_mapping(resource="")],
        [_mapping(request="")],
        [_mapping(resource="cpu")],
        [_mapping(resource="requests.a/b")],
        [_mapping(resource="kubernetes.io/x")],
        [_mapping(resource="A B/c")],
        [_mapping(resource="a.b/z")],
        [_mapping(request="R R")],
        [_mapping(request="r/s")],
        [_mapping(request="r/s/t")],
        [_mapping(request="a" * 64)],
        [_mapping("z", "cpu", "R"), _mapping("z", "cpu", "R")],
        [{}],
        [_mapping("i", "a.b/i", "x"), _mapping("c", "a.b/c", "x")],
        [_mapping(resource="deviceclass.resource.kubernetes.io/x")],
        [_mapping(resource="c")],
        [_mapping(resource="x/a.b/c")],
        [],
    ):
        for name in ("x", "", "X Y"):
            yield {"extendedResourceClaimStatus": {"resourceClaimName": name, "requestMappings": mappings}}


def _allocated() -> Iterator[Object]:
    plain = {**PLAIN, "state": {"running": {}}}
    for devices in (
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
        for field, name in (
            ("containerStatuses", "c"),
            ("containerStatuses", "o"),
            ("initContainerStatuses", "i"),
            ("containerStatuses", "zz"),
            ("ephemeralContainerStatuses", "e"),
        ):
            yield {field: [{**plain, "name": name, "allocatedResourcesStatus": devices}]}


def _after_a_status() -> Iterator[Case]:
    statuses = [*_addresses(), *_words(), *_container_statuses(), *_claims()]
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
        for start in range(0, len(statuses), AT_ONCE):
            steps = [Step("POST", PODS, {"metadata": {"name": "p"}, "spec": SPEC})]
            if first:
                steps.append(Step("PATCH", PODS + "/p/status", {"status": first}, MERGE))
            steps += [
                Step("PATCH", PODS + "/p/status?dryRun=All", {"status": status}, MERGE)
                for status in statuses[start : start + AT_ONCE]
            ]
            yield Case(tuple(steps), name=f"status after {name} {start}")


def _nominated() -> Iterator[Case]:
    for node in (None, "n"):
        spec = {**SPEC, **({"nodeName": node} if node else {})}
        steps = [Step("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})]
        for name in ("n", "m", "Some_Node", "", "-"):
            steps.append(Step("PATCH", PODS + "/p/status?dryRun=All", {"status": {"nominatedNodeName": name}}, MERGE))
        steps.append(Step("PATCH", PODS + "/p/status", {"status": {"nominatedNodeName": "m"}}, MERGE))
        steps += [
            Step("POST", PODS + "/p/binding", {"target": {"kind": "Node", "name": name}}) for name in ("", "k", "l")
        ]
        steps += [Step("GET", PODS + "/p")]
        for name in ("n", "", "-"):
            steps.append(Step("PATCH", PODS + "/p/status?dryRun=All", {"status": {"nominatedNodeName": name}}, MERGE))
        for change in (
            {"metadata": {"labels": {"a": "b"}}},
            {"metadata": {"annotations": {"a": "b"}}},
            {"metadata": {"finalizers": ["a/b"]}},
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "a", "uid": "u"}]}},
            {"spec": {"nodeName": "z"}},
            {"spec": {"activeDeadlineSeconds": 1}},
            {"metadata": {"generateName": "q"}},
            {"metadata": {"deletionGracePeriodSeconds": 3}},
        ):
            steps.append(Step("PATCH", PODS + "/p/status?dryRun=All", {**change, "status": {"message": "m"}}, MERGE))
        yield Case(tuple(steps), name=f"nominated {node}")


def _with_devices() -> Iterator[Case]:
    asked = [*_mapped(), *_allocated()]
    for start in range(0, len(asked), AT_ONCE):
        yield Case(
            (
                Step("POST", PODS, {"metadata": {"name": "p"}, "spec": ASKING}),
                *(
                    Step("PATCH", PODS + "/p/status?dryRun=All", {"status": status}, MERGE)
                    for status in asked[start : start + AT_ONCE]
                ),
            ),
            name=f"claims and devices {start}",
        )


def cases() -> Iterator[Case]:
    """Each is a dry run on a pod that has said something before."""
    yield from _after_a_status()
    yield from _nominated()
    yield from _with_devices()
