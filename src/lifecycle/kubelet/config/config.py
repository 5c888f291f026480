"""Which pods a node is to run: several sources, merged into one stream of changes.

Each source says what it knows: the API server's watch, a directory of manifests, a URL.
The pod configuration keeps what it heard, compares, and sends on only what a handler
has to do something about, as one of five operations: ADD, UPDATE, DELETE (it is to end,
gracefully), REMOVE (it is gone), RECONCILE (only its status is not what it was: as a
rule the echo of what the kubelet itself reported).

Upstream: `pkg/kubelet/config/config.go` (`PodConfig`, `podStorage.merge`,
`checkAndUpdatePod`, `podsDifferSemantically`), v1.36. Upstream's API source hands over
the whole list at each change; ours hands over the one pod that changed (`changed`,
`removed`), which comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.types.pod_update import (
    LOCAL_ANNOTATIONS,
    PodOperation,
    PodUpdate,
)
from lifecycle.kubelet.types.update_channel import UpdateChannel


def pods_differ_semantically(known: Object, pod: Object) -> bool:
    """Whether a change is one of what is wanted, not only of what is reported."""
    old, new = known["metadata"], pod["metadata"]
    same_generation = old.get("generation") is not None and old.get(
        "generation"
    ) == new.get("generation")
    if not same_generation and known["spec"] != pod["spec"]:
        return True
    if (old.get("labels") or {}) != (new.get("labels") or {}):
        return True
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if old.get(key) != new.get(key):
            return True
    left, right = old.get("annotations") or {}, new.get("annotations") or {}
    return left is not right and any(
        left.get(key) != right.get(key) for key in {*left, *right} - LOCAL_ANNOTATIONS
    )


def operation_for(known: Object | None, pod: Object) -> PodOperation | None:
    """What a pod, as a source now says it is, calls for. None: nothing."""
    if known is None:
        return PodOperation.ADD
    if not pods_differ_semantically(known, pod):
        return (
            PodOperation.RECONCILE
            if (known.get("status") or {}) != (pod.get("status") or {})
            else None
        )
    return (
        PodOperation.DELETE
        if pod["metadata"].get("deletionTimestamp")
        else PodOperation.UPDATE
    )


class PodConfig:
    """What each source said last, and the stream of what changed. `updates` is to be
    received from.
    """

    def __init__(self) -> None:
        self.updates: UpdateChannel[PodUpdate] = UpdateChannel()
        self._pods: dict[str, dict[str, Object]] = {}
        self._seen: set[str] = set()

    def merge(
        self, source: str, pods: Iterable[Object]
    ) -> dict[PodOperation, list[Object]]:
        """A source's whole list. Returns, and sends, what changed, by operation,
        removals first.
        """
        self._seen.add(source)
        known = self._pods.setdefault(source, {})
        changes: dict[PodOperation, list[Object]] = {op: [] for op in PodOperation}
        listed: dict[str, Object] = {}
        for pod in pods:
            uid = pod["metadata"]["uid"]
            listed[uid] = pod
            op = operation_for(known.get(uid), pod)
            if op is not None:
                changes[op].append(pod)
        changes[PodOperation.REMOVE] = [
            pod for uid, pod in known.items() if uid not in listed
        ]
        self._pods[source] = listed
        for op in (
            PodOperation.REMOVE,
            PodOperation.ADD,
            PodOperation.UPDATE,
            PodOperation.DELETE,
            PodOperation.RECONCILE,
        ):
            if changes[op]:
                self.updates.send(PodUpdate(op, tuple(changes[op]), source))
        return changes

    def changed(self, source: str, pod: Object) -> PodOperation | None:
        """One pod is new or different."""
        known = self._pods.setdefault(source, {})
        uid = pod["metadata"]["uid"]
        op = operation_for(known.get(uid), pod)
        known[uid] = pod
        if op is not None:
            self.updates.send(PodUpdate(op, (pod,), source))
        return op

    def removed(self, source: str, pod: Object) -> None:
        """One pod is gone."""
        known = self._pods.setdefault(source, {}).pop(pod["metadata"]["uid"], None)
        if known is not None:
            self.updates.send(PodUpdate(PodOperation.REMOVE, (pod,), source))

    def seen_all_sources(self, sources: Iterable[str]) -> bool:
        """Whether each has spoken at least once: only then does "nobody knows this pod"
        mean anything.
        """
        return set(sources) <= self._seen
