"""What a pod's status says of a resize: two conditions that are there only while there
is something to say.

`PodResizePending`: what the spec wishes for is not promised, and why.
`PodResizeInProgress`:
it is promised, and the containers do not have it yet.

Upstream: `pkg/kubelet/status/status_manager.go` (`podResizeConditions`,
`SetPodResizePendingCondition`, `SetPodResizeInProgressCondition`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.conditions import find_status_condition
from lifecycle.api.http.wire import Object

PENDING, IN_PROGRESS = "PodResizePending", "PodResizeInProgress"
DEFERRED, INFEASIBLE, ERROR = "Deferred", "Infeasible", "Error"


class PodResizeConditions:
    """By pod uid. Times are left to the status manager."""

    def __init__(self) -> None:
        self._conditions: dict[str, dict[str, Object]] = {}

    def of(self, uid: str) -> list[Object]:
        """Both, as far as they are there."""
        conditions = self._conditions.get(uid) or {}
        return [
            dict(conditions[kind])
            for kind in (PENDING, IN_PROGRESS)
            if kind in conditions
        ]

    def is_deferred(self, uid: str) -> bool:
        """Whether it waits for room."""
        pending = self._conditions.get(uid, {}).get(PENDING) or {}
        return pending.get("reason") == DEFERRED

    def is_in_progress(self, uid: str) -> bool:
        """Whether containers are still to be given what was promised."""
        return IN_PROGRESS in self._conditions.get(uid, {})

    def pending_since(self, pod: Object) -> str:
        """When it began to wait, as its status tells; empty if it does not."""
        conditions = (pod.get("status") or {}).get("conditions")
        pending = find_status_condition(conditions, PENDING) or {}
        return str(pending.get("lastTransitionTime") or "")

    def set_pending(self, uid: str, generation: int, reason: str, message: str) -> bool:
        """Whether that is new: another wish, or another reason. That others have more
        or less by now is noted, and not spoken of.
        """
        before = (self._conditions.get(uid) or {}).get(PENDING) or {}
        self._set(uid, PENDING, generation, reason, message)
        known = before.get("reason"), before.get("observedGeneration")
        return known != (reason, generation or None)

    def set_in_progress(
        self, uid: str, generation: int, reason: str = "", message: str = ""
    ) -> bool:
        """Whether that is new. With `Error` and a message: it does not go well."""
        return self._set(uid, IN_PROGRESS, generation, reason, message)

    def _set(
        self, uid: str, kind: str, generation: int, reason: str, message: str
    ) -> bool:
        condition: Object = {"type": kind, "status": "True"}
        if reason:
            condition["reason"] = reason
        if message:
            condition["message"] = message
        if generation:
            condition["observedGeneration"] = generation
        conditions = self._conditions.setdefault(uid, {})
        if conditions.get(kind) == condition:
            return False
        conditions[kind] = condition
        return True

    def clear_pending(self, uid: str) -> None:
        """There is no other wish than what was promised."""
        self._clear(uid, PENDING)

    def clear_in_progress(self, uid: str) -> int | None:
        """The containers have it. The generation that it was the wish of; None if none
        was in progress.
        """
        condition = self._clear(uid, IN_PROGRESS)
        return (
            None if condition is None else int(condition.get("observedGeneration", 0))
        )

    def _clear(self, uid: str, kind: str) -> Object | None:
        conditions = self._conditions.get(uid)
        if conditions is None:
            return None
        condition = conditions.pop(kind, None)
        if not conditions:
            del self._conditions[uid]
        return condition

    def remove(self, uid: str) -> None:
        """The pod is gone."""
        self._conditions.pop(uid, None)
