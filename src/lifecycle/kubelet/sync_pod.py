"""Three transactions make a pod's life on a node.

`sync_pod` while it is to run: count, report, cgroups, directories, volumes, pull
secrets, and only then the runtime; it is called again whenever something happened, and
does what is left to do. `sync_terminating_pod` once it is to end: report, stop
everything, report how it ended. `sync_terminated_pod` when nothing runs: let the pod
go. Each may be called again after a failure.

Upstream: `pkg/kubelet/kubelet.go` (`SyncPod`, `SyncTerminatingPod`,
`SyncTerminatedPod`), v1.36. What a node keeps for a pod is its `PodHost`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lifecycle.api.conditions import (
    is_status_condition_true,
    replace_or_append_condition,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import FAILED, is_pod_phase_terminal
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.kubelet.active_deadline import ActiveDeadlineHandler
from lifecycle.kubelet.allocation.allocation_manager import AllocationManager
from lifecycle.kubelet.allocation.resize_messages import (
    pod_resize_completed_message,
    pod_resize_error_message,
)
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.container.restart_all import CONDITION as RESTARTING_CONDITION
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.container.runtime_helper import GetObject
from lifecycle.kubelet.images.image_manager import ImageManager
from lifecycle.kubelet.kubelet_pods.api_pod_status import generate_api_pod_status
from lifecycle.kubelet.kubelet_pods.container_statuses import StatusInputs
from lifecycle.kubelet.kubelet_pods.pull_secrets import get_pull_secrets_for_pod
from lifecycle.kubelet.kuberuntime.kuberuntime_manager import (
    BACK_OFF_PERIOD,
    RuntimeManager,
)
from lifecycle.kubelet.kuberuntime.pod_actions import PodActions, compute_pod_actions
from lifecycle.kubelet.kuberuntime.resize_actions import PodResizer
from lifecycle.kubelet.pod.mirror_client import MirrorPods
from lifecycle.kubelet.pod.startup_latency_tracker import StartupMetrics
from lifecycle.kubelet.pod_host import PodHost
from lifecycle.kubelet.pod_sync_status import PodSyncStatuses
from lifecycle.kubelet.prober.prober_manager import ProbeManager
from lifecycle.kubelet.runtime_state import RuntimeState
from lifecycle.kubelet.status.generate import condition
from lifecycle.kubelet.status.resize_conditions import ERROR, PodResizeConditions
from lifecycle.kubelet.status.status_manager import StatusManager
from lifecycle.kubelet.types.pod_update import is_static_pod


def on_pod_sandbox_ready(statuses: StatusManager, pod: Object) -> None:
    """The one condition that changes in the middle of a transaction. Upstream:
    `OnPodSandboxReady`.
    """
    status = statuses.get_pod_status(pod["metadata"]["uid"])
    if status is not None:
        ready = condition("PodReadyToStartContainers", True)
        conditions = replace_or_append_condition(status["conditions"], ready)
        statuses.set_pod_status(pod, {**status, "conditions": conditions})


OnStep = Callable[[str, Object], None]
"""Hears of a step of `sync_pod`, by name, and of the pod."""


def nobody_watches(step: str, pod: Object) -> None:
    """For a kubelet whose steps nobody wants to see."""


class PodSyncer:
    """The three transactions. One per node.

    `pods` knows which pods there are, `allocations` what they were promised, and
    `resizer` gives it to their containers. `mirror_pods` shows a static pod to the API
    server. `network_error()`: why pods cannot be connected now.

    `on_step` hears of the steps of `sync_pod`, in upstream's order.
    """

    def __init__(
        self,
        manager: RuntimeManager,
        statuses: StatusManager,
        probes: ProbeManager,
        host: PodHost,
        images: ImageManager,
        pods: PodSyncStatuses,
        allocations: AllocationManager,
        resize_conditions: PodResizeConditions,
        resizer: PodResizer,
        mirror_pods: MirrorPods,
        clock: Clock,
        *,
        node_ip: str,
        get_object: GetObject,
        network_error: Callable[[], str],
        runtime_state: RuntimeState,
        event: PodEvent,
        metrics: StartupMetrics,
        on_step: OnStep = nobody_watches,
    ) -> None:
        self._manager = manager
        self._statuses = statuses
        self._probes = probes
        self._host = host
        self._images = images
        self._pods = pods
        self._allocations = allocations
        self._resize_conditions = resize_conditions
        self._resizer = resizer
        self._mirror_pods = mirror_pods
        self._clock = clock
        self._node_ip = node_ip
        self._get_object = get_object
        self._network_error = network_error
        self._runtime_state = runtime_state
        self._event = event
        self._active_deadline = ActiveDeadlineHandler(
            statuses.get_pod_status, clock.now
        )
        self.metrics = metrics
        self._on_step = on_step

    async def stop(self) -> None:
        """Wait for nothing any more."""
        await self._manager.stop()

    def _status(
        self, pod: Object, runtime: PodStatus, *, terminal: bool = False
    ) -> Object:
        uid = pod["metadata"]["uid"]
        current = self._statuses.get_pod_status(uid) or pod.get("status") or {}
        self._expect_probes(pod, runtime)
        inputs = StatusInputs(
            host_ip=self._node_ip,
            failures=self._manager.failures.get(uid, {}),
            ready=self._probes.ready,
            started=self._probes.started,
            pod_is_terminal=terminal,
            pod_cgroup=self._host.pod_cgroup_config(pod),
            resize_conditions=self._resize_conditions.of(uid),
            recursive_read_only=(
                self._runtime_state.supports_recursive_read_only_mounts()
            ),
        )
        status = generate_api_pod_status(pod, runtime, inputs, current)
        verdict = self._active_deadline.should_evict(pod)
        if not verdict.evict:
            return status
        # each status that is made of a pod whose time is up says so once more
        self._event(pod, "Normal", verdict.reason, verdict.message, "")
        if is_pod_phase_terminal(status["phase"]):
            return status
        return _failed(status, verdict.reason, verdict.message)

    def _expect_probes(self, pod: Object, runtime: PodStatus) -> None:
        spec, reported = pod["spec"], _last_reported(pod)
        for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
            if container.get("readinessProbe") or container.get("startupProbe"):
                for run in runtime.history(container["name"])[:1]:
                    self._probes.expect(run.id, container, reported.get(run.id))

    def deadline(self, pod: Object) -> float | None:
        """When the pod has to be over (seconds of the clock), if ever."""
        return self._active_deadline.deadline(pod)

    async def sync_pod(self, pod: Object) -> tuple[bool, float | None]:
        """Whether the pod is over, and in how many seconds to try again what failed
        (None: all went well).
        """
        uid = pod["metadata"]["uid"]
        pod = self._allocations.update_pod_from_allocation(pod)
        runtime = await self._manager.get_pod_status(uid)
        self._note_resize(pod, runtime)
        if self._statuses.get_pod_status(uid) is None:
            self._on_step("metrics", pod)
            self.metrics.worker_started(uid, self._clock.now())
        self._on_step("status", pod)
        status = self._status(pod, runtime)
        self._statuses.set_pod_status(pod, status)
        self._probes.trigger_readiness(uid, status)
        if status["phase"] == "Running":
            self.metrics.running(pod, status, self._clock.now())
        if is_pod_phase_terminal(status["phase"]):
            return True, None
        retry = await self._prepare(pod)
        if retry is not None:
            return False, retry
        await self._pull_secrets(pod)
        self._probes.add_pod(pod)
        self._on_step("runtime", pod)
        actions = compute_pod_actions(
            pod,
            runtime,
            self._probes.unhealthy,
            self._probes.started,
            restart_all=_restarts_all(status),
            resize=partial(self._resizer.action, pod),
        )
        if not actions.update_pod_resources:
            return False, await self._manager.sync_pod(pod, runtime, actions)
        return False, await self._resize(pod, runtime, actions)

    def _note_resize(self, pod: Object, runtime: PodStatus) -> None:
        """Has it by now what it was promised?"""
        uid = pod["metadata"]["uid"]
        if self._resize_conditions.is_in_progress(
            uid
        ) and not self._resizer.is_in_progress(pod, runtime):
            generation = self._resize_conditions.clear_in_progress(uid) or 0
            message = pod_resize_completed_message(pod, generation)
            self._event(pod, "Normal", "ResizeCompleted", message, "")

    async def _resize(
        self, pod: Object, runtime: PodStatus, actions: PodActions
    ) -> float | None:
        """The pod's group grows before its containers do, and shrinks after them. When
        to look again: at once, if all went well.
        """
        try:
            self._host.grow_cgroup(pod)
            await self._resizer.update(pod, actions.containers_to_update)
            retry = await self._manager.sync_pod(pod, runtime, actions)
            active = map(
                self._allocations.update_pod_from_allocation, self._pods.active_pods()
            )
            self._host.resize_cgroups(pod, active)
        except (OSError, RuntimeServiceError) as error:
            generation = int(pod["metadata"].get("generation") or 0)
            if self._resize_conditions.set_in_progress(
                pod["metadata"]["uid"], generation, ERROR, str(error)
            ):
                message = pod_resize_error_message(pod, generation, str(error))
                self._event(pod, "Warning", "ResizeError", message, "")
            return BACK_OFF_PERIOD
        return 0.0 if retry is None else retry

    async def _prepare(self, pod: Object) -> float | None:
        """Cgroups, the mirror pod, directories, volumes. None: all there; else in how
        many seconds to try again.
        """
        not_ready = self._network_error()
        if not_ready and not pod["spec"].get("hostNetwork"):
            message = f"network is not ready: {not_ready}"
            self._event(pod, "Warning", "NetworkNotReady", message, "")
            return BACK_OFF_PERIOD
        try:
            self._on_step("cgroups", pod)
            self._host.ensure_cgroups(pod, self._pods.active_pods)
        except OSError as error:
            message = f"unable to ensure pod container exists: {error}"
            self._event(pod, "Warning", "FailedToCreatePodContainer", message, "")
            return BACK_OFF_PERIOD
        if is_static_pod(pod):
            self._mirror_pods.try_reconcile(pod)
        try:
            self._on_step("directories", pod)
            self._host.make_directories(pod)
        except OSError as error:
            message = f"error making pod data directories: {error}"
            self._event(pod, "Warning", "FailedToMakePodDataDirectories", message, "")
            return BACK_OFF_PERIOD
        self._on_step("volumes", pod)
        mounted = await self._host.mount(pod)
        if mounted.unprocessed:
            self._event(pod, "Warning", "FailedMount", mounted.unprocessed, "")
        for volume, failure in mounted.failures:
            message = f'MountVolume.SetUp failed for volume "{volume}" : {failure}'
            self._event(pod, "Warning", "FailedMount", message, "")
        return mounted.retry_after

    def refresh_tokens_at(self, pod: Object) -> float | None:
        """When a token of the pod wants to be replaced (seconds of the clock); None if
        it has none.
        """
        return self._host.tokens.refresh_at(pod["metadata"]["uid"])

    async def _pull_secrets(self, pod: Object) -> None:
        self._on_step("pull secrets", pod)
        if not pod["spec"].get("imagePullSecrets"):
            return
        secrets = await get_pull_secrets_for_pod(
            pod,
            self._get_object,
            lambda kind, reason, message: self._event(pod, kind, reason, message, ""),
        )
        self._images.use_pull_secrets(pod["metadata"]["uid"], secrets)

    def reject_pod(self, pod: Object, reason: str, message: str) -> None:
        """The pod fails before anything of it is started. Upstream: `rejectPod`."""
        self._event(pod, "Warning", reason, message, "")
        status = {
            "phase": FAILED,
            "reason": reason,
            "message": f"Pod was rejected: {message}",
            "conditions": [],
            "qosClass": (pod.get("status") or {}).get("qosClass", ""),
        }
        generation = pod["metadata"].get("generation")
        if generation:
            status["observedGeneration"] = generation
        self._statuses.set_pod_status(pod, status)

    async def sync_terminating_pod(
        self,
        pod: Object,
        grace_period: float | None,
        status_fn: Callable[[Object], Object] | None = None,
    ) -> Object | None:
        """Stop everything that runs; when this returns, nothing does. `status_fn`: why,
        for the status of a pod that is evicted. The answer is the status for `ended`:
        made while there still are containers that can tell how they ended.
        """
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        known = self._statuses.get_pod_status(uid)
        if not _rejected(known, runtime):
            status = self._status(pod, runtime)
            self._statuses.set_pod_status(
                pod, status_fn(status) if status_fn is not None else status
            )
        self._probes.stop_liveness_and_startup(uid)
        await self._manager.kill_pod(pod, runtime, grace_period)
        self._probes.remove_pod(uid)
        stopped = await self._manager.get_pod_status(uid)
        if _rejected(known, stopped):
            return None
        return self._status(pod, stopped, terminal=True)

    def ended(self, pod: Object, status: Object | None) -> None:
        """From now on everybody may know that nothing of the pod runs."""
        if status is not None:
            self._statuses.set_pod_status(pod, status)

    async def sync_terminated_pod(self, pod: Object) -> None:
        """Nothing runs: say how it ended, and let a deleted pod go – once nothing of it
        is left on the machine. Raises VolumeError, OSError: to be tried again, as the
        pod stays meanwhile.
        """
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        if not _rejected(self._statuses.get_pod_status(uid), runtime):
            self._statuses.set_pod_status(
                pod, self._status(pod, runtime, terminal=True)
            )
        await self._host.release(pod, self._pods.active_pods())
        self._host.tokens.delete_for_pod(uid)
        self._statuses.terminate_pod(pod)


def _restarts_all(status: Object) -> bool:
    return is_status_condition_true(status["conditions"], RESTARTING_CONDITION)


def _last_reported(pod: Object) -> dict[str, Object]:
    """What the API server knows of the runs that it knows of, by their ids."""
    status = pod.get("status") or {}
    entries = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    return {
        entry.get("containerID", "").partition("://")[2]: entry for entry in entries
    }


def _rejected(status: Object | None, runtime: PodStatus) -> bool:
    """Whether the pod was refused: its status says all there is to say."""
    return status is not None and status["phase"] == FAILED and not runtime.sandboxes


def _failed(status: Object, reason: str, message: str) -> Object:
    """The status of a pod that the kubelet itself ends."""
    failed = {**status, "phase": FAILED, "reason": reason, "message": message}
    failed["conditions"] = [
        {"type": c["type"], "status": "False", "reason": "PodFailed"}
        if c["type"] in ("Ready", "ContainersReady")
        else c
        for c in status["conditions"]
    ]
    return failed
