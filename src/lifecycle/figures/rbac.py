"""RBAC's objects and how they join: subjects, the bindings that name them, the roles
that the bindings refer to.

Drawn from the objects themselves. What lives in one namespace has one colour and what
holds for the whole cluster another, so that the four kinds can be told apart: a binding
decides *where* a role is good, whatever the role's own kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.figure import Figure

from lifecycle.api.http.wire import Object
from lifecycle.figures.columns import Box, draw_columns

SUBJECT, NAMESPACED, CLUSTER_WIDE, MISSING = "#5c6470", "#2a7f62", "#3d6fa8", "#b5441c"
HEADINGS = ("who", "gets", "what")


def draw_rbac(objects: Iterable[Object], *, width: float = 7.0) -> Figure:
    """Roles and bindings, of any of the four kinds, in the order in which they are
    given. A role that a binding names and that is not there is drawn as missing.
    """
    everything = list(objects)
    roles = {_place(each): _role(each) for each in everything if "rules" in each}
    subjects: dict[Box, None] = {}
    bindings: dict[Box, None] = {}
    arrows: list[tuple[Box, Box]] = []
    for each in everything:
        if "roleRef" not in each:
            continue
        namespace = each["metadata"].get("namespace", "")
        binding = Box(
            each["kind"],
            (each["metadata"]["name"], _scope(namespace)),
            NAMESPACED if namespace else CLUSTER_WIDE,
        )
        bindings[binding] = None
        for subject in each.get("subjects") or ():
            box = Box(subject["kind"], (_name(subject),), SUBJECT)
            subjects[box] = None
            arrows.append((box, binding))
        kind, name = each["roleRef"]["kind"], each["roleRef"]["name"]
        place = kind, namespace if kind == "Role" else "", name
        missing = Box(kind, (name, "is not there"), MISSING)
        arrows.append((binding, roles.setdefault(place, missing)))
    return draw_columns(
        HEADINGS,
        (list(subjects), list(bindings), list(roles.values())),
        arrows,
        width=width,
    )


def _place(role: Object) -> tuple[str, str, str]:
    meta = role["metadata"]
    return role["kind"], meta.get("namespace", ""), meta["name"]


def _role(role: Object) -> Box:
    namespace = role["metadata"].get("namespace", "")
    return Box(
        role["kind"],
        (role["metadata"]["name"], *map(_rule, role["rules"] or ())),
        NAMESPACED if namespace else CLUSTER_WIDE,
    )


def _rule(rule: Object) -> str:
    things = rule.get("resources") or rule.get("nonResourceURLs") or ()
    return f"{', '.join(rule['verbs'])}: {', '.join(things)}"


def _name(subject: Object) -> str:
    namespace = subject.get("namespace")
    return f"{namespace}:{subject['name']}" if namespace else str(subject["name"])


def _scope(namespace: str) -> str:
    return f"in {namespace}" if namespace else "everywhere"
