"""What of a source's list of pods is news?"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.types.pod_update import PodOperation

CONTRACT = """\
Source(): a class: what the API server, or a directory of manifests, says about pods.

merge(pods) -> {operation: [uid, …]}, what has to be done about this list, compared with
        the one before; only operations that are called for, uids in the list's order.

"ADD"       nobody knew the pod.
"REMOVE"    it is not in the list any more. (In the order of the list before.)
"DELETE"    it has changed, and has a deletionTimestamp.
"UPDATE"    something that is wanted has changed: the spec, the labels, the annotations,
            deletionTimestamp or deletionGracePeriodSeconds. Annotations that begin with
            "kubernetes.io/config." and end with "source", "mirror" or "seen" are the
            kubelet's own notes, and no change.
"RECONCILE" only the status is another one."""

STARTER = '''\
class Source:
    """Compares lists of pods."""

    def __init__(self):
        self.known = set()

    def merge(self, pods):
        uids = [pod["metadata"]["uid"] for pod in pods]
        new = [uid for uid in uids if uid not in self.known]
        gone = [uid for uid in self.known if uid not in uids]
        self.known = set(uids)
        return {"ADD": new, "REMOVE": gone}
'''

SEEDS, LISTS = 8, 6
CHANGES = ("nothing", "status", "image", "label", "note", "seen", "delete", "grace")
MOODS: dict[str, tuple[str, ...]] = {
    "statuses": ("nothing", "status", "seen"),
    "wishes": ("nothing", "image", "label", "note"),
    "ends": ("nothing", "delete", "grace", "status"),
    "anything": CHANGES,
}


def cases() -> Iterator[Case]:
    """Lists, one after the other, in which pods come, change and go."""
    for mood, changes in MOODS.items():
        for seed in range(SEEDS):
            lists = list(_lists(Random(f"{mood} {seed}"), changes))
            yield Case(
                mood,
                f"source {seed}",
                _seen(_Ours, lists),
                lambda attempt, lists=lists: _seen(attempt, lists),  # type: ignore[misc]
                lists,
            )


def _lists(dice: Random, changes: tuple[str, ...]) -> Iterator[list[Object]]:
    there: list[Object] = []
    number = 0
    for _ in range(LISTS):
        there = [pod for pod in there if dice.random() < 0.85]
        there = [_changed(dice, deepcopy(pod), changes) for pod in there]
        for _ in range(dice.randrange(3)):
            number += 1
            meta: Object = {"uid": f"nginx-{number}", "labels": {"app": "nginx"}}
            spec = {"containers": [{"name": "nginx", "image": "nginx:1.27"}]}
            pod = {"metadata": meta, "spec": spec, "status": {"phase": "Pending"}}
            there.insert(dice.randint(0, len(there)), pod)
        yield there


def _changed(dice: Random, pod: Object, changes: tuple[str, ...]) -> Object:
    meta = pod["metadata"]
    match dice.choice(changes):
        case "status":
            pod["status"]["phase"] = dice.choice(("Pending", "Running"))
        case "image":
            pod["spec"]["containers"][0]["image"] = f"nginx:1.{dice.randint(27, 29)}"
        case "label":
            meta["labels"] = {**meta["labels"], "tier": dice.choice("ab")}
        case "note":
            notes = meta.get("annotations") or {}
            meta["annotations"] = {**notes, "example.com/owner": dice.choice("ab")}
        case "seen":
            notes = meta.get("annotations") or {}
            time = {"kubernetes.io/config.seen": f"{dice.randint(1, 9)}"}
            meta["annotations"] = {**notes, **time}
        case "delete":
            meta.setdefault("deletionTimestamp", "2026-07-01T00:00:00Z")
            meta.setdefault("deletionGracePeriodSeconds", 30)
        case "grace" if "deletionTimestamp" in meta:
            meta["deletionGracePeriodSeconds"] = dice.choice((0, 5, 30))
    return pod


def _seen(make: Attempt, lists: list[list[Object]]) -> list[Any]:
    source: Any = make()
    return [
        {
            operation: uids
            for operation, uids in source.merge(deepcopy(pods)).items()
            if uids
        }
        for pods in lists
    ]


class _Ours:
    """The book's pod configuration, with one source."""

    def __init__(self) -> None:
        self._config = PodConfig()

    def merge(self, pods: list[Object]) -> dict[str, list[str]]:
        """A whole list."""
        changes = self._config.merge("api", pods)
        return {
            operation.value: [pod["metadata"]["uid"] for pod in changes[operation]]
            for operation in PodOperation
        }


def ours() -> Attempt:
    """The book's."""
    return _Ours


EXERCISE = Exercise(
    "pod-news",
    "What of a list of pods is news",
    CONTRACT,
    STARTER,
    "the book's own kubelet",
    cases,
    ours,
    ("pod-sync", "pod-sources"),
)
