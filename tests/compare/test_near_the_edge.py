"""Right in form and wrong in content: tamperings as near to a freedom's edge as they can be, each of which is a difference."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.compare.compare import BY_NAME
from lifecycle.compare.in_flight import NAME, WRITERS
from tests.compare.test_tampering import (
    START_ERROR,
    SVC,
    UIDS,
    UNLIMITED,
    Case,
    after,
    bookmark,
    judged,
    limited,
    listed,
    node,
    not_ready,
    pem,
    pod,
    put,
    said,
    static,
    table,
    token,
    watched,
)

Tampering = tuple[str, Case]


def named(*names: str) -> Object:
    items = [said("ConfigMap", name, metadata={"generateName": "x-"}) for name in names]
    return listed(*items, kind="ConfigMapList")


def bound(name: str, role: str = "r", subject: str = 'Group "g"') -> list[Object]:
    bindings = [
        {"kind": "ClusterRoleBinding", "metadata": {"name": each}, "roleRef": {"kind": "ClusterRole", "name": "r"},
         "subjects": [{"kind": "Group", "name": "g"}]} for each in ("first", "second")
    ]  # fmt: skip
    reason = f'RBAC: allowed by ClusterRoleBinding "{name}" of ClusterRole "{role}" to {subject}'
    return [*bindings, {"kind": "SubjectAccessReview", "status": {"allowed": True, "reason": reason}}]


def continued(**told: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def held(name: str = "default", exp: int = 100, **more: Any) -> str:
    about = {"namespace": "default", "serviceaccount": {"name": name, "uid": UIDS[0]}}
    return token(sub="system:serviceaccount:default:default", exp=exp, iat=exp - 60, nbf=exp - 60,
                 **{"kubernetes.io": about | more})  # fmt: skip


def retried(count: int = 1, **last: Any) -> Object:
    container = {"containerID": "containerd://" + "a" * 64, "restartCount": count}
    story = {"lastState": {"terminated": START_ERROR | last}} if count else {"lastState": {}}
    return said("Pod", "web", status={"containerStatuses": [container | story]})


def failed(name: str = "web", **more: Any) -> Object:
    return said("Event", f"{name}.1111111111111111", reason="Failed", type="Warning", count=1,
                involvedObject={"kind": "Pod", "name": name, "namespace": "default"},
                message="Error: failed to create containerd task: x", **more)  # fmt: skip


def only_metadata(limits: bool) -> list[Object]:
    whole = limited(UNLIMITED if limits else None)
    shown = {"kind": "PartialObjectMetadata", "metadata": copy.deepcopy(whole["metadata"])}
    return [whole, {"kind": "Table", "metadata": {}, "columnDefinitions": [{"name": "Name"}, {"name": "Nominated Node"}],
                    "rows": [{"cells": ["web", "<none>"], "object": shown}]}]  # fmt: skip


def kubelets(**status: Any) -> Object:
    """A pod in the kubelet's hands, which owns all of this."""
    fields = {"f:status": {f"f:{key}": {} for key in status}}
    entry = {"manager": "kubelet", "subresource": "status", "fieldsV1": fields}
    return said("Pod", metadata={"managedFields": [entry]}, spec={"nodeName": "one"}, status=status)


def claims_more(document: Any) -> None:
    document["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"] = {"f:nodeName": {}}
    document["spec"]["nodeName"] = "nowhere"


def moved(*managers: tuple[str, str, str]) -> Object:
    entries = [{"manager": m, "operation": o, "time": f"2026-01-01T00:00:{s}Z"} for m, o, s in managers]
    return said("ConfigMap", metadata={"managedFields": entries})


def timed(text: str) -> Object:
    return {"startTime": text}


TIMES = timed("2026-01-02T00:00:00Z")
BEFORE, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
EDGES: dict[str, list[tuple[str, Case]]] = {
    "resource versions": [
        ("a number that is somebody's data", Case(said("ConfigMap", data={"a": "b"}), said("ConfigMap", data={"a": "b"}),
         put("data", value={"a": "b", "resourceVersion": "7"}))),
        ("data of that name, another number",
         Case(said("ConfigMap", data={"resourceVersion": "9"}), said("ConfigMap", data={"resourceVersion": "9"}),
              put("data", "resourceVersion", value="7"))),
        ("zeros before it", Case(said("X", metadata={"resourceVersion": "7"}), said("X", metadata={"resourceVersion": "9"}),
         put("metadata", "resourceVersion", value="007"))),
        ("digits of another alphabet", Case(said("X", metadata={"resourceVersion": "7"}),
         said("X", metadata={"resourceVersion": "9"}), put("metadata", "resourceVersion", value="٧"))),
        ("a revision that is not too large", Case({"message": "Too large resource version: 90, current: 5"},
         {"message": "Too large resource version: 90, current: 6"},
         put("message", value="Too large resource version: 90, current: 91"))),
    ],
    "continue tokens": [
        ("one field more", Case({"continue": after("a", 7)}, {"continue": after("a", 9)},
         put("continue", value=continued(v="meta.k8s.io/v1", rv=7, start="a", end="b")))),
        ("no revision", Case({"continue": after("a", 7)}, {"continue": after("a", 9)},
         put("continue", value=continued(v="meta.k8s.io/v1", start="a")))),
        ("whatever revision there is", Case({"continue": after("a", 7)}, {"continue": after("a", 9)},
         put("continue", value=after("a", -1)))),
    ],
    "node ports": [
        ("the same port twice",
         Case(said(SVC, spec={"ports": [{"nodePort": 30001}, {"nodePort": 30002}]}),
              said(SVC, spec={"ports": [{"nodePort": 30003}, {"nodePort": 30004}]}),
              put("spec", "ports", 1, "nodePort", value=30001))),
        ("a port as text", Case(said(SVC, spec={"ports": [{"nodePort": 30001}]}),
         said(SVC, spec={"ports": [{"nodePort": 30002}]}), put("spec", "ports", 0, "nodePort", value="30001"))),
    ],
    "writes folded together": [
        ("never written", Case(said("EndpointSlice", metadata={"generation": 1}),
         said("EndpointSlice", metadata={"generation": 2}), put("metadata", "generation", value=0))),
        ("two and one more", Case(said("EndpointSlice", metadata={"generation": 1}),
         said("EndpointSlice", metadata={"generation": 3}), put("metadata", "generation", value=6))),
    ],
    "ages": [
        ("units in any order", Case(table("5m", columns=("Age",)), table("7m3s", columns=("Age",)),
         put("rows", 0, "cells", 0, value="3s7m"))),
        ("a unit twice", Case(table("5m", columns=("Age",)), table("7m3s", columns=("Age",)),
         put("rows", 0, "cells", 0, value="7m7m"))),
        ("seconds that nobody prints after three hours", Case(table("5m", columns=("Age",)), table("7m3s", columns=("Age",)),
         put("rows", 0, "cells", 0, value="5h3s"))),
        ("seen last before it was seen first",
         Case(table("5m (x3 over 6m)", "Pulled", "o", columns=("Last Seen", "Reason", "Object")),
              table("6m (x4 over 9m)", "Pulled", "o", columns=("Last Seen", "Reason", "Object")),
              put("rows", 0, "cells", 0, value="7m (x3 over 6m)"))),
    ],
    "hashes over an address": [
        ("a hash that is none", Case(static("10.9.0.1", "a" * 32), static("10.9.0.2", "b" * 32),
         put(1, "metadata", "annotations", "kubernetes.io/config.hash", value="a" * 31))),
        ("another address that begins alike", Case(static("10.9.0.1", "a" * 32), static("10.9.0.2", "b" * 32),
         put(1, "spec", "containers", 0, "args", 0, value="--at=10.9.0.11"))),
    ],
    "certificates": [
        ("one more in the bundle", Case({"a": pem("AAAA")}, {"a": pem("BBBB")}, put("a", value=pem("AAAA") + pem("CCCC")))),
        ("a key instead", Case({"a": base64.b64encode(pem("AAAA").encode()).decode()},
         {"a": base64.b64encode(pem("BBBB").encode()).decode()},
         put("a", value=base64.b64encode(pem("AAAA").replace("CERTIFICATE", "PRIVATE KEY").encode()).decode()))),
        ("one more in the bundle, in base64", Case({"a": base64.b64encode(pem("AAAA").encode()).decode()},
         {"a": base64.b64encode(pem("BBBB").encode()).decode()},
         put("a", value=base64.b64encode((pem("AAAA") + pem("CCCC")).encode()).decode()))),
    ],
    "binding named among several": [
        ("of another role", Case(bound("first"), bound("second"),
         lambda docs: docs.__setitem__(2, bound("first", role="s")[2]))),
        ("to another group", Case(bound("first"), bound("second"),
         lambda docs: docs.__setitem__(2, bound("first", subject='Group "h"')[2]))),
        ("to a user of that name", Case(bound("first"), bound("second"),
         lambda docs: docs.__setitem__(2, bound("first", subject='User "g"')[2]))),
    ],
    "tokens": [
        ("of another account, by its own claim", Case({"token": held()}, {"token": held(exp=200)},
         put("token", value=held("other")))),
        ("bound to a pod as well", Case({"token": held()}, {"token": held(exp=200)},
         put("token", value=held(pod={"name": "web", "uid": UIDS[1]})))),
        ("for longer", Case({"token": token(sub="jane", iat=40, exp=100)}, {"token": token(sub="jane", iat=140, exp=200)},
         put("token", value=token(sub="jane", iat=40, exp=101)))),
        ("not valid yet", Case({"token": token(sub="jane", nbf=40, iat=40, exp=100)},
         {"token": token(sub="jane", nbf=140, iat=140, exp=200)},
         put("token", value=token(sub="jane", nbf=50, iat=40, exp=100)))),
        ("of somebody else's claims", Case({"token": token(sub="jane", exp=1)}, {"token": token(sub="jane", exp=2)},
         put("token", value=token(sub="jane", exp=1, admin=True)))),
    ],
    "uids": [
        ("a uid of another version", Case([said("X", metadata={"uid": UIDS[0]})], [said("X", metadata={"uid": UIDS[1]})],
         put(0, "metadata", "uid", value=UIDS[0].replace("-4222-", "-1222-")))),
        ("a uid of another variant", Case([said("X", metadata={"uid": UIDS[0]})], [said("X", metadata={"uid": UIDS[1]})],
         put(0, "metadata", "uid", value=UIDS[0].replace("-8333-", "-f333-")))),
        ("two that share one", Case(
            [said("X", metadata={"uid": UIDS[0]}), said("X", "b", metadata={"uid": UIDS[1]})],
            [said("X", metadata={"uid": UIDS[2]}), said("X", "b", metadata={"uid": UIDS[3]})],
            put(1, "metadata", "uid", value=UIDS[0]))),
    ],
    "times": [
        (what, Case(timed("2026-01-01T00:00:00Z"), TIMES, put("startTime", value=value)))
        for what, value in {
            "a month that is none": "2026-13-01T00:00:00Z",
            "a day that is none": "2026-02-30T00:00:00Z",
            "an hour that is none": "2026-01-01T25:00:00Z",
        }.items()
    ] + [
        ("another precision", Case(timed("2026-01-01T00:00:00.123456Z"), timed("2026-01-01T00:00:00.654321Z"),
         put("startTime", value="2026-01-01T00:00:00.123Z"))),
        ("nanoseconds", Case(timed("2026-01-01T00:00:00.123456Z"), timed("2026-01-01T00:00:00.654321Z"),
         put("startTime", value="2026-01-01T00:00:00.123456789Z"))),
        ("a time that is somebody's data", Case(said("ConfigMap", data={"since": BEFORE}), said("ConfigMap", data={"since": BEFORE}),
         put("data", "since", value=LATER))),
        ("a time that was asked for", Case(said("Pod", spec={"containers": [{"args": [f"--since={BEFORE}"]}]}),
         said("Pod", spec={"containers": [{"args": [f"--since={BEFORE}"]}]}),
         put("spec", "containers", 0, "args", 0, value=f"--since={LATER}"))),
    ],
    "server address": [
        ("no port", Case({"serverAddress": "10.1.1.1:6443"}, {"serverAddress": "10.1.1.2:6443"},
         put("serverAddress", value="10.1.1.1:0"))),
        ("no address", Case({"serverAddress": "10.1.1.1:6443"}, {"serverAddress": "10.1.1.2:6443"},
         put("serverAddress", value="10.1.1.999:6443"))),
    ],
    "node chosen by the scheduler": [
        ("a label that happens to be called so", Case(
            [node("one"), node("two"), {**pod("web", node="one"), "spec": {**pod("web", node="one")["spec"], "priorityClassName": "x"}}],
            [node("one"), node("two"), {**pod("web", node="two"), "spec": {**pod("web", node="two")["spec"], "priorityClassName": "x"}}],
            put(2, "spec", "priorityClassName", value="one"))),
    ],
    "event names": [
        ("no event", Case(said("ConfigMap", "web.1111111111111111"), said("ConfigMap", "web.1111111111111111"),
         put("metadata", "name", value="web.2222222222222222"))),
    ],
    "generated names": [
        ("letters that are not drawn", Case([named("x-bbbbb")], [named("x-ccccc")],
         put(0, "items", 0, "metadata", "name", value="x-aeiou"))),
        ("one letter more", Case([named("x-bbbbb")], [named("x-ccccc")],
         put(0, "items", 0, "metadata", "name", value="x-bbbbbb"))),
        ("one letter less", Case([named("x-bbbbb")], [named("x-ccccc")],
         put(0, "items", 0, "metadata", "name", value="x-bbbb"))),
        ("nothing drawn", Case([named("x-bbbbb")], [named("x-ccccc")], put(0, "items", 0, "metadata", "name", value="x-"))),
        ("capital letters", Case([named("x-bbbbb")], [named("x-ccccc")],
         put(0, "items", 0, "metadata", "name", value="x-BBBBB"))),
    ],
    "IP addresses": [
        ("the network instead of a host", Case([pod("web"), {"at": "10.0.0.7"}], [pod("web", ip="10.0.0.8"), {"at": "10.0.0.8"}],
         put(1, "at", value="10.0.0.7.7"))),
        ("an address that is none", Case([pod("web")], [pod("web", ip="10.0.0.8")],
         lambda docs: docs.__setitem__(0, pod("web", ip="10.0.0.999")))),
        ("two pods with one address", Case([pod("a"), pod("b", ip="10.0.0.8", uid=UIDS[1])],
         [pod("a", ip="10.0.0.3"), pod("b", ip="10.0.0.4", uid=UIDS[1])],
         lambda docs: docs.__setitem__(1, pod("b", uid=UIDS[1])))),
    ],
    "durations": [
        ("not of a pull", Case({"message": "tries again in 5s"}, {"message": "tries again in 5s"},
         put("message", value="tries again in 9s"))),
        ("no number", Case({"message": 'Successfully pulled image "a" in 1.5s'}, {"message": 'Successfully pulled image "a" in 2s'},
         put("message", value='Successfully pulled image "a" in 1.5.2s'))),
        ("longer than with waiting", Case(
            {"message": 'Successfully pulled image "a" in 1.5s (2s including waiting)'},
            {"message": 'Successfully pulled image "a" in 3s (4.1s including waiting)'},
            put("message", value='Successfully pulled image "a" in 1.5s (1.2s including waiting)'))),
    ],
    "order of start-up": [
        ("said a hundred times", Case(listed(not_ready("etcd-one")), listed(), put("items", 0, "count", value=100))),
        ("a normal thing", Case(listed(not_ready("etcd-one")), listed(), put("items", 0, "type", value="Normal"))),
        ("said by somebody else", Case(listed(not_ready("etcd-one")), listed(),
         put("items", 0, "source", value={"component": "kubelet"}))),
    ],
    "bookmarks sent by the clock": [
        ("no revision to go on from", Case(watched(bookmark()), watched(), put("events", 0, "object", "metadata", value={}))),
        ("of no kind", Case(watched(bookmark()), watched(), lambda doc: doc["events"][0]["object"].pop("kind"))),
        ("a revision of naught", Case(watched(bookmark()), watched(),
         put("events", 0, "object", "metadata", "resourceVersion", value="0"))),
    ],
    "container start retried": [
        ("another exit code", Case(retried(1), retried(0),
         put("status", "containerStatuses", 0, "lastState", "terminated", "exitCode", value=1))),
        ("a program that is not there", Case(retried(1), retried(0),
         put("status", "containerStatuses", 0, "lastState", "terminated", "message", value="no such file"))),
        ("a normal thing", Case(listed(retried(1), failed()), listed(retried(0)),
         put("items", 1, "type", value="Normal"))),
        ("nobody's start was retried", Case(listed(retried(1), failed()), listed(retried(0)),
         put("items", 0, "status", "containerStatuses", 0, value=retried(0)["status"]["containerStatuses"][0]))),
        ("of another pod", Case(listed(retried(1), failed(), pod("other")), listed(retried(0), pod("other")),
         put("items", 1, value=failed("other")))),
        ("said a hundred times", Case(listed(retried(1), failed()), listed(retried(0)), put("items", 1, "count", value=100))),
    ],
    "unlimited memory read back": [
        ("a limit more", Case(limited(UNLIMITED), limited(None), put("status", "resources", "limits",
         value={**UNLIMITED, "cpu": "1"}))),
        ("the managed fields alone", Case(only_metadata(True), only_metadata(False),
         lambda docs: docs[0]["status"].pop("resources"))),
    ],
    NAME: [
        ("what has failed does not start any more", Case(kubelets(phase="Pending"), kubelets(phase="Running"),
         put("status", "phase", value="Failed"), WRITERS)),
        ("a phase that is none", Case(kubelets(phase="Pending"), kubelets(phase="Running"),
         put("status", "phase", value="Rolling"), WRITERS)),
        ("the node is not the kubelet's to write", Case(kubelets(phase="Pending"), kubelets(phase="Running"),
         claims_more, WRITERS)),
        ("another shape", Case(kubelets(phase="Pending"), kubelets(phase="Running"),
         put("status", "phase", value=7), WRITERS)),
    ],
    BY_NAME: [
        ("not sorted by their names", Case(named("x-bbbbb", "x-ccccc"), named("x-ddddd", "x-fffff"),
         lambda doc: doc["items"].reverse())),
    ],
    "order of managed fields, by time": [
        ("not in the order of their times", Case(
            moved(("a", "Update", "01"), ("b", "Update", "02")), moved(("b", "Update", "01"), ("a", "Update", "02")),
            put("metadata", "managedFields", 0, "time", value="2026-01-01T00:00:03Z"))),
        ("who applies comes first", Case(
            moved(("a", "Apply", "01"), ("b", "Update", "02")), moved(("a", "Apply", "01"), ("b", "Update", "02")),
            lambda doc: doc["metadata"]["managedFields"].reverse())),
    ],
}  # fmt: skip

ALL = [pytest.param(case, id=f"{name}: {what}") for name, cases in EDGES.items() for what, case in cases]


@pytest.mark.parametrize("case", ALL)
def test_as_near_as_that_is_a_difference(case: Case) -> None:
    assert judged(case, case.ours).differences == []
    tampered = copy.deepcopy(case.ours)
    case.tamper(tampered)
    assert tampered != case.ours
    assert judged(case, tampered).differences != []
