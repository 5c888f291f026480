"""Three transactions make a pod's life on a node.

`sync_pod` while it is to run: report, make the sandbox, start what has to be started; it is called again whenever
something happened, and does what is left to do. `sync_terminating_pod` once it is to end: report, stop everything,
report how it ended. `sync_terminated_pod` when nothing runs: let the pod go. Each may be called again after a
failure.

Upstream: `pkg/kubelet/kubelet.go` (`SyncPod`, `SyncTerminatingPod`, `SyncTerminatedPod`), v1.36. Left out: volumes
(see `volumes.py`), cgroups, mirror pods, directories.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.clock import Clock, parse_time
from lifecycle.api.wire import Object
from lifecycle.kubelet.conditions import condition
from lifecycle.kubelet.phase import FAILED, is_terminal
from lifecycle.kubelet.pod_actions import compute_pod_actions
from lifecycle.kubelet.probes.manager import ProbeManager
from lifecycle.kubelet.runtime_manager import BACK_OFF_PERIOD, RuntimeManager
from lifecycle.kubelet.status import PodStatus, StatusInputs, generate_api_pod_status
from lifecycle.kubelet.status_manager import StatusManager
from lifecycle.kubelet.volumes import ObjectReferences

DEADLINE_REASON = "DeadlineExceeded"
DEADLINE_MESSAGE = "Pod was active on the node longer than the specified deadline"

PodEvent = Callable[[Object, str, str, str, str], None]


class PodSyncer:
    """The three transactions. One per node."""

    def __init__(
        self,
        manager: RuntimeManager,
        statuses: StatusManager,
        probes: ProbeManager,
        references: ObjectReferences,
        clock: Clock,
        node_ip: str,
        event: PodEvent,
        admit: Callable[[Object], Awaitable[tuple[str, str]]],
    ) -> None:
        self._manager = manager
        self._statuses = statuses
        self._probes = probes
        self._references = references
        self._clock = clock
        self._node_ip = node_ip
        self._event = event
        self._admit = admit
        manager.on_pod_sandbox_ready = self._sandbox_ready

    def _status(self, pod: Object, runtime: PodStatus, *, terminal: bool = False) -> Object:
        uid = pod["metadata"]["uid"]
        current = self._statuses.get_pod_status(uid) or pod.get("status") or {}
        self._expect_probes(pod, runtime)
        inputs = StatusInputs(
            host_ip=self._node_ip,
            failures=self._manager.failures.get(uid, {}),
            ready=self._probes.ready,
            started=self._probes.started,
            pod_is_terminal=terminal,
        )
        return generate_api_pod_status(pod, runtime, inputs, current)

    def _expect_probes(self, pod: Object, runtime: PodStatus) -> None:
        spec = pod["spec"]
        for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
            if container.get("readinessProbe") or container.get("startupProbe"):
                for run in runtime.history(container["name"])[:1]:
                    self._probes.expect(run.id, container)

    def _sandbox_ready(self, pod: Object) -> None:
        """The one condition that changes in the middle of a transaction. Upstream: `OnPodSandboxReady`."""
        status = self._statuses.get_pod_status(pod["metadata"]["uid"])
        if status is not None:
            ready = condition("PodReadyToStartContainers", True)
            conditions = [ready if c["type"] == ready["type"] else c for c in status["conditions"]]
            self._statuses.set_pod_status(pod, {**status, "conditions": conditions})

    def deadline(self, pod: Object) -> float | None:
        """When the pod has to be over (seconds of the clock), if ever."""
        seconds = pod["spec"].get("activeDeadlineSeconds")
        status = self._statuses.get_pod_status(pod["metadata"]["uid"]) or pod.get("status") or {}
        if seconds is None or not status.get("startTime"):
            return None
        return parse_time(status["startTime"]) + float(seconds)

    async def sync_pod(self, pod: Object) -> tuple[bool, float | None]:
        """Whether the pod is over, and in how many seconds to try again what failed (None: all went well)."""
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        status = self._status(pod, runtime)
        if not runtime.sandboxes and not is_terminal(status["phase"]) and self._statuses.get_pod_status(uid) is None:
            reason, message = await self._admit(pod)
            if reason:
                return self._reject(pod, reason, message)
        deadline = self.deadline(pod)
        if deadline is not None and self._clock.now() >= deadline and not is_terminal(status["phase"]):
            self._event(pod, "Normal", DEADLINE_REASON, DEADLINE_MESSAGE, "")
            self._statuses.set_pod_status(pod, _failed(status, DEADLINE_REASON, DEADLINE_MESSAGE))
            return True, None
        self._statuses.set_pod_status(pod, status)
        if is_terminal(status["phase"]):
            return True, None
        unmountable = await self._references.unmountable_volumes(pod)
        if unmountable:
            for volume, why in unmountable:
                self._event(
                    pod, "Warning", "FailedMount", f'MountVolume.SetUp failed for volume "{volume}" : {why}', ""
                )
            return False, BACK_OFF_PERIOD
        self._probes.add_pod(pod)
        actions = compute_pod_actions(pod, runtime, self._probes.unhealthy)
        return False, await self._manager.sync_pod(pod, runtime, actions)

    def _reject(self, pod: Object, reason: str, message: str) -> tuple[bool, float | None]:
        """Upstream: `rejectPod`. The pod fails before anything is started."""
        self._event(pod, "Warning", reason, message, "")
        status = {
            "phase": FAILED,
            "reason": reason,
            "message": f"Pod was rejected: {message}",
            "conditions": [condition("PodScheduled", True)],
            "qosClass": (pod.get("status") or {}).get("qosClass", ""),
        }
        generation = pod["metadata"].get("generation")
        if generation:
            status["observedGeneration"] = generation
        self._statuses.set_pod_status(pod, status)
        return True, None

    async def sync_terminating_pod(self, pod: Object, grace_period: float | None) -> None:
        """Stop everything that runs; when this returns, nothing does."""
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        known = self._statuses.get_pod_status(uid)
        if not _rejected(known, runtime):
            self._statuses.set_pod_status(pod, self._status(pod, runtime))
        self._probes.remove_pod(uid)
        await self._manager.kill_pod(pod, runtime, grace_period)

    async def sync_terminated_pod(self, pod: Object) -> None:
        """Nothing runs: say how it ended, and let a deleted pod go."""
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        if not _rejected(self._statuses.get_pod_status(uid), runtime):
            self._statuses.set_pod_status(pod, self._status(pod, runtime, terminal=True))
        self._statuses.terminate_pod(pod)


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
