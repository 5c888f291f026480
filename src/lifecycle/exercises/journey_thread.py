"""The whole journey: which pieces of work belong to one command?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.tracing import Span
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.trace.journey import journey_of

CONTRACT = """\
journey(spans, uid) -> list of ids, sorted

spans: pieces of work, in any order: {"id", "parent", "component", "name", "start",
        "uid", "owner"}. parent is the id of the span around it, 0 if there is none.
        uid is the object it is about, and owner the uid of that object's controlling
        owner; either may be empty.
uid:   of the object with which the journey begins; at least one span is about it.
An object belongs to the journey if it is that one, or if some span says that its owner
belongs. A span belongs if it is about an object that does, or about one whose owner
does. If such a span lies within a request (component "apiserver", name "request") or
within anything of the component "kubectl", at whatever depth, that one belongs, too.
And with a span belongs everything that lies within it."""

STARTER = '''\
def journey(spans, uid):
    """Whatever is about the object."""
    return sorted(span["id"] for span in spans if span["uid"] == uid)
'''

SEED = 36
REQUEST, STORAGE = ("apiserver", "request"), ("apiserver", "storage")
Row = tuple[int, int, tuple[str, str], str, str]


def cases() -> Iterator[Case]:
    """Scenes for single rules, and clusters in which several journeys are going on."""
    for label, rows in _scenes().items():
        yield _case("one rule", label, [_span(*row) for row in rows], "d")
    chance = Random(SEED)
    for number in range(60):
        yield _case("clusters", f"cluster {number}", list(_any(chance)), "d")


def _scenes() -> dict[str, list[Row]]:
    txn, sync, create = ("etcd", "txn"), ("scheduler", "bind"), ("kubectl", "create")
    outer: list[Row] = [(1, 0, REQUEST, "", ""), (2, 1, STORAGE, "", "")]
    return {
        "itself": [(1, 0, txn, "d", ""), (2, 0, txn, "x", "")],
        "what it owns": [(1, 0, txn, "d", ""), (2, 0, txn, "r", "d")],
        "what that owns": [
            (1, 0, txn, "d", ""),
            (2, 0, txn, "r", "d"),
            (3, 0, txn, "p", "r"),
            (4, 0, txn, "q", "x"),
        ],
        "the owner is told elsewhere": [
            (1, 0, txn, "d", ""),
            (2, 0, txn, "r", "d"),
            (3, 0, sync, "r", ""),
        ],
        "told later": [
            (1, 0, sync, "r", ""),
            (2, 0, txn, "r", "d"),
            (3, 0, txn, "d", ""),
        ],
        "within it": [
            (1, 0, sync, "d", ""),
            (2, 1, STORAGE, "", ""),
            (3, 2, txn, "", ""),
        ],
        "around it": [*outer, (3, 2, txn, "d", "")],
        "beside it": [*outer, (3, 1, txn, "d", "")],
        "around it, and no request": [(1, 0, sync, "", ""), (2, 1, txn, "d", "")],
        "kubectl": [
            (1, 0, create, "", ""),
            (2, 1, REQUEST, "", ""),
            (3, 2, txn, "d", ""),
        ],
        "another's request": [(1, 0, txn, "d", ""), (2, 0, REQUEST, "x", "")],
        "nobody's": [(1, 0, txn, "d", ""), (2, 0, REQUEST, "", "")],
    }


def _any(chance: Random) -> Iterator[Object]:
    """Objects of two Deployments, and spans about them, inside each other."""
    owner = {"d": "", "e": "", "r": "d", "s": "e", "p": "r", "q": "s", "t": "r"}
    yield _span(1, 0, ("etcd", "txn"), "d", "")
    for number in range(2, 26):
        parent = chance.choice((0, 0, *range(1, number)))
        work = chance.choice(
            (REQUEST, STORAGE, ("kubectl", "get"), ("etcd", "txn"), ("kubelet", "x"))
        )
        uid = chance.choice(("", "", "", *owner))
        told = owner[uid] if uid and chance.random() < 0.6 else ""
        yield _span(number, parent, work, uid, told)


def _span(
    number: int, parent: int, work: tuple[str, str], uid: str, owner: str
) -> Object:
    return {
        "id": number,
        "parent": parent,
        "component": work[0],
        "name": work[1],
        "start": number,
        "uid": uid,
        "owner": owner,
    }


def _case(group: str, label: str, spans: list[Object], uid: str) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(spans, uid)  # noqa: E731
    question = {"spans": spans, "uid": uid}
    return Case(group, label, _ours(spans, uid), ask, spans, question)


def _ours(spans: list[Object], uid: str) -> list[int]:
    told = [
        Span(
            id=one["id"],
            parent=one["parent"],
            component=one["component"],
            name=one["name"],
            start=float(one["start"]),
            end=float(one["start"]) + 1,
            attributes={"uid": one["uid"], "owner_uid": one["owner"], "id": one["id"]},
        )
        for one in spans
    ]
    return sorted(step.attributes["id"] for step in journey_of(told, uid).steps)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "journey-thread",
    "The thread of a journey",
    CONTRACT,
    STARTER,
    "the book's own, which draws the pictures of the journey",
    cases,
    ours,
    ("the-whole-journey", "journey"),
)
