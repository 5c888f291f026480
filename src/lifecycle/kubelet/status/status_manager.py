"""The status manager: what the kubelet last said about each pod, and telling the API
server.

`set_pod_status` only remembers. A task per pod with news then reads the pod (it may
have been replaced by a namesake: the uid tells) and patches what changed; news that
come in meanwhile go into the next patch. That is why a pod that starts fast enough goes
from Pending to Running with nothing in between.

The manager also keeps the promises that every status keeps: a condition's
`lastTransitionTime` moves only with its status, the start time never moves, a pod does
not leave a terminal phase, and it does not *enter* one while containers may still be
running. A static pod's status goes to its mirror.

Upstream: `pkg/kubelet/status/status_manager.go` (`updateStatusInternal`, `syncPod`,
`mergePodStatus`), v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import Protocol

from lifecycle.api.conditions import (
    find_status_condition,
    last_transition_time,
    replace_or_append_condition,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.client.rest import REQUEST_ERRORS, STRATEGIC_MERGE_PATCH, Client
from lifecycle.kubelet.pod.pod_manager import PodManager
from lifecycle.kubelet.status.container_fields import (
    with_container_field,
)
from lifecycle.kubelet.status.generate import (
    DISRUPTION_TARGET,
    KUBELET_CONDITIONS,
)
from lifecycle.kubelet.status.normalize_status import (
    normalize_status,
)
from lifecycle.kubelet.status.status_patch import status_patch
from lifecycle.kubelet.status.terminal_status import (
    terminal_status,
)
from lifecycle.kubelet.types.pod_update import is_static_pod

log = logging.getLogger(__name__)

RETRY_PERIOD = 10.0
"""Seconds until a patch that failed is tried again, unless there are news before
(upstream's `syncPeriod`).
"""


class _Versioned:
    """A pod's newest status, and how far the API server knows it."""

    __slots__ = (
        "finished",
        "news",
        "pod",
        "reconciling",
        "seen",
        "sent",
        "status",
        "task",
        "version",
    )

    def __init__(self, pod: Object, status: Object) -> None:
        self.pod = pod
        self.status = status
        self.version = 0
        self.sent = -1
        self.finished = False
        self.news: asyncio.Event | None = None
        """What a task waits for whose patch has failed."""
        self.task: asyncio.Task[None] | None = None
        self.seen = pod
        self.reconciling: asyncio.TimerHandle | None = None

    def forget(self) -> None:
        """No more of it."""
        for running in (self.task, self.reconciling):
            if running is not None:
                running.cancel()


def merge_pod_status(
    old: Object, new: Object, could_have_running_containers: bool
) -> Object:
    """The status to write: ours, with others' conditions kept, and no terminal phase
    too early. `DisruptionTarget` is everybody's: the kubelet says it in the moment in
    which it says that the pod has ended.
    """
    merged = dict(new)
    ending = is_pod_phase_terminal(new["phase"]) and not is_pod_phase_terminal(
        old.get("phase")
    )
    conditions = [
        c for c in old.get("conditions") or () if c["type"] not in KUBELET_CONDITIONS
    ]
    told = ending and not could_have_running_containers
    for each in new["conditions"]:
        if each["type"] in KUBELET_CONDITIONS:
            conditions.append(each)
        elif each["type"] == DISRUPTION_TARGET and told:
            conditions = replace_or_append_condition(conditions, each)
    merged["conditions"] = conditions
    if ending and could_have_running_containers:
        merged["phase"] = old.get("phase") or "Pending"
        for key in ("reason", "message"):
            if old.get(key):
                merged[key] = old[key]
            else:
                merged.pop(key, None)
    return merged


class PodDeletionSafetyProvider(Protocol):
    """Who knows whether a pod's end may be made public."""

    def could_have_running_containers(self, uid: str) -> bool:
        """True until the pod is known to have ended."""
        ...

    def is_terminated(self, uid: str) -> bool:
        """Whether nothing of the pod runs any more: it may be deleted."""
        ...


class StatusManager:
    """Statuses by pod uid. `pod_manager` knows the mirrors of static pods."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        pod_manager: PodManager,
        pod_deletion_safety: PodDeletionSafetyProvider,
    ) -> None:
        self._client = client
        self._clock = clock
        self._pod_manager = pod_manager
        self._pod_deletion_safety = pod_deletion_safety
        self._statuses: dict[str, _Versioned] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pods = resource("pods")

    def get_pod_status(self, uid: str) -> Object | None:
        """What was last said, or None."""
        known = self._statuses.get(uid)
        return known.status if known else None

    def set_pod_status(self, pod: Object, status: Object) -> None:
        """Say something about a pod; the API server hears of it soon."""
        uid = pod["metadata"]["uid"]
        known = self._statuses.get(uid)
        old = known.status if known is not None else pod.get("status") or {}
        status = self._complete(pod, old, status)
        if known is None:
            known = self._statuses[uid] = _Versioned(pod, status)
        elif known.status == status and not pod["metadata"].get("deletionTimestamp"):
            known.pod = pod
            return
        else:
            known.version += 1
        known.pod, known.status = pod, status
        self._wake(known)

    def set_container_readiness(self, uid: str, container_id: str, ready: bool) -> None:
        """A container is ready, or is so no more: also of a pod that is being ended,
        whose status nobody makes anew before its containers are gone.
        """
        self._set_container_field(uid, container_id, "ready", ready)

    def set_container_startup(self, uid: str, container_id: str, started: bool) -> None:
        """A container has started."""
        self._set_container_field(uid, container_id, "started", started)

    def _set_container_field(
        self, uid: str, container_id: str, field: str, value: bool
    ) -> None:
        known = self._statuses.get(uid)
        if known is not None:
            changed = with_container_field(
                known.pod, known.status, container_id, field, value
            )
            if changed is not known.status:
                self.set_pod_status(known.pod, changed)

    def mirror_changed(self, uid: str) -> None:
        """A static pod's mirror is new or different: it is to show the status, too."""
        known = self._statuses.get(uid)
        if known is not None:
            known.version += 1
            self._wake(known)

    def terminate_pod(self, pod: Object) -> None:
        """All is over: from now on the terminal phase may be shown, and a deleted pod
        may go.
        """
        uid = pod["metadata"]["uid"]
        known = self._statuses.get(uid)
        status = (
            known.status
            if known is not None
            else {"conditions": [], **(pod.get("status") or {})}
        )
        self.set_pod_status(pod, terminal_status(pod, status))
        known = self._statuses[uid]
        known.finished = True
        known.version += 1
        self._wake(known)

    def remove_orphaned_status(self, uid: str) -> None:
        """The pod is gone from the API server."""
        known = self._statuses.pop(uid, None)
        if known is not None:
            known.forget()

    def reconcile(self, pod: Object) -> None:
        """The API server shows a pod in another state. If somebody else has overwritten
        what was sent (the node lifecycle controller makes the pods of a silent node not
        ready), it is said again, after as long as a failed patch waits: most of what
        comes here is but the echo of our own. And a pod that ended before it was
        deleted is let go, if the API server could not do so itself: it writes that the
        pod is deleted and then deletes it, and in between it may lose its store.
        Upstream: `needsReconcile`, `needsUpdate`.
        """
        known = self._statuses.get(pod["metadata"]["uid"])
        if known is None or is_static_pod(pod):
            return
        known.seen = pod
        if known.reconciling is None and self._needs_reconcile(known):
            known.reconciling = asyncio.get_running_loop().call_later(
                RETRY_PERIOD, self._reconcile, known
            )

    def _needs_reconcile(self, known: _Versioned) -> bool:
        if self._can_be_deleted(known):
            return True
        if known.sent != known.version:  # it is about to be written anyway
            return False
        old = known.seen.get("status") or {}
        merged = merge_pod_status(old, known.status, self._may_run(known))
        return bool(status_patch(known.seen["metadata"]["uid"], old, merged))

    def _reconcile(self, known: _Versioned) -> None:
        known.reconciling = None
        if self._needs_reconcile(known):
            known.version += 1
            self._wake(known)

    def _may_run(self, known: _Versioned) -> bool:
        """Whether containers of it may run."""
        uid = known.pod["metadata"]["uid"]
        safety = self._pod_deletion_safety
        return not known.finished and safety.could_have_running_containers(uid)

    async def stop(self) -> None:
        """No more requests."""
        for known in self._statuses.values():
            known.forget()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- inside ------------------------------------------------------------------------

    def _complete(self, pod: Object, old: Object, status: Object) -> Object:
        """Times, and the generation each condition is about."""
        now = self._clock.timestamp()
        generation = pod["metadata"].get("generation")
        conditions = []
        for item in status["conditions"]:
            before = find_status_condition(old.get("conditions"), item["type"])
            complete = {
                **item,
                "lastProbeTime": None,
                "lastTransitionTime": last_transition_time(before, item["status"], now),
            }
            if generation:  # a resize is of the generation that wished for it
                complete.setdefault("observedGeneration", generation)
            conditions.append(complete)
        started = (
            old.get("startTime") or (pod.get("status") or {}).get("startTime") or now
        )
        return normalize_status(
            {**status, "conditions": conditions, "startTime": started}
        )

    def _wake(self, known: _Versioned) -> None:
        if known.news is not None:
            known.news.set()
        if known.task is None or known.task.done():
            name = f"status {known.pod['metadata']['name']}"
            known.task = task = asyncio.get_running_loop().create_task(
                self._sync(known), name=name
            )
            self._tasks.add(task)
            task.add_done_callback(partial(self._synced, known))

    def _synced(self, known: _Versioned, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if known.task is task:
            known.task = None

    async def _sync(self, known: _Versioned) -> None:
        while known.sent != known.version or self._can_be_deleted(known):
            version = known.version
            try:
                if not await self._sync_pod(known):
                    return
            except REQUEST_ERRORS as error:
                log.debug(
                    "status of %s not written: %s", known.pod["metadata"]["name"], error
                )
                if known.version == version:
                    await self._wait_for_news(known)
                continue
            known.sent = version

    async def _wait_for_news(self, known: _Versioned) -> None:
        known.news = asyncio.Event()
        # not `wait_for`: with news at the same moment, it forgets a cancel
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RETRY_PERIOD):
                await known.news.wait()
        known.news = None

    def _can_be_deleted(self, known: _Versioned) -> bool:
        deleted = any(
            "deletionTimestamp" in pod["metadata"] for pod in (known.pod, known.seen)
        )
        return (
            deleted
            and known.finished
            and not is_static_pod(known.pod)
            and self._pod_deletion_safety.is_terminated(known.pod["metadata"]["uid"])
        )

    async def _sync_pod(self, known: _Versioned) -> bool:
        """One round with the API server. False: the pod is no more."""
        metadata = known.pod["metadata"]
        name, namespace, uid = metadata["name"], metadata["namespace"], metadata["uid"]
        static = is_static_pod(known.pod)
        with span("kubelet", "status", key=f"{namespace}/{name}", uid=uid):
            try:
                live = await self._client.get(self._pods, name, namespace)
            except StatusError as error:
                if error.code == 404:
                    return False
                raise
            if live["metadata"]["uid"] != uid:
                mirror = (
                    self._pod_manager.get_current_mirror_pod(known.pod)
                    if static
                    else None
                )
                if (
                    mirror is None
                    or mirror["metadata"]["uid"] != live["metadata"]["uid"]
                ):
                    return False
                uid = live["metadata"]["uid"]
            old = live.get("status") or {}
            merged = merge_pod_status(old, known.status, self._may_run(known))
            patch = status_patch(uid, old, merged)
            if patch:
                live = await self._client.patch(
                    self._pods,
                    name,
                    namespace,
                    patch,
                    patch_type=STRATEGIC_MERGE_PATCH,
                    subresource="status",
                )
            if static:  # whether its picture stays is not the status's matter
                return True
            if (
                live["metadata"].get("deletionTimestamp")
                and known.finished
                and self._pod_deletion_safety.is_terminated(uid)
            ):
                await self._client.delete(
                    self._pods, name, namespace, uid=uid, grace_period=0
                )
                return False
        return True
