"""Server-side apply: whose is which field afterwards, and who has to be asked?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.apiserver.managedfields.apply import apply_patch
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
apply(live, owners, wish, manager, force) -> dict

live:    the fields of an object, as in {"image": "nginx:1.27", "replicas": "3"}.
owners:  {manager: its fields, in the order of the alphabet}, all by earlier applies.
wish:    what the manager wants to be set, at least one field.
manager: who applies. force: whether it insists.
If the wish has another value than `live` in a field that others own, and it does not
insist, returns {"conflicts": [[owner, field], ...]}, sorted. Otherwise returns
{"live": ..., "owners": ...}. What is wished for is set, and the manager owns it; those
who own it with another value lose it. What the manager owned before and does not wish
for any more is not its own any longer, and is removed if nobody else owns it. Who owns
nothing does not appear."""

STARTER = '''\
def apply(live, owners, wish, manager, force):
    """The object and its owners."""
    return {"live": {**live, **wish}, "owners": {**owners, manager: sorted(wish)}}
'''

SEED = 36
NOW = "2026-01-01T00:00:00Z"
Scene = tuple[dict[str, str], dict[str, list[str]], dict[str, str], str, bool]
SCENES: dict[str, Scene] = {
    "somebody new": ({"a": "1"}, {"ann": ["a"]}, {"b": "1"}, "bob", False),
    "the same value": ({"a": "1"}, {"ann": ["a"]}, {"a": "1"}, "bob", False),
    "another value": ({"a": "1"}, {"ann": ["a"]}, {"a": "2"}, "bob", False),
    "by force": ({"a": "1"}, {"ann": ["a"]}, {"a": "2"}, "bob", True),
    "its own field": ({"a": "1"}, {"ann": ["a"]}, {"a": "2"}, "ann", False),
    "not wished any more": (
        {"a": "1", "b": "1"},
        {"ann": ["a", "b"]},
        {"a": "1"},
        "ann",
        False,
    ),
    "somebody else wants it": (
        {"a": "1", "b": "1"},
        {"ann": ["a", "b"], "bob": ["b"]},
        {"a": "1"},
        "ann",
        False,
    ),
    "two owners, another value": (
        {"a": "1"},
        {"ann": ["a"], "bob": ["a"]},
        {"a": "2"},
        "ann",
        False,
    ),
    "two owners, by force": (
        {"a": "1", "c": "1"},
        {"ann": ["a", "c"], "bob": ["a"]},
        {"a": "2"},
        "ann",
        True,
    ),
    "nobody's field": ({"a": "1", "b": "1"}, {"ann": ["a"]}, {"b": "2"}, "bob", False),
    "nobody's stays": ({"a": "1", "b": "1"}, {"ann": ["a"]}, {"c": "1"}, "ann", False),
    "an empty value": ({"a": "1"}, {"ann": ["a"]}, {"a": ""}, "bob", False),
}


def cases() -> Iterator[Case]:
    """Each rule once, and crowds of three managers and five fields."""
    for label, scene in SCENES.items():
        yield _case("one rule", label, scene)
    chance = Random(SEED)
    for number in range(150):
        live = {key: chance.choice("12") for key in "abcde" if chance.random() < 0.8}
        live["a"] = "1"
        owned = {
            who: sorted(key for key in live if chance.random() < 0.4)
            for who in ("ann", "bob", "cleo")
        }
        owned["zoe"] = ["a"]
        owners = {who: keys for who, keys in owned.items() if keys}
        wish = {key: chance.choice("112") for key in chance.sample("abcde", 2)}
        manager, force = chance.choice(("ann", "bob", "dan")), chance.random() < 0.6
        scene = live, owners, wish, manager, force
        yield _case("a crowd", f"scene {number}", scene)


def _case(group: str, label: str, scene: Scene) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(*scene)  # noqa: E731
    names = ("live", "owners", "wish", "manager", "force")
    question = dict(zip(names, scene, strict=True))
    return Case(group, label, _ours(*scene), ask, list(scene), question)


def _ours(
    live: dict[str, str],
    owners: dict[str, list[str]],
    wish: dict[str, str],
    manager: str,
    force: bool,
) -> Object:
    """Put to the server's own code as a ConfigMap."""
    before = _config_map(live)
    before["metadata"]["managedFields"] = [_entry(*each) for each in owners.items()]
    try:
        after = apply_patch(
            before, _config_map(wish), manager=manager, force=force, now=NOW
        )
    except StatusError as error:
        causes = error.status["details"]["causes"]
        return {"conflicts": sorted(map(_disputed, causes))}
    entries = after["metadata"]["managedFields"]
    return {
        "live": after["data"],
        "owners": {each["manager"]: _owned(each) for each in entries if _owned(each)},
    }


def _config_map(data: dict[str, str]) -> Object:
    metadata: Object = {"name": "settings", "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": dict(data),
    }


def _entry(manager: str, keys: list[str]) -> Object:
    return {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": "v1",
        "time": NOW,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {f"f:{key}": {} for key in keys}},
    }


def _owned(entry: Object) -> list[str]:
    fields = entry["fieldsV1"].get("f:data", {})
    return sorted(field[2:] for field in fields if field != ".")


def _disputed(cause: Object) -> list[str]:
    return [cause["message"].split('"')[1], cause["field"].rpartition(".")[2]]


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "field-owners",
    "Whose field it is",
    CONTRACT,
    STARTER,
    "the book's own server, which answers the recorded applies as the real one did",
    cases,
    ours,
    ("field-ownership", "server-side-apply"),
)
