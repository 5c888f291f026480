"""When a pod could not be scheduled: back to the queue, and say why.

Upstream: `pkg/scheduler/schedule_one.go` (`handleSchedulingFailure`, `updatePod`,
`truncateMessage`), v1.36.
"""

from __future__ import annotations

import logging

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.rest import REQUEST_ERRORS, STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.interface import PostFilterResult
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.status import Status
from lifecycle.scheduler.framework.types import FitError, QueuedPodInfo
from lifecycle.scheduler.pod_conditions import condition_patch

log = logging.getLogger(__name__)

NOTE_LENGTH_LIMIT = 1024
"""How long an event's message may be. The pod's condition has all of it."""


def truncate_message(message: str) -> str:
    """A message cut to what an event can hold."""
    suffix = " ..."
    if len(message) <= NOTE_LENGTH_LIMIT:
        return message
    return message[: NOTE_LENGTH_LIMIT - len(suffix)] + suffix


def record_event(
    framework: Framework, pod: Object, event_type: str, reason: str, message: str
) -> None:
    """An event about a pod, by the scheduler of that name."""
    if framework.event_recorder is not None:
        about = {"kind": "Pod", "apiVersion": "v1", **pod}
        framework.event_recorder.event(about, event_type, reason, message)


class FailureHandler:
    """Takes pods that could not be scheduled or bound."""

    def __init__(
        self,
        client: Client,
        pods: SharedInformer,
        queue: SchedulingQueue,
        nominator: Nominator,
        clock: Clock,
        tasks: BackgroundTasks,
    ) -> None:
        self._client = client
        self._pods = pods
        self._queue = queue
        self._nominator = nominator
        self._clock = clock
        self._tasks = tasks

    def handle_scheduling_failure(
        self,
        framework: Framework,
        queued: QueuedPodInfo,
        status: Status,
        nominating: PostFilterResult | None,
    ) -> None:
        """Back to the queue, and say why. `nominating`: which node to keep for the pod
        from now on; None: as before.
        """
        error = status.as_error()
        if isinstance(error, FitError):
            diagnosis = error.diagnosis
            queued.unschedulable_plugins = set(diagnosis.unschedulable_plugins)
            queued.pending_plugins = set(diagnosis.pending_plugins)
        pod = queued.info.pod
        waits = self._still_waits(queued)
        if waits:
            self._queue.add_unschedulable(queued)
        if nominating is not None:
            node_name = nominating.nominated_node_name
            if node_name and waits:
                self._nominator.add_nominated_pod(queued.info, node_name)
            else:
                self._nominator.delete_nominated_pod_if_exists(queued.key)
        message = status.message
        text = truncate_message(message)
        record_event(framework, pod, "Warning", "FailedScheduling", text)
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable" if status.rejected else "SchedulerError",
            "message": message,
        }
        more = None
        if nominating is not None:
            more = {"nominatedNodeName": nominating.nominated_node_name or None}
        patch = condition_patch(pod, condition, self._clock.timestamp(), more)
        if patch:
            name = f"status {pod['metadata']['name']}"
            self._tasks.start(self.patch_status(pod, patch), name)

    def _still_waits(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod is there and without a node; if so, `queued` has its latest
        version.
        """
        stored = self._pods.indexer.get_by_key(queued.key)
        if stored is None or stored["spec"].get("nodeName"):
            return False
        if stored["metadata"].get("uid") != queued.info.pod["metadata"].get("uid"):
            return False  # another one of that name, which is in the queue already
        queued.info = PodInfo(stored, queued.info)
        return True

    async def patch_status(self, pod: Object, patch: Object) -> None:
        """Write a pod's status. It may be gone; other failures are logged."""
        metadata = pod["metadata"]
        try:
            await self._client.patch(
                resource("pods"),
                metadata["name"],
                metadata["namespace"],
                patch,
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        except REQUEST_ERRORS as error:
            if not (isinstance(error, StatusError) and error.code == 404):
                log.warning(
                    "updating the status of %s failed: %s", metadata["name"], error
                )
