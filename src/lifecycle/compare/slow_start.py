"""Whether a ReplicaSet's pods were asked for in batches of 1, 2, 4 …

Each batch waits for the answers of the one before, so that a request which cannot
succeed is not made a hundred times. A watch cannot tell: it sees pods come one by one.
The API server's audit log can. In the order of its lines, no pod of a batch is asked
for before all of the earlier ones have been answered. How many pods a burst has, the
watch says: by how much the ReplicaSet was raised.

Upstream: `pkg/controller/replicaset/replica_set.go` (`slowStartBatch`), v1.36.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CONTROLLER = ":replicaset-controller"
_RECEIVED, _COMPLETE = "RequestReceived", "ResponseComplete"


@dataclass(slots=True)
class SlowStart:
    """One cluster's creations of pods, held to the rule."""

    checks: int = 0
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, lines: Iterable[Mapping[str, Any]], raised: Mapping[str, Sequence[int]]
    ) -> SlowStart:
        """Read the audit log. `raised`: by how much each ReplicaSet was, each time."""
        ordered = sorted(lines, key=lambda line: str(line["stageTimestamp"]))
        owners = {
            line["auditID"]: owner
            for line in ordered
            if line["stage"] == _COMPLETE
            and _creates_a_pod(line)
            and (owner := _owner(line))
        }
        asked: dict[str, list[str]] = defaultdict(list)
        answered: set[str] = set()
        held = cls()
        for line in ordered:
            audit_id = line["auditID"]
            if line["stage"] == _COMPLETE:
                answered.add(audit_id)
            elif line["stage"] == _RECEIVED and audit_id in owners:
                mine = asked[owners[audit_id]]
                begins = _batch_of(len(mine), raised.get(owners[audit_id], ()))
                before = set(mine[:begins])
                held._hold(before <= answered, owners[audit_id], len(mine) + 1)
                mine.append(audit_id)
        return held

    def _hold(self, condition: bool, name: str, number: int) -> None:
        self.checks += 1
        if not condition:
            self.complaints.append(
                f"ReplicaSet {name}: pod {number} was asked for before the batch before"
                " was answered"
            )


def _creates_a_pod(line: Mapping[str, Any]) -> bool:
    about = line.get("objectRef") or {}
    return (
        line["verb"] == "create"
        and about.get("resource") == "pods"
        and not about.get("subresource")
        and line["user"]["username"].endswith(CONTROLLER)
    )


def _owner(line: Mapping[str, Any]) -> str:
    """Whose pod it is; empty for a refusal that does not repeat what was asked."""
    metadata = (line.get("requestObject") or {}).get("metadata") or {}
    references = metadata.get("ownerReferences") or [{"name": ""}]
    return str(references[0]["name"])


def _batch_of(number: int, raised: Sequence[int]) -> int:
    """Where the batch of a ReplicaSet's pod begins; pods are numbered from 0. One that
    no raise asked for stands in for one that is gone.
    """
    begins = 0
    for burst in raised:
        size, left = 1, burst
        while left > 0:
            size = min(size, left)
            if number < begins + size:
                return begins
            begins, left, size = begins + size, left - size, size * 2
    return number
