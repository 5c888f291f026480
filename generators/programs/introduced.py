"""Who one is if somebody else says it: a proxy with its certificate, or whoever asks to
be taken for another; and how long a token is believed after its account is gone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane, until
from lifecycle.agreements.apiserver.introduced import (
    AFTERWARDS,
    REVIEW,
    REVIEWS,
    known_as,
)

WHO = "kube-apiserver v1.36.2"
SPACE = "introduced"
Object = dict[str, Any]
Lines = list[list[str]]
JANE = ["X-Remote-User", "jane"]
PROXY, OTHER_PROXY, CLIENT, NOBODY = "the proxy", "another proxy", "a client", "nobody"
PROXIED: tuple[tuple[str, str, Lines], ...] = (
    ("a name", PROXY, [JANE]),
    ("no name", PROXY, [["X-Remote-Group", "shop"]]),
    ("an empty name", PROXY, [["X-Remote-User", ""], ["X-Remote-Group", "shop"]]),
    ("two names", PROXY, [JANE, ["X-Remote-User", "joe"]]),
    ("a name in small letters", PROXY, [["x-remote-user", "jane"]]),
    ("groups", PROXY, [JANE, ["X-Remote-Group", "shop"], ["X-Remote-Group", "devs"]]),
    ("an empty group", PROXY, [JANE, ["X-Remote-Group", ""]]),
    ("a group twice", PROXY, [JANE, *[["X-Remote-Group", "shop"]] * 2]),
    ("a uid", PROXY, [JANE, ["X-Remote-Uid", "u-1"]]),
    (
        "more",
        PROXY,
        [
            JANE,
            ["X-Remote-Extra-Scopes", "read"],
            ["X-Remote-Extra-Scopes", "write"],
            ["X-Remote-Extra-Example.com%2fTeam", "a b"],
            ["X-Remote-Extra-Wrong%2", "c"],
        ],
    ),
    ("more, without a key", PROXY, [JANE, ["X-Remote-Extra-", "x"]]),
    ("a service account", PROXY, [["X-Remote-User", "system:serviceaccount:a:b"]]),
    ("nobody at all", PROXY, [["X-Remote-User", "system:anonymous"]]),
    ("a name that others say", CLIENT, [JANE]),
    ("a name that nobody says", NOBODY, [JANE]),
    ("a name, and a wrong certificate name", OTHER_PROXY, [JANE]),
    (
        "a name, who is to be another",
        PROXY,
        [
            ["X-Remote-User", "root"],
            ["X-Remote-Group", "system:masters"],
            ["Impersonate-User", "joe"],
        ],
    ),
)
"""What is said, by whom, in which header lines."""
AS_JANE = ["Impersonate-User", "jane"]
POSED: tuple[tuple[str, Lines], ...] = (
    ("a user", [AS_JANE]),
    ("a user and groups", [AS_JANE, *[["Impersonate-Group", g] for g in ("b", "a")]]),
    ("a group only", [["Impersonate-Group", "shop"]]),
    ("two groups only", [["Impersonate-Group", "shop"], ["Impersonate-Group", "devs"]]),
    ("a uid only", [["Impersonate-Uid", "u-1"]]),
    ("more only", [["Impersonate-Extra-Scopes", "read"]]),
    (
        "everything but a user",
        [
            ["Impersonate-Group", "a"],
            ["Impersonate-Uid", "u"],
            ["Impersonate-Extra-X", "1"],
        ],
    ),
    ("an empty user", [["Impersonate-User", ""]]),
    (
        "an empty user, and a group",
        [["Impersonate-User", ""], ["Impersonate-Group", "a"]],
    ),
    ("what is no such header", [["Impersonate-Nothing", "x"]]),
    (
        "a user, uid and more",
        [AS_JANE, ["Impersonate-Uid", "u"], ["Impersonate-Extra-Scopes", "read"]],
    ),
    ("a service account", [["Impersonate-User", "system:serviceaccount:a:b"]]),
    (
        "a service account in groups",
        [["Impersonate-User", "system:serviceaccount:a:b"], ["Impersonate-Group", "c"]],
    ),
    ("a service account of no name", [["Impersonate-User", "system:serviceaccount:a"]]),
    ("anonymous", [["Impersonate-User", "system:anonymous"]]),
    (
        "anonymous in a group",
        [["Impersonate-User", "system:anonymous"], ["Impersonate-Group", "a"]],
    ),
    (
        "a node",
        [["Impersonate-User", "system:node:n1"], ["Impersonate-Group", "system:nodes"]],
    ),
    ("two users", [AS_JANE, ["Impersonate-User", "joe"]]),
)
"""What an administrator asks to be."""
GOES = ("serviceaccount", "secret")
"""What a token may hang on that goes."""


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, of an API server with a part of etcd for itself."""
    flags = (
        "--etcd-prefix=/introduced",
        "--requestheader-uid-headers=X-Remote-Uid",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    )
    server = plane.api_server("introduced", *flags)
    authority = plane.authority
    certificates = {
        PROXY: authority.client_certificate("front-proxy-client"),
        OTHER_PROXY: authority.client_certificate("another-proxy"),
        CLIENT: authority.client_certificate("ken", ("team",)),
        NOBODY: None,
    }
    for what, who, lines in PROXIED:
        asker = Connection(server.port, authority.ca_pem, certificates[who])
        yield Answer(
            f"proxied/{what}",
            WHO,
            "somebody with a certificate (or none), and headers that name a user: whom"
            " the server knows him as, by a SelfSubjectReview",
            {"by": who, "sent": lines, "known": _asked(asker, lines)},
        )
    for what, lines in POSED:
        yield Answer(
            f"posed/{what}",
            WHO,
            "an administrator asks to be taken for somebody else: whom the server knows"
            " him as, or what it says",
            {"sent": lines, "known": _asked(server.admin, lines)},
        )
    yield from _forgotten(server.admin, server.connection())


def _asked(asker: Connection, lines: Lines) -> Object:
    """Each line as it is: a header may come twice."""
    connection, body = asker.open(), json.dumps(REVIEW).encode()
    try:
        connection.putrequest("POST", REVIEWS)
        for name, value in (
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *lines,
        ):
            connection.putheader(name, value)
        connection.endheaders(body)
        reply = connection.getresponse()
        return known_as(reply.status, json.loads(reply.read()))
    finally:
        connection.close()


def _forgotten(admin: Connection, nobody: Connection) -> Iterator[Answer]:
    path = f"/api/v1/namespaces/{SPACE}"
    admin("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    for what in GOES:
        account = f"{path}/serviceaccounts/{what}"
        admin("POST", f"{path}/serviceaccounts", {"metadata": {"name": what}})
        admin("POST", f"{path}/secrets", {"metadata": {"name": what}})
        bound = {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": what}}
        spec = bound if what == "secret" else {}
        token = until("a token", partial(_token, admin, account, spec))
        bearer = nobody.bearing(token)
        until("it to be believed", partial(_believed, bearer))
        gone = f"{path}/secrets/{what}" if what == "secret" else account
        admin("DELETE", gone)
        begun, codes = time.monotonic(), []
        for after in AFTERWARDS:
            time.sleep(max(0.0, begun + after - time.monotonic()))
            codes.append(bearer("POST", REVIEWS, REVIEW).status)
        yield Answer(
            f"forgotten/{what}",
            WHO,
            "a token is used, and what it hangs on is deleted: whether it is still"
            " believed so many seconds later",
            {"of": what, "after": list(AFTERWARDS), "codes": codes},
        )


def _believed(bearer: Connection) -> bool:
    return bearer("POST", REVIEWS, REVIEW).status == 201


def _token(admin: Connection, account: str, spec: Object) -> str:
    reply = admin("POST", f"{account}/token", {"spec": spec})
    return str(reply.body["status"]["token"]) if reply.status == 201 else ""
