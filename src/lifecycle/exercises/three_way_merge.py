"""A client-side apply: what does kubectl send, having three versions of an object?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubectl.three_way_merge import three_way_merge_patch

CONTRACT = """\
apply_patch(last_applied, wanted, live) -> the patch

last_applied: what your file said the last time, {} if there was none.
wanted:       what your file says now.
live:         what the server has.
Returns a merge patch, {} if there is nothing to do: a key of `wanted` that the server
has otherwise or not at all is set; a key that you wanted the last time and do not want
any more is deleted with null, whether or not it is still there; all else is left alone.
Two objects are compared key by key in the same way, and appear in the patch only if
there is something to do in them. Lists are compared and sent as a whole."""

STARTER = '''\
def apply_patch(last_applied, wanted, live):
    """What has to be changed."""
    return {key: value for key, value in wanted.items() if live.get(key) != value}
'''

SEED = 36
SAID: dict[str, tuple[Object, Object, Object]] = {
    "the first time": ({}, {"replicas": 3}, {"replicas": 1, "paused": True}),
    "nothing to do": ({"replicas": 3}, {"replicas": 3}, {"replicas": 3, "uid": "u"}),
    "scaled by somebody": ({"replicas": 3}, {"replicas": 3}, {"replicas": 5}),
    "not wanted any more": ({"replicas": 3}, {}, {"replicas": 5}),
    "gone already": ({"replicas": 3}, {}, {"image": "nginx"}),
    "never yours": ({}, {"image": "nginx"}, {"image": "nginx", "replicas": 5}),
    "nothing to do inside": ({}, {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}),
    "a new object": ({}, {"labels": {"a": "1"}}, {}),
    "a label": (
        {"labels": {"a": "1", "b": "2"}},
        {"labels": {"a": "1", "c": "3"}},
        {"labels": {"a": "1", "b": "2", "theirs": "x"}},
    ),
    "all labels": ({"labels": {"a": "1"}}, {}, {"labels": {"a": "1", "theirs": "x"}}),
    "your object, their value": ({"a": {"b": 1}}, {"a": {"b": 1}}, {"a": 7}),
    "a value where an object was": ({"a": {"b": 1}}, {"a": 2}, {"a": {"b": 1}}),
    "an object where a value was": ({"a": 1}, {"a": {"b": 1}}, {"a": {"c": 2}}),
    "a list": ({"args": ["-v"]}, {"args": ["-v", "-q"]}, {"args": ["-v", "-x"]}),
}


def cases() -> Iterator[Case]:
    """Each rule once, and generated triples that share most of their keys."""
    for label, versions in SAID.items():
        yield _case("one rule", label, versions)
    chance = Random(SEED)
    for number in range(200):
        last = _any(chance, 3)
        wanted, live = _other(chance, last), _other(chance, last)
        yield _case("generated", f"triple {number}", (last, wanted, live))


def _any(chance: Random, depth: int) -> Object:
    return {
        key: _any(chance, depth - 1)
        if depth and chance.random() < 0.5
        else chance.choice((0, 1, "x", True, [], [1, 2]))
        for key in chance.sample("abcde", 3)
    }


def _other(chance: Random, obj: Object) -> Object:
    """The same with some keys more, fewer, or changed."""
    made = deepcopy(obj)
    for key in list(made):
        dice = chance.random()
        if dice < 0.2:
            del made[key]
        elif dice < 0.4:
            made[key] = chance.choice((0, 1, "x", [1], {"a": 1}))
        elif isinstance(made[key], dict):
            made[key] = _other(chance, made[key])
    return made | (_any(chance, 1) if chance.random() < 0.3 else {})


def _case(group: str, label: str, versions: tuple[Object, Object, Object]) -> Case:
    last, wanted, live = versions
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(last, wanted, live)  # noqa: E731
    question = {"last_applied": last, "wanted": wanted, "live": live}
    expected = {"patch": deepcopy(_ours(*versions))}
    return Case(
        group,
        label,
        expected,
        lambda attempt: {"patch": ask(attempt)},
        question,
    )


def _ours(last_applied: Object, wanted: Object, live: Object) -> Object:
    return three_way_merge_patch(last_applied, wanted, live, None)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "three-way-merge",
    "The patch of an apply",
    CONTRACT,
    STARTER,
    "the book's own kubectl",
    cases,
    ours,
    ("openapi", "apply"),
)
