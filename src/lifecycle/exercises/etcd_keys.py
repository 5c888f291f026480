"""Keys: under which name does an object lie in etcd?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lifecycle.agreements.etcd.keys_and_values import NOT_OBJECTS, recorded_keys
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, all_resources, resource
from lifecycle.etcd.keys import registry_key, resource_prefix
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
key(resource, namespace, name) -> str

resource:  {"group": "apps", "resource": "deployments", "namespaced": bool, "custom":
        bool}; the group is empty for the core, "custom" says that a
        CustomResourceDefinition made it.
namespace: empty for what lies in none.
Returns the key in etcd, as in "/registry/deployments/shop/web". A few resources keep a
name from the early days, and a few groups are part of the key."""

STARTER = '''\
def key(resource, namespace, name):
    """Where the object lies."""
    return f"/registry/{resource['resource']}/{namespace}/{name}"
'''

NAMES = (("", "one"), ("shop", "web"), ("shop", "web.example.com"))


def cases() -> Iterator[Case]:
    """The keys of a recorded etcd, and one of each resource that there is."""
    rows = {resource_prefix(row): row for row in reversed(all_resources())}
    for key in recorded_keys(open_recording()):
        prefix = max((one for one in rows if key.startswith(one)), key=len, default="")
        if prefix and not key.startswith(NOT_OBJECTS):
            namespace, _, name = key.removeprefix(prefix).rpartition("/")
            yield _case("recorded", rows[prefix], namespace, name, key)
    for row in {(row.group, row.plural): row for row in all_resources()}.values():
        yield from _made_up("each resource", row)
    for group in ("example.com", "stable.example.org"):
        widgets = replace(resource("deployments.apps"), group=group, plural="widgets")
        yield from _made_up("custom resources", widgets)
        yield from _made_up("custom resources", replace(widgets, plural="nodes"))


def _made_up(group: str, row: Resource) -> Iterator[Case]:
    for namespace, name in NAMES:
        if bool(namespace) == row.namespaced:
            expected = registry_key(row, namespace, name)
            yield _case(group, row, namespace, name, expected)


def _case(group: str, row: Resource, namespace: str, name: str, key: str) -> Case:
    described: Object = {
        "group": row.group,
        "resource": row.plural,
        "namespaced": row.namespaced,
        "custom": group == "custom resources",
    }
    where = f"{row.plural}.{row.group} {namespace} {name}".replace("/", "∕")
    ask: Callable[[Attempt], object] = lambda attempt: attempt(  # noqa: E731
        described, namespace, name
    )
    question = {"resource": described, "namespace": namespace, "name": name}
    return Case(group, where, key, ask, described, question)


def _ours(described: Object, namespace: str, name: str) -> str:
    group, plural = described["group"], described["resource"]
    for row in all_resources():
        if (row.group, row.plural) == (group, plural):
            return registry_key(row, namespace, name)
    custom = replace(resource("deployments.apps"), group=group, plural=plural)
    return registry_key(custom, namespace, name)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "etcd-keys",
    "Keys in etcd",
    CONTRACT,
    STARTER,
    "the keys of a recorded etcd",
    cases,
    ours,
    ("keys",),
)
