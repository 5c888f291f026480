"""For every freedom: two answers that it makes equal, and a tampered one that it must not excuse.

A rule without its pair here fails the first test.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.compare import Comparison, Normaliser, compare, freedoms, pair_siblings
from lifecycle.compare.compare import BY_NAME, OF_ENDPOINTS
from lifecycle.compare.in_flight import NAME, WRITERS

ELSEWHERE = {
    # granted by an agreement of its own, not by the normaliser: tampered with in tests/agreements, beside that agreement
    "a namespace made for the recording",
    "a pod taken down between two commands",
    "address of a pod",
    "age of a controller's cache",
    "directory named after the time it was made",
    "file for last words, named at random",
    "node chosen among equal sums",
    "order between Services, from a Go map",
    "order of CNI arguments, from a Go map",
    "order of endpoints within a slice: a Go map's",
    "order of events of requests that were under way together",
    "order of nodes that were created in the same second",
    "order of records, shuffled to share the load",
    "order of resolver options, which upstream keeps in a map",
    "place of the kubelet's jump: whoever came first",
    "serial of the zone: when it last changed",
    "suffix of the token volume, made up at creation",
    "times from a controller's own clock",
    # of watches: test_watches.py
    "counts while pods come and go",
    "endpoints written down before they were ready",
    "steps of a rollout",
    "updates that ready pods led to",
}
UIDS = [f"{digit * 8}-1111-4222-8333-444444444444" for digit in "abcdef"]


@dataclass
class Case:
    """`ours` and `theirs` agree by grace of the freedom; `ours` tampered with does not."""

    ours: Any
    theirs: Any
    tamper: Callable[[Any], None]
    in_flight: frozenset[str] = frozenset()


def said(kind: str, name: str = "a", **rest: Any) -> Object:
    metadata = {"name": name, "namespace": "default"} | rest.pop("metadata", {})
    return {"kind": kind, "metadata": metadata, **rest}


def pod(name: str, *, node: str = "one", ip: str = "10.0.0.7", uid: str = UIDS[0], **status: Any) -> Object:
    metadata = {"name": name, "namespace": "default", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "c"}]}
    return {
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"podIPs": [{"ip": ip}], "podIP": ip, **status},
    }


def node(name: str) -> Object:
    return {"kind": "Node", "metadata": {"name": name}, "spec": {}, "status": {}}


def on_either(name: str) -> list[Object]:
    return [node("one"), node("two"), pod("web", node=name)]


def token(**claims: Any) -> str:
    parts = [{"alg": "RS256"}, claims]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, f"c2ln{claims['exp']}"])


def after(key: str, revision: int) -> str:
    told = {"v": "meta.k8s.io/v1", "rv": revision, "start": key}
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def allowed_by(name: str) -> list[Object]:
    bound: Object = {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "Group", "name": "g"}]}
    bindings = [{"kind": "ClusterRoleBinding", "metadata": {"name": each}} | bound for each in ("first", "second")]
    reason = f'RBAC: allowed by ClusterRoleBinding "{name}" of ClusterRole "r" to Group "g"'
    return [*bindings, {"kind": "SubjectAccessReview", "status": {"allowed": True, "reason": reason}}]


def pem(text: str) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"


def begun(day: int) -> Object:
    return {"startTime": f"2026-01-0{day}T00:00:00Z"}


def pulled(text: str) -> Object:
    return {"message": f'Successfully pulled image "a" in {text}'}


def event(count: int, reason: str = "BackOff") -> Object:
    return said("Event", "e.1111111111111111", reason=reason, message="m", count=count)


def table(*cells: Any, columns: tuple[str, ...], about: Object | None = None) -> Object:
    row = {"cells": list(cells), "object": {"kind": "PartialObjectMetadata", "metadata": about or {"name": "a"}}}
    return {"kind": "Table", "metadata": {}, "columnDefinitions": [{"name": name} for name in columns], "rows": [row]}


def started(count: int, **last: Any) -> Object:
    status = {"containerID": "containerd://" + "a" * 64, "restartCount": count, "lastState": last}
    return said("Pod", "web", status={"containerStatuses": [status]})


START_ERROR = {"reason": "StartError", "exitCode": 128, "message": "failed to create containerd task: x"}


def limited(limits: Object | None, manager: str = "kubelet") -> Object:
    fields: Object = {"f:phase": {}}
    if limits:
        fields |= {"f:resources": {".": {}, "f:limits": {".": {}, "f:memory": {}}}}
    entry = {"manager": manager, "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": fields}}
    status = {"phase": "Running"} | ({"resources": {"limits": limits}} if limits else {})
    return said("Pod", "web", metadata={"managedFields": [entry]}, spec={}, status=status)


UNLIMITED = {"memory": "9007199254740988Ki"}


def not_ready(name: str) -> Object:
    about = {"kind": "Pod", "namespace": "kube-system", "name": name}
    return said("Event", f"{name}.1111111111111111", reason="NodeNotReady", message="Node is not ready",
                type="Warning", count=1, source={"component": "node-controller"}, involvedObject=about)  # fmt: skip


def listed(*items: Object, kind: str = "EventList") -> Object:
    return {"kind": kind, "items": list(items)}


def watched(*events: Object) -> Object:
    return {"events": list(events)}


def bookmark(**more: Any) -> Object:
    return {
        "type": "BOOKMARK",
        "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}, **more},
    }


def generated(*names: str) -> Object:
    return listed(*(said("ConfigMap", name, metadata={"generateName": "x-"}, data={"n": name[-2]}) for name in names),
                  kind="ConfigMapList")  # fmt: skip


def slice_of(*ips: str, backwards: bool = False) -> list[Object]:
    pods = [pod(f"p-{i}", ip=ip, uid=UIDS[i]) for i, ip in enumerate(ips)]
    entries = [{"addresses": [ip], "targetRef": {"kind": "Pod", "namespace": "default", "name": f"p-{i}",
                "uid": UIDS[i]}} for i, ip in enumerate(ips)]  # fmt: skip
    return [*pods, said("EndpointSlice", "s", endpoints=entries[::-1] if backwards else entries)]


def managed(*managers: str) -> Object:
    entries = [{"manager": m, "operation": "Update", "time": f"2026-01-01T00:00:0{second}Z"}
               for second, m in enumerate(managers)]  # fmt: skip
    return said("ConfigMap", metadata={"managedFields": entries})


def scheduled(message: str | None, manager: str = "kube-scheduler") -> Object:
    fields = {"f:status": {"f:conditions": {'k:{"type":"PodScheduled"}': {"f:type": {}, "f:message": {}}}}}
    entries = [{"manager": manager, "subresource": "status", "fieldsV1": fields}]
    conditions = [{"type": "PodScheduled", "message": message}]
    return said("Pod", metadata={"managedFields": entries if message else []},
                status={"conditions": conditions} if message else {"conditions": []})  # fmt: skip


def starting(phase: str, *, owned: bool = False) -> Object:
    """A pod in the kubelet's hands, which owns the phase once it has changed it."""
    fields = {"f:status": {"f:startTime": {}} | ({"f:phase": {}} if owned else {})}
    entry = {"manager": "kubelet", "subresource": "status", "fieldsV1": fields}
    return said(
        "Pod", metadata={"managedFields": [entry]}, status={"phase": phase, "startTime": "2026-01-01T00:00:00Z"}
    )


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def tamper(document: Any) -> None:
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return tamper


STATIC_SPEC = {"containers": [{"name": "c", "args": ["--at=10.9.0.1"]}], "nodeName": "one"}


def static(address: str, digest: str) -> list[Object]:
    machine = {**node("one"), "status": {"addresses": [{"type": "InternalIP", "address": address}]}}
    spec = json.loads(json.dumps(STATIC_SPEC).replace("10.9.0.1", address))
    annotations = {"kubernetes.io/config.hash": digest}
    return [machine, said("Pod", "etcd-one", metadata={"annotations": annotations}, spec=spec, status={})]


def zoned(name: str, zone: str) -> list[Object]:
    web = pod("web", node=name)
    web["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone}
    return [node("one"), node("two"), web, said("EndpointSlice", "s", endpoints=[
        {"addresses": ["10.0.0.7"], "zone": zone, "targetRef": {"kind": "Pod", "namespace": "default", "name": "web"}}
    ])]  # fmt: skip


A, B = "containerd://" + "a" * 64, "containerd://" + "b" * 64
SVC = "Service"
CASES: dict[str, list[Case]] = {
    "resource versions": [
        Case(said("X", metadata={"resourceVersion": "7"}), said("X", metadata={"resourceVersion": "9"}),
             put("metadata", "resourceVersion", value="seven")),
        Case({"message": "Too large resource version: 90, current: 5"},
             {"message": "Too large resource version: 90, current: 6"},
             put("message", value="Too large resource version: 91, current: 5")),
    ],
    "continue tokens": [
        Case({"continue": after("a", 7)}, {"continue": after("a", 9)}, put("continue", value=after("b", 7))),
    ],
    "node ports": [
        Case(said(SVC, spec={"ports": [{"nodePort": 30001}]}), said(SVC, spec={"ports": [{"nodePort": 30002}]}),
             put("spec", "ports", 0, "nodePort", value=29999)),
        Case(said(SVC, spec={"ports": [{"nodePort": 30001}], "healthCheckNodePort": 30003}),
             said(SVC, spec={"ports": [{"nodePort": 30002}], "healthCheckNodePort": 30004}),
             put("spec", "healthCheckNodePort", value=30001)),
    ],
    "writes folded together": [
        Case(said("EndpointSlice", metadata={"generation": 38}), said("EndpointSlice", metadata={"generation": 40}),
             put("metadata", "generation", value=3)),
        Case(said("EndpointSlice", metadata={"generation": 1}), said("EndpointSlice", metadata={"generation": 2}),
             put("kind", value="Deployment")),
    ],
    "event counts": [
        Case(event(1), event(4), put("count", value=8)),
        Case(event(1, "Pulled"), event(2, "Pulled"), put("count", value=4)),
        Case(event(1, "Pulled"), event(2, "Pulled"), put("reason", value="ScalingReplicaSet")),
    ],
    "ages": [
        Case(table("5m", columns=("Age",)), table("7m3s", columns=("Age",)),
             put("rows", 0, "cells", 0, value="<unknown>")),
        Case(table("5m (x3 over 6m)", "Pulled", "o", columns=("Last Seen", "Reason", "Object")),
             table("6m (x4 over 9m)", "Pulled", "o", columns=("Last Seen", "Reason", "Object")),
             put("rows", 0, "cells", 0, value="5m (x6 over 6m)")),
    ],
    "zone of the chosen node": [
        Case(zoned("one", "a"), zoned("two", "b"), put(3, "endpoints", 0, "zone", value="elsewhere")),
    ],
    "hashes over an address": [
        Case(static("10.9.0.1", "a" * 32), static("10.9.0.2", "b" * 32),
             put(1, "spec", "containers", 0, "args", 0, value="--at=nowhere")),
    ],
    "certificates": [
        Case({"a": pem("AAAA"), "b": pem("AAAA")}, {"a": pem("BBBB"), "b": pem("BBBB")}, put("b", value=pem("CCCC"))),
        Case({"a": pem("AAAA")}, {"a": pem("BBBB")}, put("a", value="no certificate")),
    ],
    "binding named among several": [
        Case(allowed_by("first"), allowed_by("second"), lambda docs: docs.__setitem__(2, allowed_by("nobody's")[2])),
        Case(allowed_by("first"), allowed_by("second"), put(2, "status", "reason", value="")),
    ],
    "tokens": [
        Case({"token": token(sub="jane", exp=1)}, {"token": token(sub="jane", exp=2)},
             put("token", value=token(sub="joe", exp=1))),
        Case({"token": token(sub="jane", aud=["a"], exp=1)}, {"token": token(sub="jane", aud=["a"], exp=2)},
             put("token", value=token(sub="jane", aud=["b"], exp=1))),
    ],
    "uids": [
        Case([said("X", metadata={"uid": UIDS[0]}), {"ref": UIDS[0]}],
             [said("X", metadata={"uid": UIDS[1]}), {"ref": UIDS[1]}], put(1, "ref", value=UIDS[2])),
    ],
    "container ids": [
        Case({"a": A, "b": A}, {"a": B, "b": B}, put("b", value=B)),
        Case({"a": A}, {"a": B}, put("a", value="docker://" + "a" * 64)),
    ],
    "times": [
        Case(begun(1), begun(2), put("startTime", value="2026-01-01T00:00:00.5Z")),
        Case(begun(1), begun(2), put("startTime", value="0001-01-01T00:00:00Z")),
        Case(begun(1), begun(2), put("startTime", value=None)),
    ],
    "server address": [
        Case({"serverAddress": "10.1.1.1:6443", "jwks_uri": "https://10.1.1.1:6443/k"},
             {"serverAddress": "10.1.1.2:6443", "jwks_uri": "https://10.1.1.2:6443/k"},
             put("jwks_uri", value="https://10.1.1.3:6443/k")),
    ],
    "node chosen by the scheduler": [
        Case(on_either("one"), on_either("two"), put(2, "spec", "nodeName", value="three")),
        Case(on_either("one"), on_either("two"), put(0, "spec", value={"taints": [{"key": "k", "effect": "NoSchedule"}]})),
        Case(on_either("one"), on_either("two"),
             lambda docs: docs.insert(1, {**pod("early", node="one", uid=UIDS[3]),
                                          "metadata": {**pod("early", uid=UIDS[3])["metadata"],
                                                       "creationTimestamp": "2025-01-01T00:00:00Z"}})),
    ],
    "event names": [
        Case(said("Event", "web.1111111111111111"), said("Event", "web.2222222222222222"),
             put("metadata", "name", value="other.1111111111111111")),
        Case(said("Event", "web.1111111111111111"), said("Event", "web.2222222222222222"),
             put("metadata", "name", value="web.11")),
    ],
    "generated names": [
        Case([generated("x-ddfdx"), {"ref": "x-ddfdx"}], [generated("x-bbbdx"), {"ref": "x-bbbdx"}],
             put(1, "ref", value="x-ggggx")),
    ],
    "IP addresses": [
        Case([pod("web"), {"at": "10.0.0.7"}], [pod("web", ip="10.0.0.8"), {"at": "10.0.0.8"}],
             put(1, "at", value="10.0.0.9")),
    ],
    "durations": [
        Case(pulled("1.5s (2s including waiting)"), pulled("3s (4.1s including waiting)"),
             put("message", value=pulled("1.5s")["message"])),
        Case(pulled("1.5s"), pulled("2s"), put("message", value=pulled("a while")["message"])),
        Case(pulled("1m1.5s (1m1.5s including waiting). Image size: 7 bytes."),
             pulled("12ms (1.5s including waiting). Image size: 7 bytes."),
             put("message", value=pulled("12ms (1.5s including waiting). Image size: 8 bytes.")["message"])),
    ],
    "order of start-up": [
        Case(listed(not_ready("etcd-one")), listed(),
             lambda doc: doc["items"].append(not_ready("coredns-aaaaa"))),
        Case(listed(not_ready("etcd-one")), listed(), put("items", 0, "involvedObject", "namespace", value="shop")),
        Case(listed(not_ready("etcd-one")), listed(), put("items", 0, "message", value="Node is on fire")),
    ],
    "bookmarks sent by the clock": [
        Case(watched(bookmark()), watched(), put("events", 0, "object", "metadata",
             value={"annotations": {"k8s.io/initial-events-end": "true"}})),
        Case(watched(bookmark()), watched(), put("events", 0, "object", "spec", value={"nodeName": "one"})),
    ],
    "container start retried": [
        Case(started(1, terminated=START_ERROR), started(0),
             put("status", "containerStatuses", 0, "lastState", value={})),
        Case(started(1, terminated=START_ERROR), started(0),
             put("status", "containerStatuses", 0, "lastState", "terminated", "reason", value="Error")),
        Case(listed(said("Event", "e.1111111111111111", reason="Failed", type="Warning", count=1,
                         involvedObject={"kind": "Pod", "name": "gone"}, message="failed to create containerd task: x")),
             listed(), put("items", 0, "message", value="no such image")),
    ],
    "unlimited memory read back": [
        Case(limited(UNLIMITED), limited(None), put("status", "resources", "limits", value={"memory": "1Gi"})),
        Case(limited(UNLIMITED), limited(None), put("metadata", "managedFields", 0, "manager", value="somebody")),
    ],
    NAME: [
        Case(scheduled("no node fits"), scheduled(None), put("metadata", "managedFields", 0, "manager", value="me"),
             WRITERS),
        Case(starting("Pending"), starting("Running", owned=True), put("status", "phase", value="Failed"), WRITERS),
        Case(starting("Pending"), starting("Running", owned=True), put("metadata", "managedFields", value=[]), WRITERS),
    ],
    BY_NAME: [
        Case(generated("x-ddddx", "x-ffffx"), generated("x-bbbfx", "x-cccdx"), lambda doc: doc["items"].pop()),
        Case(generated("x-ddddx", "x-ffffx"), generated("x-bbbfx", "x-cccdx"),
             put("items", 0, "data", "n", value="elsewhere")),
    ],
    OF_ENDPOINTS: [
        Case(slice_of("10.0.0.1", "10.0.0.2"), slice_of("10.0.0.1", "10.0.0.2", backwards=True),
             put(2, "endpoints", 0, "addresses", value=["10.0.0.2"])),
    ],
    "order of managed fields, by time": [
        Case(managed("a", "b"), managed("b", "a"), put("metadata", "managedFields", 0, "manager", value="c")),
    ],
    "order of component statuses, asked for in parallel": [
        Case({"kind": "ComponentStatusList", "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]},
             {"kind": "ComponentStatusList", "items": [{"metadata": {"name": "b"}}, {"metadata": {"name": "a"}}]},
             put("kind", value="ConfigMapList")),
    ],
    "order of rules, from unordered bindings": [
        Case({"resourceRules": [{"verbs": ["get"]}, {"verbs": ["list"]}]},
             {"resourceRules": [{"verbs": ["list"]}, {"verbs": ["get"]}]}, put("resourceRules", 0, "verbs", value=["*"])),
    ],
}  # fmt: skip


def judged(case: Case, ours: Any) -> Comparison:
    sides = []
    for side in (ours, case.theirs):
        documents = side if isinstance(side, list) else [side]
        normaliser = Normaliser().learn(*documents)
        sides.append([normaliser.normalise(one, in_flight=case.in_flight) for one in documents])
    bijection = pair_siblings(*sides)
    result = compare(len(sides[0]), len(sides[1]))
    for mine, yours in zip(*sides, strict=False):
        result += compare(mine, yours, bijection)
    return result


def test_every_freedom_is_tampered_with_and_has_a_reason() -> None:
    assert set(freedoms.names()) == set(CASES) | ELSEWHERE
    assert not set(CASES) & ELSEWHERE
    assert [name for name in freedoms.names() if len(freedoms.why(name)) < 20] == []


def test_a_freedom_without_a_reason_cannot_be_told_of() -> None:
    with pytest.raises(KeyError):
        freedoms.why("because")


PAIRS = [pytest.param(name, case, id=f"{name} {i}") for name, cases in CASES.items() for i, case in enumerate(cases)]


@pytest.mark.parametrize(("name", "case"), PAIRS)
def test_a_freedom_excuses_this_and_not_that(name: str, case: Case) -> None:
    honest = judged(case, case.ours)
    assert honest.differences == []
    assert honest.freedoms[name] > 0
    tampered = copy.deepcopy(case.ours)
    case.tamper(tampered)
    assert judged(case, tampered).differences != []


def test_what_the_scheduler_said_already_it_said_in_the_same_words() -> None:
    case = Case(scheduled("no node fits"), scheduled("no node will do"), lambda _: None, WRITERS)
    assert judged(case, case.ours).differences != []
    unready, incomplete = (f"containers with {state} status: [c]" for state in ("unready", "incomplete"))
    kubelet = Case(scheduled(unready, "kubelet"), scheduled(incomplete, "kubelet"), lambda _: None, WRITERS)
    assert judged(kubelet, kubelet.ours).differences == []
    kubelet = Case(scheduled(unready, "kubelet"), scheduled("it is on fire", "kubelet"), lambda _: None, WRITERS)
    assert judged(kubelet, kubelet.ours).differences != []
