"""Initializers, which are gone: who has to look at a new object first, and what may be
done to the list?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.authz.authorizer import ALLOW
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.historical.apiserver.initializers import Initializers

CONTRACT = """\
pending(configurations, resource) -> list of names

configurations: InitializerConfigurations by name, in any order. Each has
        "initializers": {"name", "rules": [{"apiGroups", "apiVersions", "resources"}]}.
resource:       {"group", "version", "resource"} of an object that is being created.
Returns the names that admission writes into metadata.initializers.pending: of the
initializers of which a rule fits. In a rule all three lists have to name the resource,
and "*" stands for anything; the group of the core is the empty text. Configurations go
by their names, the initializers of one in its own order. A name stands in the list
once, where it comes first."""

STARTER = '''\
def pending(configurations, resource):
    """Who has to look at it first."""
    return [
        initializer["name"]
        for configuration in configurations.values()
        for initializer in configuration["initializers"]
    ]
'''

SEED = 36
RESOURCES = ("pods", "deployments.apps", "jobs.batch", "services")


def _one(name: str, *rules: tuple[str, str, str]) -> Object:
    return {
        "name": name,
        "rules": [
            {
                "apiGroups": groups.split(","),
                "apiVersions": versions.split(","),
                "resources": resources.split(","),
            }
            for groups, versions, resources in rules
        ],
    }


PODS, ALL = ("", "v1", "pods"), ("*", "*", "*")
SAID: dict[str, dict[str, list[Object]]] = {
    "nobody": {},
    "one for pods": {"a": [_one("sidecar.example.com", PODS)]},
    "one for everything": {"a": [_one("all.example.com", ALL)]},
    "another group": {"a": [_one("x.example.com", ("apps", "v1", "pods,services"))]},
    "another version": {"a": [_one("x.example.com", ("", "v2", "pods"))]},
    "two rules": {"a": [_one("x.example.com", PODS, ("apps", "*", "deployments"))]},
    "rules do not add up": {
        "a": [_one("x.example.com", ("apps", "v1", "pods"), ("", "v1", "deployments"))]
    },
    "no rules": {"a": [_one("x.example.com")]},
    "in their own order": {
        "a": [_one("z.example.com", ALL), _one("a.example.com", ALL)]
    },
    "by the configurations' names": {
        "b": [_one("first.example.com", ALL)],
        "a": [_one("second.example.com", ALL)],
    },
    "the same name twice": {
        "b": [_one("x.example.com", ALL), _one("y.example.com", ALL)],
        "a": [_one("z.example.com", ALL), _one("x.example.com", PODS)],
    },
    "one that does not care": {
        "a": [_one("x.example.com", ("batch", "*", "*")), _one("y.example.com", PODS)]
    },
}


def cases() -> Iterator[Case]:
    """Each rule with each resource, and configurations at random."""
    for (name, told), plural in product(SAID.items(), RESOURCES):
        yield _case("one rule", f"{name}, {plural}", told, plural)
    chance = Random(SEED)
    for number in range(40):
        told = {
            f"config-{chance.randrange(100)}": [
                _one(f"{chance.choice('abcdef')}.example.com", *_any(chance))
                for _ in range(chance.randint(1, 3))
            ]
            for _ in range(3)
        }
        plural = chance.choice(RESOURCES)
        yield _case("at random", f"cluster {number}, {plural}", told, plural)


def _any(chance: Random) -> list[tuple[str, str, str]]:
    return [
        (
            chance.choice(("", "apps", "*", "batch,apps")),
            chance.choice(("v1", "*", "v1,v2", "v2")),
            chance.choice(("pods", "*", "deployments,jobs", "services")),
        )
        for _ in range(chance.randint(0, 2))
    ]


def _case(group: str, label: str, told: dict[str, list[Object]], plural: str) -> Case:
    configurations = {name: {"initializers": each} for name, each in told.items()}
    row = resource(plural)
    about = {"group": row.group, "version": row.version, "resource": row.plural}
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(configurations, about)  # noqa: E731
    question = {"configurations": configurations, "resource": about}
    return Case(group, label, _ours(configurations, about), ask, question)


def _ours(configurations: Object, about: Object) -> list[str]:
    plural, group = about["resource"], about["group"]
    row = resource(f"{plural}.{group}" if group else plural)
    plugin = Initializers(lambda user, info: ALLOW, configurations)
    return plugin.initializers_for(row)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "initializers",
    "Who has to look first",
    CONTRACT,
    STARTER,
    "the book's own model of a plugin that is gone",
    cases,
    ours,
    ("initializers-then-and-now",),
)
