"""One pod, from its turn in the queue to its node.

    scheduling cycle, one pod at a time:
        schedule_pod → assume → Reserve → Permit
            └ FitError → PostFilter (preemption) → failure: back to the queue,
              condition PodScheduled=False, event "FailedScheduling"
    binding cycle, beside the next pods:
        (wait for Permit) → PreBind → Bind → event "Scheduled" → PostBind
            └ error → Unreserve, forget → failure

Deciding is quick and sequential; binding takes a round trip and runs beside it. Between
the two stands the assumption: the cache counts the pod on its node at once, so that the
next decision knows of it.

Upstream: `pkg/scheduler/schedule_one.go` (`ScheduleOne`, `schedulingCycle`,
`bindingCycle`, `handleBindingCycleError`), v1.36.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.tracing import span
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.failure_handler import FailureHandler, record_event
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.events import FORCE_ACTIVATE, POD_DELETED
from lifecycle.scheduler.framework.handle import ExtenderError
from lifecycle.scheduler.framework.interface import PostFilterResult
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.status import Code, PluginError, Status, as_status
from lifecycle.scheduler.framework.steps import in_turns
from lifecycle.scheduler.framework.types import Diagnosis, FitError, QueuedPodInfo
from lifecycle.scheduler.schedule_pod import (
    Algorithm,
    NoNodesAvailable,
    ScheduleResult,
)

log = logging.getLogger(__name__)

CLEAR_NOMINATED_NODE = PostFilterResult()
"""No node is kept for the pod any more."""

Failure = tuple[Status, PostFilterResult | None]
"""Why a cycle ended early, and what becomes of the nomination."""


class ScheduleOne:
    """Schedules pods one by one. `algorithms`: by profile, each with its framework.
    `extenders` is read for every pod.
    """

    def __init__(
        self,
        algorithms: Mapping[str, Algorithm],
        cache: Cache,
        queue: SchedulingQueue,
        nominator: Nominator,
        extenders: Sequence[HTTPExtender],
        failure_handler: FailureHandler,
        tasks: BackgroundTasks,
    ) -> None:
        self._algorithms = algorithms
        self._cache = cache
        self._queue = queue
        self._nominator = nominator
        self._extenders = extenders
        self._failure_handler = failure_handler
        self._tasks = tasks

    async def schedule_one(self, profile: str, queued: QueuedPodInfo) -> None:
        """Decide for one pod; binding goes on in a task. Without extenders nothing is
        waited for, but that others have their turn where a pod asks for much.
        """
        info = queued.info
        algorithm = self._algorithms[profile]
        framework = algorithm.framework
        if self._skip_pod_schedule(framework, info):
            return
        state, moves = CycleState(), self._queue.moves
        uid = info.pod["metadata"].get("uid", "")
        with span("scheduler", "schedule_one", key=info.key, uid=uid):
            result = await self.scheduling_cycle(state, algorithm, queued)
            if not isinstance(result, ScheduleResult):
                self._failure_handler.handle_scheduling_failure(
                    framework, queued, *result
                )
                if self._queue.moves != moves:
                    # something changed while others had their turn, or while we
                    # waited for extenders: do not sleep on it
                    self._queue.move_all(FORCE_ACTIVATE, None, None)
                return
        work = self._bind(state, framework, queued, result.suggested_host)
        self._tasks.start(work, f"bind {info.key}")

    def _skip_pod_schedule(self, framework: Framework, info: PodInfo) -> bool:
        """Whether there is nothing to decide."""
        metadata = info.pod["metadata"]
        if metadata.get("deletionTimestamp"):
            text = (
                "skip schedule deleting pod:"
                f" {metadata['namespace']}/{metadata['name']}"
            )
            record_event(framework, info.pod, "Warning", "FailedScheduling", text)
            return True
        return info.key in self._cache  # placed already: an event crossed ours

    # -- the scheduling cycle ----------------------------------------------------------

    async def scheduling_cycle(
        self, state: CycleState, algorithm: Algorithm, queued: QueuedPodInfo
    ) -> ScheduleResult | Failure:
        """The pod's node, assumed and reserved; or why it has none."""
        framework, info = algorithm.framework, queued.info
        self._cache.update_snapshot(algorithm.snapshot)
        try:
            result = await self._schedule_pod(state, algorithm, info)
        except FitError as error:
            return await self._post_filter(state, algorithm, info, error)
        except NoNodesAvailable as error:
            code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            return Status(code, error=error), CLEAR_NOMINATED_NODE
        except Exception as error:
            if not isinstance(error, ExtenderError | PluginError):
                log.error("scheduling %s failed", queued.key, exc_info=error)
            return as_status(error), CLEAR_NOMINATED_NODE
        host = result.suggested_host
        if info.key in self._cache:  # somebody else has placed it meanwhile
            why = f"pod {info.uid}({info.key}) is in the cache, so can't be assumed"
            return as_status(LookupError(why)), CLEAR_NOMINATED_NODE
        self._assume(info, host)
        pod = info.pod
        try:
            status = framework.run_reserve_plugins_reserve(state, pod, host)
            if status is None:
                status = framework.run_permit_plugins(state, pod, host)
        except Exception as error:
            log.error("reserving for %s failed", queued.key, exc_info=error)
            status = as_status(error)
        if status is None or status.code is Code.WAIT:
            return result
        framework.run_reserve_plugins_unreserve(state, pod, host)
        self._forget(queued)
        return _not_there(status, host), CLEAR_NOMINATED_NODE

    async def _schedule_pod(
        self, state: CycleState, algorithm: Algorithm, info: PodInfo
    ) -> ScheduleResult:
        extenders = self._interested(info.pod)
        if not extenders:
            return await in_turns(algorithm.decide(state, info))
        return await algorithm.schedule_pod_with_extenders(state, info, extenders)

    def _interested(self, pod: Object) -> list[HTTPExtender]:
        return [e for e in self._extenders if e.is_interested(pod)]

    async def _post_filter(
        self, state: CycleState, algorithm: Algorithm, info: PodInfo, error: FitError
    ) -> Failure:
        """No node will do: can somebody help?"""
        framework, diagnosis = algorithm.framework, error.diagnosis
        refusal = Status(Code.UNSCHEDULABLE, error=error)
        if not framework.post_filter_plugins:
            return refusal, CLEAR_NOMINATED_NODE
        result, status = await framework.run_post_filter_plugins(
            state, info, algorithm.snapshot, diagnosis.node_to_status
        )
        if status is not None:
            diagnosis.post_filter_message = status.message
        return refusal, result

    def _assume(self, info: PodInfo, host: str) -> None:
        """From now on the pod counts on its node."""
        info.pod = {**info.pod, "spec": {**info.pod["spec"], "nodeName": host}}
        self._cache.assume_pod(info)
        self._nominator.delete_nominated_pod_if_exists(info.key)

    def _forget(self, queued: QueuedPodInfo) -> None:
        """It does not, after all."""
        self._cache.forget_pod(queued.key)
        pod = queued.info.pod
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        queued.info = PodInfo({**pod, "spec": spec}, queued.info)

    # -- the binding cycle -------------------------------------------------------------

    async def _bind(
        self, state: CycleState, framework: Framework, queued: QueuedPodInfo, host: str
    ) -> None:
        try:
            status = await self.binding_cycle(state, framework, queued, host)
        except Exception as error:
            log.error("binding %s failed", queued.key, exc_info=error)
            status = as_status(error)
        if status is not None:
            self.handle_binding_cycle_error(state, framework, queued, host, status)

    async def binding_cycle(
        self, state: CycleState, framework: Framework, queued: QueuedPodInfo, host: str
    ) -> Status | None:
        """Bind the pod to its node; None if that worked."""
        pod = queued.info.pod
        status = framework.run_pre_bind_pre_flights(state, pod, host)
        if status is not None and status.code is Code.ERROR:
            return status
        if status is None or framework.will_wait_on_permit(pod):
            # it will take a while: say where the pod is about to go
            patch: Object = {"status": {"nominatedNodeName": host}}
            await self._failure_handler.patch_status(pod, patch)
        status = await framework.wait_on_permit(pod)
        if status is not None:
            return _not_there(status, host)
        status = await framework.run_pre_bind_plugins(state, pod, host)
        if status is not None:
            return status
        metadata = pod["metadata"]
        with span("scheduler", "bind", key=queued.key, uid=metadata.get("uid", "")):
            status = await self.bind(state, framework, pod, host)
        if status is not None:
            return status
        key = f"{metadata['namespace']}/{metadata['name']}"
        text = f"Successfully assigned {key} to {host}"
        record_event(framework, pod, "Normal", "Scheduled", text)
        framework.run_post_bind_plugins(state, pod, host)
        return None

    async def bind(
        self, state: CycleState, framework: Framework, pod: Object, host: str
    ) -> Status | None:
        """By the first extender that binds; without one, or if those that failed may be
        ignored, by the plugins. Upstream: `bind`, `extendersBinding`.
        """
        for extender in self._interested(pod):
            if not extender.is_binder:
                continue
            try:
                await extender.bind(pod, host)
            except ExtenderError as error:
                if not extender.ignorable:
                    return as_status(error)
            else:
                return None
        return await framework.run_bind_plugins(state, pod, host)

    def handle_binding_cycle_error(
        self,
        state: CycleState,
        framework: Framework,
        queued: QueuedPodInfo,
        host: str,
        status: Status,
    ) -> None:
        """The place is free again, which others may have waited for; the pod itself is
        tried later, if it is still there.
        """
        pod, uid = queued.info.pod, queued.info.uid
        framework.run_reserve_plugins_unreserve(state, pod, host)
        self._forget(queued)
        if not status.rejected:
            self._queue.move_all(POD_DELETED, pod, None)
        self._failure_handler.handle_scheduling_failure(
            framework, queued, status, CLEAR_NOMINATED_NODE
        )
        if status.rejected:  # who was refused is not helped by its own leaving
            self._queue.move_all(
                POD_DELETED, pod, None, lambda waiting: waiting.uid != uid
            )


def _not_there(status: Status, host: str) -> Status:
    """A refusal of the one node that was chosen, as users read it; an error as it
    is.
    """
    if not status.rejected:
        return status
    diagnosis = Diagnosis()
    diagnosis.set(host, status)
    return Status(status.code, error=FitError(1, diagnosis))
