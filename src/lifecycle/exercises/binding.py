"""A binding: what becomes of the pod, or why not?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.pod.binding import assign_pod
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
bind(pod, binding, now) -> the pod with its node, or a text

pod:     a Pod as it is stored. now: the time, as text.
binding: a Binding: target.name is the node; its metadata may have a uid, labels and
        annotations.
Returns one of these words if the pod cannot be bound; the first that is true:
"another pod" (the binding has a uid, and the pod has another one), "deleted" (the pod
is being deleted), "taken" (it has a node, be it the same one), "gated" (it has
schedulingGates).
Otherwise returns the new pod: spec.nodeName is set; labels and annotations of the
binding are laid over the pod's own; status.nominatedNodeName is gone; and the condition
PodScheduled is {"type": "PodScheduled", "status": "True", "lastProbeTime": null,
"lastTransitionTime": now}. It stands where the one of that type stood, or comes last;
if that one was True already, its lastTransitionTime stays.
Everything else is as it was."""

STARTER = '''\
def bind(pod, binding, now):
    """The pod with its node."""
    if pod["spec"].get("nodeName"):
        return "taken"
    return {**pod, "spec": {**pod["spec"], "nodeName": binding["target"]["name"]}}
'''

NOW, THEN = "2026-01-01T00:00:10Z", "2026-01-01T00:00:00Z"
READY = {"type": "Ready", "status": "False", "lastTransitionTime": THEN}
SPECS: dict[str, Object] = {
    "waiting": {},
    "taken": {"nodeName": "other"},
    "taken by the same": {"nodeName": "one"},
    "gated": {"schedulingGates": [{"name": "example.com/hold"}]},
    "gated no more": {"schedulingGates": []},
    "taken and gated": {"nodeName": "other", "schedulingGates": [{"name": "x"}]},
}
STATUSES: dict[str, Object] = {
    "no status": {},
    "pending": {"phase": "Pending", "nominatedNodeName": "two"},
    "refused before": {
        "phase": "Pending",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/3 nodes are available",
                "lastProbeTime": None,
                "lastTransitionTime": THEN,
            },
            READY,
        ],
    },
    "another condition": {"conditions": [READY]},
    "True already": {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": THEN,
            },
            READY,
        ],
    },
}
METAS: dict[str, tuple[Object, Object]] = {
    "plain": ({}, {}),
    "the right uid": ({}, {"uid": "u-1"}),
    "another uid": ({}, {"uid": "u-2"}),
    "leaving": ({"deletionTimestamp": THEN}, {}),
    "leaving, another uid": ({"deletionTimestamp": THEN}, {"uid": "u-2"}),
    "labels": (
        {"labels": {"app": "nginx", "zone": "?"}, "annotations": {"by": "ann"}},
        {"labels": {"zone": "a"}, "annotations": {"node": "one"}},
    ),
    "the first labels": ({}, {"labels": {"zone": "a"}, "annotations": {}}),
}


def cases() -> Iterator[Case]:
    """Pods in every state, and bindings of every kind."""
    for (kind, spec), (status_name, status), (meta_name, metas) in product(
        SPECS.items(), STATUSES.items(), METAS.items()
    ):
        about, told = metas
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "nginx", "namespace": "shop", "uid": "u-1", **about},
            "spec": {"containers": [{"name": "nginx", "image": "nginx"}], **spec},
            "status": status,
        }
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "nginx", **told},
            "target": {"kind": "Node", "name": "one"},
        }
        yield _case(kind, f"{status_name}, {meta_name}", pod, binding)


def _case(group: str, label: str, pod: Object, binding: Object) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(pod, binding, NOW)  # noqa: E731
    question = {"pod": pod, "binding": binding, "now": NOW}
    return Case(group, label, _ours(pod, binding, NOW), ask, question)


REFUSALS = {
    "Precondition failed": "another pod",
    "is being deleted": "deleted",
    "already assigned": "taken",
    "non-empty .spec.schedulingGates": "gated",
}


def _ours(pod: Object, binding: Object, now: str) -> Object | str:
    scope = RequestScope(resource("pods"), "shop", pod["metadata"]["name"])
    try:
        return assign_pod(pod, binding, scope, now)
    except StatusError as error:
        return next(word for part, word in REFUSALS.items() if part in error.message)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "binding",
    "A binding",
    CONTRACT,
    STARTER,
    "the book's own, which answers the recorded bindings as the real server did",
    cases,
    ours,
    ("bind",),
)
