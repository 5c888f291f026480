"""The RESTMapper: which resource is meant by a word that somebody typed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording
from lifecycle.kubectl.failures import NoMatchError
from lifecycle.kubectl.rest_mapper import RESTMapper

CONTRACT = """\
find(resources, word) -> "GROUP/VERSION/RESOURCE" or None

resources: what the server has, in its order: {"group", "version", "resource",
        "singular", "kind", "shortNames": [...]}. The group of the core is empty.
word:    as in "deploy", "Pod", "deployments.apps", "deployments.v1.apps"; capital
        letters do not count.
What stands before the first dot is the resource, its singular, its kind, or one of its
short names; a match of a whole name beats any short one, and of several the first in
the list is meant. What stands behind the dot, if there is one, is the group, or the
version, a dot, and the group. Behind a short name that version is not looked at: the
first with that group is meant. If none has just that group, one whose group begins with
what stands behind the dot will do: "deployments.app". None, if there is no such
resource. The answer for a pod is "/v1/pods"."""

STARTER = '''\
def find(resources, word):
    """What is meant."""
    for one in resources:
        if word in (one["resource"], *one["shortNames"]):
            return f"{one['group']}/{one['version']}/{one['resource']}"
    return None
'''

OWN = (
    ("shop.example.com", "v1", "pods", "pod", "Pod", ("po", "shop")),
    ("shop.example.com", "v1", "deploys", "deploy", "Deploy", ()),
    ("bank.example.com", "v2", "events", "event", "Event", ("ev", "cheque")),
    ("bank.example.com", "v1", "events", "event", "Event", ("ev",)),
    ("apps.example.com", "v1", "deployments", "deployment", "Deployment", ()),
    ("shop.example.com", "v1", "carts", "trolley", "Basket", ()),
    ("policy.example.com", "v1", "svc", "svc", "Svc", ("no",)),
)
QUALIFIED = (
    "deployments.apps",
    "deployments.v1.apps",
    "deployments.v2.apps",
    "carts.example.com",
    "carts.sh",
    "deployments.app",
    "deploy.apps.example",
    "deploy.extensions",
    "events.events.k8s.io",
    "ev.events",
    "events.v1.",
    "events.bank.example.com",
    "events.v1.bank.example.com",
    "events.v2.bank",
    "pods.shop.example.com",
    "po.shop",
    "po.v9.",
    "ev.v1.bank.example.com",
    "ev.v9.bank.example.com",
    "deploy.v1.apps",
    "deploy.v1",
    "Pod.v1.shop.example.com",
    "Deployment.Apps",
    "carts",
    "trolley",
    "Basket",
    "basket.shop",
    "nothing",
    "nothing.apps",
    "",
    "apps",
    "pods.v1",
)


def cases() -> Iterator[Case]:
    """Every word of the recorded server's list, and words of a list with rivals."""
    recorded = [_described(*row) for row in _recorded()]
    own = [*recorded[:20], *(_described(*row) for row in OWN), *recorded[20:]]
    for group, resources in (("the recorded list", recorded), ("with rivals", own)):
        words: dict[str, None] = {}
        for one in resources:
            for word in (one["resource"], one["singular"], one["kind"]):
                words[word] = None
            words.update(dict.fromkeys(one["shortNames"]))
        chosen = list(words)[:: 3 if group == "with rivals" else 1]
        for word in dict.fromkeys((*chosen, *QUALIFIED, "po", "DEPLOY", "svc", "no")):
            yield _case(group, resources, word)


Row = tuple[str, str, str, str, str, tuple[str, ...]]


def _recorded() -> Iterator[Row]:
    """The resources of the recorded cluster's discovery, in its order."""
    for exchange in open_recording().exchanges("discovery"):
        answer = exchange.response
        if isinstance(answer, dict) and answer.get("kind") == "APIResourceList":
            group, _, version = answer["groupVersion"].rpartition("/")
            for row in answer["resources"]:
                if "/" not in row["name"]:
                    kind = row["kind"]
                    singular = row.get("singularName") or kind.lower()
                    short = tuple(row.get("shortNames") or ())
                    yield group, version, row["name"], singular, kind, short


def _described(*row: Any) -> Object:
    group, version, plural, singular, kind, short_names = row
    return {
        "group": group,
        "version": version,
        "resource": plural,
        "singular": singular,
        "kind": kind,
        "shortNames": list(short_names),
    }


def _case(group: str, resources: list[Object], word: str) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(resources, word)  # noqa: E731
    expected = _ours(resources, word)
    return Case(group, word or "no word", expected, ask, resources, word)


def _ours(resources: list[Object], word: str) -> str | None:
    mapper = RESTMapper(
        Resource(
            group=one["group"],
            version=one["version"],
            plural=one["resource"],
            kind=one["kind"],
            singular=one["singular"],
            namespaced=True,
            verbs=(),
            short_names=tuple(one["shortNames"]),
            categories=(),
        )
        for one in resources
    )
    try:
        found = mapper.resource_for(word)
    except NoMatchError:
        return None
    return f"{found.group}/{found.version}/{found.plural}"


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "resource-words",
    "What a word means",
    CONTRACT,
    STARTER,
    "the book's own, on the recorded server's list",
    cases,
    ours,
    ("discovery", "groups-versions-and-discovery", "rest-mapper"),
)
