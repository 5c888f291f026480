"""How far every pod of a node is: what its worker keeps, and the questions that others
ask of it.

The status manager must know whether a pod may still run before it makes its end public,
the transactions which other pods there are; and the workers drive both. So the table is
an object of its own, made before any of them.

Upstream: `pkg/kubelet/pod_workers.go` (`podSyncStatus`, `podWorkers.podSyncStatuses`),
`pkg/kubelet/status/status_manager.go` (`PodDeletionSafetyProvider`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum

from lifecycle.api.http.wire import Object


class State(Enum):
    """Where a pod is on its way."""

    SYNC = "sync"
    TERMINATING = "terminating"
    TERMINATED = "terminated"


class PodSyncStatus:
    """One pod's worker. `forgotten`: its source knows it no more."""

    __slots__ = (
        "deadline_timer",
        "ended",
        "finished",
        "forgotten",
        "grace_period",
        "late_news",
        "pending",
        "pod",
        "retry_timer",
        "started",
        "state",
        "status_fn",
        "stopping",
        "task",
        "update",
    )

    def __init__(self, pod: Object) -> None:
        self.pod = pod
        self.state = State.SYNC
        self.pending = False
        self.finished = False
        self.grace_period: float | None = None
        self.task: asyncio.Task[None] | None = None
        self.retry_timer: asyncio.TimerHandle | None = None
        self.deadline_timer: asyncio.TimerHandle | None = None
        self.stopping: asyncio.Task[Object | None] | None = None
        self.ended: asyncio.Future[None] | None = None
        self.started: dict[str, float] = {}
        self.late_news = False
        self.update: tuple[str, float] | None = None
        """Who asked first for the next transaction, and when, on the loop's clock."""
        self.forgotten = False
        self.status_fn: Callable[[Object], Object] | None = None

    def cancel_timers(self) -> None:
        """Nothing more on its own."""
        for timer in (self.retry_timer, self.deadline_timer):
            if timer is not None:
                timer.cancel()
        self.retry_timer = self.deadline_timer = None


class PodSyncStatuses:
    """The table, by pod uid."""

    def __init__(self) -> None:
        self._pods: dict[str, PodSyncStatus] = {}

    def get(self, uid: str) -> PodSyncStatus | None:
        """A pod's worker, if it has one."""
        return self._pods.get(uid)

    def pod_by_uid(self, uid: str) -> Object | None:
        """A pod as its source knows it now; None without a worker."""
        status = self._pods.get(uid)
        return None if status is None else status.pod

    def get_or_add(self, pod: Object) -> PodSyncStatus:
        """A pod's worker, new if it has none. It knows the pod as it is now."""
        status = self._pods.setdefault(pod["metadata"]["uid"], PodSyncStatus(pod))
        status.pod = pod
        return status

    def note(self, pod: Object) -> None:
        """How the API server knows it by now: the next look at it starts from there."""
        status = self._pods.get(pod["metadata"]["uid"])
        if status is not None:
            status.pod = pod

    def remove(self, uid: str) -> PodSyncStatus | None:
        """Take a worker out of the table."""
        return self._pods.pop(uid, None)

    def all(self) -> list[PodSyncStatus]:
        """Every worker."""
        return list(self._pods.values())

    def known(self, uid: str) -> bool:
        """Whether there is a worker."""
        return uid in self._pods

    def could_have_running_containers(self, uid: str) -> bool:
        """True until the pod is known to have ended."""
        status = self._pods.get(uid)
        return status is not None and status.state is not State.TERMINATED

    def is_terminated(self, uid: str) -> bool:
        """Whether nothing of the pod runs any more."""
        return not self.could_have_running_containers(uid)

    def active_pods(self) -> list[Object]:
        """The pods that have not ended."""
        return [
            status.pod
            for status in self._pods.values()
            if status.state is not State.TERMINATED
        ]

    def counted_pods(self) -> list[Object]:
        """Those of them that count when another wants to be admitted: what its source
        has forgotten holds no room, even while it is being stopped.

        Upstream: `Kubelet.GetActivePods`, which begins with the pod manager's.
        """
        return [
            status.pod
            for status in self._pods.values()
            if status.state is not State.TERMINATED and not status.forgotten
        ]

    def all_pods(self) -> list[Object]:
        """Every pod that has a worker, also those that have ended."""
        return [status.pod for status in self._pods.values()]
