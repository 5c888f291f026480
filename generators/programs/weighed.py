"""How much work an API server takes a request for: it counts the seats that it gives to
each in a metric of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from http.client import HTTPSConnection
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, until
from generators.programs.queued import FLOW, level, queuing, schema

WHO = "kube-apiserver v1.36.2"
SPACE = "weighed"
Object = dict[str, Any]
LEVELS = (
    level("weighed-queues", 60, queuing(64, 6, 50)),
    level("weighed-refuses", 60, {"type": "Reject"}),
)
USERS = {"weighed-queues": "ida", "weighed-refuses": "ivo"}
CONFIG_MAPS = "/api/v1/configmaps"
HERE = f"/api/v1/namespaces/{SPACE}"
READS: tuple[tuple[str, str], ...] = (
    ("one", f"{HERE}/configmaps/c1"),
    ("one that is not there", f"{HERE}/configmaps/no"),
    ("a part of one", f"{HERE}/serviceaccounts/default/token"),
    (
        "a watch of some revision",
        f"{HERE}/configmaps?watch=1&resourceVersion=REVISION&timeoutSeconds=1",
    ),
)
"""What is asked. REVISION: what an earlier answer said. How much a list is depends on
what the server knows of its store, and an etcd of 3.4 does not tell it.
"""
CROWDS = (0, 9, 10, 11, 95, 130)
"""How many watch while something is written."""
ANOTHER = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w"}}
TOKEN = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
MERGE = "application/merge-patch+json"
WRITES: tuple[tuple[str, str, str, Any], ...] = (
    ("makes one", "POST", f"{HERE}/configmaps", ANOTHER),
    ("replaces it", "PUT", f"{HERE}/configmaps/w", {**ANOTHER, "data": {"a": "1"}}),
    ("changes it", "PATCH", f"{HERE}/configmaps/w", {"data": {"b": "1"}}),
    ("deletes it", "DELETE", f"{HERE}/configmaps/w", None),
    ("makes a token", "POST", f"{HERE}/serviceaccounts/default/token", TOKEN),
)
SUM = r'apiserver_flowcontrol_work_estimated_seats_sum\{flow_schema="%s",.*\} (\S+)'
LIMIT = r'apiserver_flowcontrol_nominal_limit_seats\{priority_level="%s"\} (\S+)'


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, of an API server with a part of etcd for itself: no others watch."""
    server = plane.api_server("weighed", "--etcd-prefix=/weighed")
    admin = server.admin
    admin("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    admin("POST", f"{HERE}/serviceaccounts", {"metadata": {"name": "default"}})
    for each in LEVELS:
        admin("POST", f"{FLOW}/prioritylevelconfigurations", each)
    for name, user in USERS.items():
        admin("POST", f"{FLOW}/flowschemas", schema(name, "ByUser", user))
    for name, user in USERS.items():
        visitor = server.admin.with_headers(Impersonate_User=user)
        visitor = visitor.with_headers(Impersonate_Group="weighed")
        _may_do_everything(admin)
        until("its level", partial(_is_let_in, visitor))
        about = {"user": user, "level": name, "seats": _number(admin, LIMIT % name)}
        for what, path in READS:
            page = admin("GET", f"{CONFIG_MAPS}?limit=1").body["metadata"]
            path = path.replace("REVISION", page["resourceVersion"])
            seats = _weighed(admin, name, partial(visitor, "GET", path))
            yield _answer(name, what, about, "GET", path, seats)
        yield from _written(admin, visitor, about)
    for name in USERS:
        admin("DELETE", f"{FLOW}/flowschemas/{name}")
        admin("DELETE", f"{FLOW}/prioritylevelconfigurations/{name}")
    admin("DELETE", f"/api/v1/namespaces/{SPACE}")


def _is_let_in(visitor: Connection) -> bool:
    return visitor("GET", f"{HERE}/configmaps").status == 200


def _written(admin: Connection, visitor: Connection, about: Object) -> Iterator[Answer]:
    for crowd in CROWDS:
        with ExitStack() as stack:
            for _ in range(crowd):
                stack.enter_context(_Watching(admin))
            for what, method, path, body in WRITES:
                ask = partial(visitor, method, path, body)
                if method == "PATCH":
                    ask = partial(ask, content_type=MERGE)
                seats = _weighed(admin, about["level"], ask)
                what = f"{what}, and {crowd} watch"
                yield _answer(
                    about["level"], what, about, method, path, seats, watchers=crowd
                )


class _Watching:
    """A connection over which the namespace's ConfigMaps are watched."""

    def __init__(self, admin: Connection) -> None:
        self._connection: HTTPSConnection = admin.open()

    def __enter__(self) -> None:
        path = f"{HERE}/configmaps?watch=1&resourceVersion=0&timeoutSeconds=600"
        self._connection.request("GET", path)
        self._connection.getresponse()

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _answer(
    name: str,
    what: str,
    about: Object,
    method: str,
    path: str,
    seats: float,
    **more: Any,
) -> Answer:
    return Answer(
        f"weighed/{name.partition('-')[2]}: {what}",
        WHO,
        "a request of somebody with a priority level of his own: how many seats it is"
        " taken for, which is to be seen in the server's metrics",
        {**about, "method": method, "path": path, "weighs": seats, **more},
    )


def _weighed(admin: Connection, name: str, ask: Any) -> float:
    """By how much the sum of seats grows while it is asked."""
    before = _number(admin, SUM % name)
    ask()
    grown: float = until("the sum to grow", lambda: _number(admin, SUM % name) - before)
    return grown


def _number(admin: Connection, pattern: str) -> float:
    found = re.search(pattern, admin("GET", "/metrics").body)
    return float(found[1]) if found else 0.0


def _may_do_everything(admin: Connection) -> None:
    kind = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group"}
    admin(
        "POST",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {
            "metadata": {"name": "weighed"},
            "roleRef": {**kind, "name": "cluster-admin"},
            "subjects": [{**group, "name": "weighed"}],
        },
    )
