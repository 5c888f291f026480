"""Who is let in when there are more requests than seats: a webhook that keeps requests
as long as it likes stands behind a server with few seats.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import PATIENCE, Connection
from generators.programs.control_plane import ControlPlane, Server
from generators.programs.https_server import https_server
from lifecycle.agreements.apiserver.queued import PAUSE

WHO = "kube-apiserver v1.36.2"
Object = dict[str, Any]
FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"
SEATS = 20
"""Of the whole server, for all levels."""
SPACES = ("queued", "queued-two")
LABEL = {"queued": "yes"}


class Gate:
    """Knows who has arrived, and lets whoever it is told go on."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self._doors: dict[str, threading.Event] = {}

    def door(self, name: str) -> threading.Event:
        """Of a request, by the name of what it makes."""
        return self._doors.setdefault(name, threading.Event())

    def pass_through(self, name: str) -> None:
        """Arrive, and wait to be let go on."""
        self.arrived.append(name)
        self.door(name).wait(PATIENCE)


@contextmanager
def webhook(plane: ControlPlane, gate: Gate) -> Iterator[str]:
    """Its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            review = json.loads(self.rfile.read(size))
            gate.pass_through(review["request"]["name"])
            answer = {"uid": review["request"]["uid"], "allowed": True}
            body = json.dumps({**review, "request": None, "response": answer}).encode()
            with suppress(OSError):  # the server may have given up
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Silent."""

    with https_server(plane, Handler) as port:
        yield f"https://127.0.0.1:{port}/"


def level(name: str, shares: int, response: Object) -> Object:
    """That lends nothing and borrows nothing."""
    limited = {
        "nominalConcurrencyShares": shares,
        "lendablePercent": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": response,
    }
    return {
        "metadata": {"name": name},
        "spec": {"type": "Limited", "limited": limited},
    }


def other(made: Object, **changed: Any) -> Object:
    """The same level, but so: None for what the server shall choose."""
    spec = made["spec"]
    limited = {**spec["limited"], **changed}
    kept = {key: value for key, value in limited.items() if value is not None}
    return {**made, "spec": {**spec, "limited": kept}}


def queuing(queues: int, hand: int, length: int) -> Object:
    """Requests wait."""
    sizes = {"queues": queues, "handSize": hand, "queueLengthLimit": length}
    return {"type": "Queue", "queuing": sizes}


def schema(name: str, by: str, *users: str) -> Object:
    """Of a level of the same name, for some users."""
    rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
    return {
        "metadata": {"name": name},
        "spec": {
            "priorityLevelConfiguration": {"name": name},
            "matchingPrecedence": 50,
            **({"distinguisherMethod": {"type": by}} if by else {}),
            "rules": [
                {
                    "subjects": [{"kind": "User", "user": {"name": u}} for u in users],
                    "resourceRules": [rule],
                }
            ],
        },
    }


USERS = {
    "line": ("liz",),
    "fair": ("ann", "bob", "cat"),
    "wide": ("dan", "eve"),
    "reject": ("fay",),
    "spaces": ("gus",),
    "hand": ("kim", "lou", "mia"),
    "pair": ("ned", "oda"),
}
LEVELS = (
    level("line", 1, queuing(1, 1, 2)),
    level("fair", 1, queuing(64, 6, 10)),
    level("wide", 25, queuing(64, 6, 10)),
    level("reject", 1, {"type": "Reject"}),
    level("spaces", 1, queuing(64, 6, 10)),
    level("hand", 1, queuing(64, 1, 3)),
    level("pair", 25, queuing(64, 1, 10)),
)
LENDING = {"borrows": ("pam",), "lends": ("quinn",)}
LENDING_LEVELS = (
    other(level("borrows", 1, queuing(1, 1, 10)), borrowingLimitPercent=None),
    other(level("lends", 25, queuing(64, 6, 10)), lendablePercent=100),
)
"""Those who would change what the other scenes find: they come after them."""
BY = {
    "fair": "ByUser",
    "wide": "ByUser",
    "spaces": "ByNamespace",
    "hand": "ByUser",
    "pair": "ByUser",
}


def ask(user: str, *names: str, space: str = "queued", **more: Any) -> list[Object]:
    """Requests, one after the other."""
    return [{"ask": name, "user": user, "namespace": space, **more} for name in names]


def release(times: int) -> list[Object]:
    """So many times whoever has been inside for longest is done."""
    return [{"release": True}] * times


# Somebody waits where two queues would else be level but for a few milliseconds: the
# order is the same in every run.
SCENES: tuple[tuple[str, list[Object]], ...] = (
    (
        "a line for two",
        [
            *ask("liz", "l1", "l2", "l3", "l4"),
            *release(1),
            *ask("liz", "l5", "l6"),
            *release(3),
        ],
    ),
    (
        "one is greedy",
        [
            *ask("ann", "a1", "a2", "a3", "a4", "a5"),
            *ask("bob", "b1", "b2", "b3"),
            *ask("cat", "c1"),
            *release(9),
        ],
    ),
    (
        "one is greedy, and has one queue",
        [
            *ask("kim", "k1", "k2", "k3", "k4", "k5"),
            *ask("lou", "o1", "o2"),
            {"wait": True},
            *ask("lou", "o3"),
            {"wait": True},
            *ask("mia", "m1"),
            *release(2),
            *ask("mia", "m2"),
            *release(7),
        ],
    ),
    (
        "two at a time, from two queues",
        [
            *ask("ned", "n1", "n2", "n3", "n4", "n5"),
            *ask("oda", "p1", "p2", "p3"),
            *release(3),
            *ask("oda", "p4"),
            *release(6),
        ],
    ),
    (
        "a newcomer every time",
        [
            *ask("ann", "a11", "a12", "a13"),
            *release(1),
            *ask("bob", "b11", "b12"),
            *release(1),
            *ask("cat", "c11", "c12"),
            *release(5),
        ],
    ),
    (
        "two at a time",
        [*ask("dan", "d1", "d2", "d3", "d4"), *ask("eve", "e1", "e2"), *release(6)],
    ),
    (
        "no waiting",
        [*ask("fay", "f1", "f2"), *release(1), *ask("fay", "f3"), *release(1)],
    ),
    (
        "by namespace",
        [
            *ask("gus", "g1", "g2", "g3"),
            *ask("gus", "h1", "h2", space="queued-two"),
            *release(5),
        ],
    ),
    (
        "one gives up",
        [*ask("liz", "l11", "l12", "l13"), {"give up": "l12"}, *release(2)],
    ),
    (
        "one has little time",
        [
            *ask("liz", "l21"),
            *ask("liz", "l22", timeout=4),
            *ask("liz", "l23"),
            *[{"wait": True}] * 3,
            *release(2),
        ],
    ),
)


DEALT = 10.0
"""Seconds after which a server deals out its seats anew."""
# Nobody waits for longer than a quarter of a minute. One only waits for seats that are
# lent: two would come in together, in either order.
LENDING_SCENES: tuple[tuple[str, list[Object]], ...] = (
    (
        "seats are lent",
        [
            *ask("pam", "p11", "p12", "p13"),
            *ask("liz", "l31", pause=DEALT + 1.0),
            *ask("pam", "p14"),
            *release(5),
        ],
    ),
    (
        "nothing is lent to who may not borrow",
        [
            *ask("liz", "l41", "l42"),
            *ask("pam", "p21", pause=DEALT + 1.0),
            *release(3),
        ],
    ),
)


class Visitor(threading.Thread):
    """One request; `answer`: its code, and when to come again."""

    def __init__(self, connection: Connection, step: Object) -> None:
        super().__init__(daemon=True)
        self.answer: list[Any] = []
        self._body = json.dumps({"metadata": {"name": step["ask"]}})
        query = f"?timeout={step['timeout']}s" if "timeout" in step else ""
        self._path = f"/api/v1/namespaces/{step['namespace']}/configmaps{query}"
        self._http = connection.open()

    def run(self) -> None:
        """Until it is answered, or gives up."""
        headers = {"Content-Type": "application/json"}
        try:
            self._http.request("POST", self._path, self._body, headers)
            reply = self._http.getresponse()
            reply.read()
        except (OSError, HTTPException):
            return
        self.answer = [reply.status, reply.getheader("Retry-After", "")]

    def give_up(self) -> None:
        """Nobody listens any more."""
        self._http.sock.shutdown(socket.SHUT_RDWR)


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, with a server of its own."""
    server = plane.api_server(
        "queued",
        "--max-requests-inflight=10",
        "--max-mutating-requests-inflight=10",
    )
    gate = Gate()
    with webhook(plane, gate) as url:
        _prepare(server, url)
        yield from _asked(server, gate, SCENES)
        _make(server.admin, LENDING_LEVELS, LENDING)
        yield from _asked(server, gate, LENDING_SCENES)


def _asked(
    server: Server, gate: Gate, scenes: tuple[tuple[str, list[Object]], ...]
) -> Iterator[Answer]:
    time.sleep(DEALT + 2.0)
    objects = [
        {**item, "kind": kind, "apiVersion": "flowcontrol.apiserver.k8s.io/v1"}
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
        for item in server.admin("GET", f"{FLOW}/{kind.lower()}s").body["items"]
    ]
    for what, steps in scenes:
        yield Answer(
            f"queued/{what}",
            WHO,
            "requests of several users to a level with few seats: who is inside"
            " after each step, and what was answered",
            {
                "objects": [_plain(each) for each in objects],
                "seats": SEATS,
                "steps": list(_play(server, gate, steps)),
            },
        )


def _plain(made: Object) -> Object:
    meta = made["metadata"]
    kept = {"name": meta["name"], "uid": meta["name"]}
    return {**{k: v for k, v in made.items() if k != "status"}, "metadata": kept}


def _prepare(server: Server, url: str) -> None:
    admin, authority = server.admin, server.plane.authority
    for name in SPACES:
        made = {"metadata": {"name": name, "labels": LABEL}}
        admin("POST", "/api/v1/namespaces", made)
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group"}
    binding = {
        "metadata": {"name": "queued"},
        "roleRef": {**role, "name": "cluster-admin"},
        "subjects": [{**subject, "name": "queued"}],
    }
    admin("POST", f"{rbac}/clusterrolebindings", binding)
    _make(admin, LEVELS, USERS)
    hook = {
        "name": "gate.example.com",
        "clientConfig": {"url": url, "caBundle": b64encode(authority.ca_pem).decode()},
        "namespaceSelector": {"matchLabels": LABEL},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["configmaps"],
            }
        ],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": 30,
        "admissionReviewVersions": ["v1"],
    }
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    admin("POST", hooks, {"metadata": {"name": "gate"}, "webhooks": [hook]})


def _make(
    admin: Connection, levels: tuple[Object, ...], users: Mapping[str, tuple[str, ...]]
) -> None:
    for each in levels:
        admin("POST", f"{FLOW}/prioritylevelconfigurations", each)
    for name, some in users.items():
        admin("POST", f"{FLOW}/flowschemas", schema(name, BY.get(name, ""), *some))


def _play(server: Server, gate: Gate, steps: list[Object]) -> Iterator[Object]:
    visitors: dict[str, Visitor] = {}
    told: set[str] = set()
    done: set[str] = set()
    users = {step["user"] for step in steps if "user" in step}
    connections = {user: server.connection(user, "queued") for user in users}
    begun = time.monotonic()
    for step in steps:
        time.sleep(step.get("pause", 0.0))
        at = round(time.monotonic() - begun, 3)
        if "ask" in step:
            visitor = visitors[step["ask"]] = Visitor(connections[step["user"]], step)
            at = round(time.monotonic() - begun, 3)
            visitor.start()
        elif "give up" in step:
            visitors[step["give up"]].give_up()
        elif "release" in step:
            first = next(n for n in gate.arrived if n in visitors and n not in done)
            done.add(first)
            gate.door(first).set()
        time.sleep(PAUSE)
        new = {
            name: each.answer
            for name, each in visitors.items()
            if each.answer and name not in told
        }
        told |= new.keys()
        inside = [n for n in gate.arrived if n in visitors and n not in done]
        yield {**step, "t": at, "after": {"inside": inside, "answered": new}}
