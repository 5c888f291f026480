"""The front proxy: which headers does an added server get to see?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.apiserver.aggregation.backend import (
    HOP_BY_HOP,
    auth_proxy_headers,
    forwarded_headers,
)
from lifecycle.apiserver.http.headers import SEPARATOR
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = f"""\
proxied(headers, user) -> list of [name, value]

headers: what the client sent, as {{"accept": ["a", "b"], ...}}: names in small letters,
        a list of values for each.
user:    who the chain has found out it is: {{"name", "uid", "groups": [...], "extra":
        {{"key": [...], ...}}}}. uid may be empty.
Returns all headers that go on to an added API server, in any order, each value of its
own. What the client sent goes along, but for headers that begin with x-remote- and
those that belong to one connection:
{", ".join(sorted(HOP_BY_HOP)[:6])},
{", ".join(sorted(HOP_BY_HOP)[6:])}.
Then come X-Remote-User, X-Remote-Uid if there is one, an X-Remote-Group for each group,
and an X-Remote-Extra-KEY for each value of an extra. In KEY all but letters, digits and
!#$&'*+-.^_`|~ is percent-encoded ("a/b" is "a%2Fb")."""

STARTER = '''\
def proxied(headers, user):
    """What goes along."""
    found = [[name, value] for name, values in headers.items() for value in values]
    return [*found, ["X-Remote-User", user["name"]]]
'''

SENT: dict[str, dict[str, list[str]]] = {
    "nothing": {},
    "an honest client": {
        "accept": ["application/json"],
        "user-agent": ["kubectl/v1.36.2"],
        "host": ["cluster:6443"],
    },
    "a connection's headers": {
        **{name: ["x"] for name in sorted(HOP_BY_HOP)},
        "te-x": ["kept"],
        "upgrades": ["kept"],
    },
    "a forged name": {"x-remote-user": ["root"], "accept": ["*/*"]},
    "forged groups": {"x-remote-group": ["system:masters", "root"]},
    "a forged extra": {"x-remote-extra-scopes": ["all"], "x-remote": ["kept"]},
    "several values": {"accept": ["a", "b", "c"], "x-remotely": ["kept"]},
    "audit": {"audit-id": ["1"], "x-forwarded-for": ["10.0.0.1"]},
}
PEOPLE: dict[str, Object] = {
    "ann": {"name": "ann", "uid": "", "groups": [], "extra": {}},
    "bob": {"name": "bob", "uid": "u-2", "groups": ["shop", "all"], "extra": {}},
    "an account": {
        "name": "system:serviceaccount:shop:nginx",
        "uid": "u-3",
        "groups": ["system:serviceaccounts", "system:authenticated"],
        "extra": {
            "authentication.kubernetes.io/pod-name": ["nginx-1"],
            "authentication.kubernetes.io/credential-id": ["JTI=1"],
        },
    },
    "scopes": {
        "name": "eve",
        "uid": "",
        "groups": ["g"],
        "extra": {"example.com/scopes": ["read", "write"], "a b%c": ["x"], "~x_": []},
    },
}


def cases() -> Iterator[Case]:
    """Every client with every user."""
    for (client, headers), (who, user) in product(SENT.items(), PEOPLE.items()):
        question = {"headers": headers, "user": user}
        yield Case(
            client,
            f"as {who}",
            _answer(_ours, headers, user),
            _asking(headers, user),
            question,
        )


def _asking(headers: Object, user: Object) -> Callable[[Attempt], Any]:
    return lambda attempt: _answer(attempt, headers, user)


def _answer(attempt: Attempt, headers: Object, user: Object) -> dict[str, list[str]]:
    """By name, so that the order of names does not count."""
    by_name: dict[str, list[str]] = {}
    for name, value in attempt(headers, user):
        by_name.setdefault(name, []).append(value)
    return {name: sorted(values) for name, values in sorted(by_name.items())}


def _ours(headers: Object, user: Object) -> list[tuple[str, str]]:
    joined = {name: SEPARATOR.join(values) for name, values in headers.items()}
    extra = {key: tuple(values) for key, values in user["extra"].items()}
    info = UserInfo(user["name"], tuple(user["groups"]), user["uid"], extra)
    return forwarded_headers(joined) + auth_proxy_headers(info)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "front-proxy-headers",
    "What an added server gets to know",
    CONTRACT,
    STARTER,
    "the book's own aggregator",
    cases,
    ours,
    ("aggregation", "front-proxy"),
)
