"""How many pods of each kind there are on a node.

Whoever spreads pods asks every node how many of a kind it has, and asks again for each
pod. To count them anew is to look at all pods of the node each time. So the numbers are
kept, by namespace and labels, which is all that a selector looks at; and since most
selectors insist on a label (`app=nginx`), kinds are found by each label that they have.

Pods on their way out are not counted.

Upstream: `pkg/scheduler/framework/plugins/podtopologyspread/common.go`
(`countPodsMatchSelector`), v1.36, which does look at all pods.
"""

from __future__ import annotations

from typing import TypeAlias

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector

Label = tuple[str, str]
Labels: TypeAlias = "tuple[Label, ...]"


class KindsOfPods:
    """The numbers. What a copy shares with its original is replaced, never changed."""

    __slots__ = ("_filed",)

    def __init__(self) -> None:
        self._filed: dict[tuple[str, Label | None], dict[Labels, int]] = {}
        """By namespace and label: the kinds that have it; under None all of them."""

    def count(self, pod: Object, sign: int) -> None:
        """One more of the pod's kind, or one less."""
        metadata = pod["metadata"]
        if metadata.get("deletionTimestamp"):
            return
        labels = tuple(sorted((metadata.get("labels") or {}).items()))
        for label in (None, *labels):
            drawer = (metadata["namespace"], label)
            numbers = dict(self._filed.get(drawer, {}))
            numbers[labels] = numbers.get(labels, 0) + sign
            if not numbers[labels]:
                del numbers[labels]
            if numbers:
                self._filed[drawer] = numbers
            else:
                del self._filed[drawer]

    def number(self, selector: Selector, namespace: str) -> int:
        """How many of a namespace are selected. Nothing to select counts as none."""
        if selector.empty:
            return 0
        kinds = self._filed.get((namespace, selector.label))
        if kinds is None:
            return 0
        matches = selector.matches
        return sum([n for labels, n in kinds.items() if matches(dict(labels))])

    def copy(self) -> KindsOfPods:
        """One whose numbers change on their own."""
        copy = KindsOfPods.__new__(KindsOfPods)
        copy._filed = dict(self._filed)
        return copy
