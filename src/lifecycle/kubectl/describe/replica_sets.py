"""The ReplicaSets of a Deployment: the one that has its template, and those from
before.

Upstream: `kubectl/pkg/util/deployment/deployment.go` (`GetAllReplicaSetsInChunks`,
`findNewReplicaSet`, `findOldReplicaSets`, `equalIgnoreHash`),
`kubectl/pkg/describe/describe.go` (`printReplicaSetsByLabels`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.writer import PrefixWriter

HASH_LABEL = "pod-template-hash"


@dataclass(slots=True, frozen=True)
class ReplicaSets:
    """A Deployment's, `old` ones from the oldest on; `new` has one or none."""

    old: Sequence[Object] = ()
    new: Sequence[Object] = ()

    def write(self, w: PrefixWriter) -> None:
        """Both in a line each, if there are any at all."""
        if self.old or self.new:
            w.field(0, "OldReplicaSets", _in_words(self.old))
            w.field(0, "NewReplicaSet", _in_words(self.new))


def _in_words(replica_sets: Sequence[Object]) -> str:
    return ", ".join(map(_counted, replica_sets)) or "<none>"


def _counted(replica_set: Object) -> str:
    made = (replica_set.get("status") or {}).get("replicas", 0)
    name, all_of_them = replica_set["metadata"]["name"], replica_set["spec"]["replicas"]
    return f"{name} ({made}/{all_of_them} replicas created)"


async def replica_sets_of(client: Clientset, deployment: Object) -> ReplicaSets:
    """The ReplicaSets that a Deployment controls; none if they cannot be listed."""
    meta = deployment["metadata"]
    selector = selector_from_label_selector(deployment["spec"]["selector"])
    try:
        listed = await client.list_all(
            "replicasets.apps", meta["namespace"], {"labelSelector": str(selector)}
        )
    except StatusError:
        return ReplicaSets()
    owned = [
        each
        for each in listed
        if any(
            ref.get("controller") and ref["uid"] == meta["uid"]
            for ref in each["metadata"].get("ownerReferences") or ()
        )
    ]
    owned.sort(
        key=lambda each: (
            each["metadata"].get("creationTimestamp") or "",
            each["metadata"]["name"],
        )
    )
    template = _without_hash(deployment["spec"]["template"])
    new = next(
        (each for each in owned if _without_hash(each["spec"]["template"]) == template),
        None,
    )
    if new is None:
        return ReplicaSets(owned)
    return ReplicaSets([each for each in owned if each is not new], [new])


def _without_hash(template: Object) -> Object:
    """A template as its author wrote it."""
    meta = template.get("metadata") or {}
    labels = {
        key: value
        for key, value in (meta.get("labels") or {}).items()
        if key != HASH_LABEL
    }
    rest = {k: v for k, v in meta.items() if k not in ("labels", "creationTimestamp")}
    return {"labels": labels, "rest": rest, "spec": template.get("spec")}
