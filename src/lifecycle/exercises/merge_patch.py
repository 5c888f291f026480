"""Merge patch: what is left of an object when a patch has been through it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
merge_patch(document, patch) -> the new document

document: any JSON value; patch: a JSON object. Both are left as they are.
The patch is laid over the document, key by key: null takes a key away, an object goes
on in the same way, anything else replaces what was there, lists as a whole. What is no
object counts as an empty one if an object is laid over it. (RFC 7386.)"""

STARTER = '''\
def merge_patch(document, patch):
    """The document, patched."""
    before = document if isinstance(document, dict) else {}
    return {**before, **patch}
'''

SEED = 36
SAID: dict[str, tuple[Any, Any]] = {
    "a value": ({"a": 1, "b": 2}, {"a": 3}),
    "a new key": ({"a": 1}, {"b": 2}),
    "null": ({"a": 1, "b": 2}, {"a": None}),
    "null for what is not there": ({"a": 1}, {"b": None}),
    "within": ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}),
    "null within": ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}),
    "null in a new object": ({}, {"a": {"b": None, "c": 1}}),
    "an object for a value": ({"a": 1}, {"a": {"b": None, "c": 2}}),
    "a value for an object": ({"a": {"b": 1}}, {"a": 2}),
    "a list": ({"a": [1, 2, 3]}, {"a": [4]}),
    "an object for a list": ({"a": [1]}, {"a": {"b": 1}}),
    "the document is a list": ([1, 2], {"a": 1, "b": None}),
    "the document is null": (None, {"a": {"b": None}}),
    "nothing": ({"a": {}}, {}),
    "an empty object": ({"a": {"b": 1}}, {"a": {}}),
    "an empty object for a value": ({"a": 1}, {"a": {}}),
}


def cases() -> Iterator[Case]:
    """Each rule once, and three hundred generated pairs."""
    for label, (document, patch) in SAID.items():
        yield _case("one rule", label, document, patch)
    chance = Random(SEED)
    for number in range(300):
        patch = {key: _any(chance, 2) for key in chance.sample("abcd", 3)}
        yield _case("generated", f"pair {number}", _any(chance, 3), patch)


def _any(chance: Random, depth: int) -> Any:
    """Objects mostly, of few keys, so that document and patch meet."""
    if depth and chance.random() < 0.7:
        keys = chance.sample("abcd", chance.randint(0, 4))
        return {key: _any(chance, depth - 1) for key in keys}
    return chance.choice((None, None, 0, 1, "x", True, [], [1, 2], [{"a": 1}]))


def _case(group: str, label: str, document: Any, patch: Any) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(document, patch)  # noqa: E731
    expected = {"document": apply_merge_patch(deepcopy(document), deepcopy(patch))}
    return Case(
        group,
        label,
        expected,
        lambda attempt: {"document": ask(attempt)},
        [document, patch],
    )


def ours() -> Attempt:
    """The book's."""
    return apply_merge_patch


EXERCISE = Exercise(
    "merge-patch",
    "A merge patch",
    CONTRACT,
    STARTER,
    "the book's own, which answers the recorded patches as the real server did",
    cases,
    ours,
    ("resource-handling",),
)
