"""The store under an informer: objects by key, and by whatever they are indexed by.

The history is the recorded journey's: everything its watches told, in order. In between
come lists, which replace the contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.client.indexer import Indexer
from lifecycle.client.store import meta_namespace_key
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
Store(indexers): a class; indexers maps the name of an index to a function from an
        object to a list of values.

add(obj), update(obj), delete(obj): the key is "namespace/name", or the name alone
without a namespace.
replace(objects):                   exactly these from now on.
get_by_key(key):                    the object itself (not a copy), or None.
list(), keys():                     all objects, all keys, in any order.
by_index(name, value):              all objects for which the index function gave
        that value, in any order.
index_values(name):                 every value under which some object is filed, in
        any order."""

STARTER = '''\
def key_of(obj):
    meta = obj["metadata"]
    return (
        f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
    )


class Store:
    """Objects by key, and by what the index functions say."""

    def __init__(self, indexers):
        self.indexers = indexers
        self.items = {}

    def add(self, obj):
        self.items[key_of(obj)] = obj

    update = add

    def delete(self, obj):
        del self.items[key_of(obj)]

    def replace(self, objects):
        for obj in objects:
            self.add(obj)

    def get_by_key(self, key):
        return self.items.get(key)

    def list(self):
        return list(self.items.values())

    def keys(self):
        return list(self.items)

    def by_index(self, name, value):
        return [obj for obj in self.items.values() if value in self.indexers[name](obj)]

    def index_values(self, name):
        return sorted(
            {value for obj in self.items.values() for value in self.indexers[name](obj)}
        )
'''

EVERY = 25
"""After so many events the store is looked at."""


def by_node(obj: Object) -> list[str]:
    """The node a pod is on; none if it is on none."""
    name = (obj.get("spec") or {}).get("nodeName")
    return [name] if name else []


def by_owner(obj: Object) -> list[str]:
    """The uids of an object's owners."""
    return [owner["uid"] for owner in obj["metadata"].get("ownerReferences") or ()]


INDEXERS = {"node": by_node, "owner": by_owner}
Step = tuple[str, Any]


def _small(
    name: str, node: str, *owners: str, namespace: str = "n", revision: int = 1
) -> Object:
    meta: Object = {"name": name, "resourceVersion": str(revision)}
    if namespace:
        meta["namespace"] = namespace
    if owners:
        meta["ownerReferences"] = [{"uid": owner} for owner in owners]
    return {"metadata": meta, "spec": {"nodeName": node}}


MOVES: dict[str, list[Step]] = {
    "an object moves from one value to another": [
        ("ADDED", _small("p", "a", "x")),
        ("MODIFIED", _small("p", "b", "x", revision=2)),
        ("ADDED", _small("p", "c", "y", revision=3)),  # added again, as after a list
        (
            "DELETED",
            _small("p", "d", "z", revision=4),
        ),  # its last state, which nobody has seen before
    ],
    "several objects under a value, several values of an object": [
        ("ADDED", _small("p", "a", "x", "y")),
        ("ADDED", _small("q", "a", "y")),
        ("MODIFIED", _small("p", "a", "y", revision=2)),
        ("DELETED", _small("q", "a", "y")),
    ],
    "one name in two namespaces, and in none": [
        ("ADDED", _small("p", "a")),
        ("ADDED", _small("p", "b", namespace="m")),
        ("ADDED", _small("p", "c", namespace="")),
        ("DELETED", _small("p", "b", namespace="m")),
    ],
}
"""Short histories for what the recorded journey never did."""


def cases() -> Iterator[Case]:
    """Each prefix of the recorded history, and the same with lists in between."""
    events = [
        line["event"]
        for line in open_recording().watch("journey")
        if line["event"]["type"] != "BOOKMARK"
    ]
    received: list[Step] = [(event["type"], event["object"]) for event in events]
    for end in (1, 2, *range(EVERY, len(received), EVERY), len(received)):
        yield _case("events only", received[:end])
    for end in range(EVERY, len(received), 4 * EVERY):
        relisted = [obj for _, obj in received[end - 10 : end : 3]]
        unique = list({meta_namespace_key(obj): obj for obj in relisted}.values())
        yield _case(
            "a list in between",
            [*received[:end], ("REPLACE", unique), *received[end : end + 5]],
        )
    yield _case(
        "what was never there is deleted",
        [
            ("DELETED", received[0][1]),
            *received[:3],
            *[("DELETED", received[0][1])] * 2,
        ],
    )
    for name, steps in MOVES.items():
        for end in range(1, len(steps) + 1):
            yield _case(name, steps[:end])


def _case(group: str, steps: list[Step]) -> Case:
    # an attempt may change what it is given, but only its own
    steps = fast_json.loads(fast_json.dumps(steps))
    ask: Callable[[Attempt], Object] = lambda attempt: _seen(attempt, steps)  # noqa: E731
    return Case(
        group,
        f"after {len(steps)} steps",
        _seen(_Ours, steps),
        ask,
        [obj for _, obj in steps],
    )


def _seen(make: Attempt, steps: list[Step]) -> Object:
    """Everything a store can be asked after such a history."""
    store: Any = make(dict(INDEXERS))
    act = {
        "ADDED": store.add,
        "MODIFIED": store.update,
        "DELETED": store.delete,
        "REPLACE": store.replace,
    }
    stored_ids = set()
    for what, obj in steps:
        stored_ids |= {id(one) for one in (obj if what == "REPLACE" else [obj])}
        act[what](obj)
    keys = sorted(store.keys())
    objects = {key: store.get_by_key(key) for key in keys}
    return {
        "keys": keys,
        "revisions": [objects[key]["metadata"]["resourceVersion"] for key in keys],
        "shares what it was given": all(
            id(obj) in stored_ids for obj in objects.values()
        ),
        "lists": sorted(meta_namespace_key(obj) for obj in store.list()),
        "nobody": store.get_by_key("no/body"),
        "indices": {
            name: {
                value: sorted(
                    meta_namespace_key(obj) for obj in store.by_index(name, value)
                )
                for value in sorted(store.index_values(name))
            }
            for name in INDEXERS
        },
        "an unused value": list(store.by_index("node", "no-such-node")),
    }


class _Ours(Indexer):
    """The book's indexer behind the contract's verbs."""

    def add(self, obj: Object) -> None:
        """Add or replace."""
        self.set(meta_namespace_key(obj), obj)

    update = add

    def delete(self, obj: Object) -> None:
        """Forget."""
        self.remove(meta_namespace_key(obj))


def ours() -> Attempt:
    """The book's."""
    return _Ours


EXERCISE = Exercise(
    "informer-store",
    "The store under an informer",
    CONTRACT,
    STARTER,
    "the watches of the recorded journey",
    cases,
    ours,
    ("informer", "indexer"),
)
