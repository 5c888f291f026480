"""The same question, asked ten thousand times: answers kept per kind of pod.

The pods of a Deployment differ in their names and nothing else. For each but the first,
every node that did not change since the one before gives the same answers. Here they
are kept, by the pod's signature (see `equivalence.py`), from its second pod on: the
first looks at no more nodes than it needs, and may be the only one of its kind.

Some pods cannot be told apart by signature. They, and a pod that a node is kept for,
take the plain path in `schedule_pod.py`, and so does every pod of a profile with a
plugin that has no adapter. The two give the same answer, scores and all, which the
tests check.

Upstream has the same idea since v1.35: `pkg/scheduler/framework/runtime/batch.go`
(`OpportunisticBatch`) reuses the sorted nodes of the pod before, if its signature
(`SignPod`) is the same and the node it got is full now. Ours is bolder (any number of
pods, any order), because Python is slower.
"""

from __future__ import annotations

from collections.abc import Hashable

from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.batch.adapters import ADAPTERS
from lifecycle.scheduler.batch.equivalence import Equivalence
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.steps import Steps

MAX_SIGNATURES = 64
"""Kinds of pods remembered; the one used longest ago goes first."""


class OpportunisticBatch:
    """The equivalences in use, by signature."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._equivalences: dict[Hashable, Equivalence | None] = {}
        """None: seen once."""
        deciding = dict.fromkeys(
            (
                *framework.pre_filter_plugins,
                *framework.filter_plugins,
                *framework.pre_score_plugins,
                *framework.score_plugins,
            )
        )
        self.possible = all(type(plugin) in ADAPTERS for plugin in deciding)
        """Whether every plugin that decides has an adapter."""
        shared = {ADAPTERS[type(p)]: p for p in deciding} if self.possible else {}
        self._signers = list(shared.items())
        """Each adapter once: several plugins may look at the same part of a pod."""

    def sign_pod(self, info: PodInfo, snapshot: Snapshot) -> Hashable | None:
        """The pod's signature; None if its answers cannot be shared."""
        parts: list[Hashable] = []
        for adapter, plugin in self._signers:
            part = adapter.sign_pod(plugin, info, snapshot)
            if part is None:
                return None
            parts.append(part)
        return tuple(parts)

    def get(self, info: PodInfo, snapshot: Snapshot) -> Steps[Equivalence | None]:
        """The pod's equivalence, up to date with the snapshot; None: take the plain
        path. One that is left in the middle is forgotten.
        """
        if not self.possible:
            return None
        signature = self.sign_pod(info, snapshot)
        if signature is None:
            return None
        seen = signature in self._equivalences
        equivalence = self._equivalences.pop(signature, None)
        if equivalence is not None and equivalence.holds(snapshot):
            if equivalence.possible:
                yield from equivalence.catch_up(info, snapshot)
        elif seen:
            equivalence = Equivalence(self._framework, info, snapshot, signature)
            yield from equivalence.evaluate(info, snapshot)
        self._equivalences[signature] = equivalence
        if len(self._equivalences) > MAX_SIGNATURES:
            del self._equivalences[next(iter(self._equivalences))]
        if equivalence is None or not equivalence.possible:
            return None
        return equivalence
