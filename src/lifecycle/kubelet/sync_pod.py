"""Three transactions make a pod's life on a node.

`sync_pod` while it is to run: count, report, cgroups, directories, volumes, pull
secrets, and only then the runtime; it is called again whenever something happened, and
does what is left to do. `sync_terminating_pod` once it is to end: report, stop
everything, report how it ended. `sync_terminated_pod` when nothing runs: let the pod
go. Each may be called again after a failure.

Upstream: `pkg/kubelet/kubelet.go` (`SyncPod`, `SyncTerminatingPod`,
`SyncTerminatedPod`), v1.36. On a node that is not there (no `local`), cgroups and
directories are left out and volumes are only looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.api.clock import Clock, parse_time
from lifecycle.api.wire import Object
from lifecycle.kubelet.active_deadline import ActiveDeadlineHandler
from lifecycle.kubelet.admit import is_static_pod
from lifecycle.kubelet.conditions import condition
from lifecycle.kubelet.images import ImageManager
from lifecycle.kubelet.local_pods import LocalPods
from lifecycle.kubelet.phase import FAILED, is_terminal
from lifecycle.kubelet.pod_actions import compute_pod_actions
from lifecycle.kubelet.pod_status import PodStatus, StatusInputs
from lifecycle.kubelet.probes.manager import ProbeManager
from lifecycle.kubelet.pull_secrets import get_pull_secrets_for_pod
from lifecycle.kubelet.restart_all import CONDITION as RESTARTING_CONDITION
from lifecycle.kubelet.runtime_manager import BACK_OFF_PERIOD, RuntimeManager
from lifecycle.kubelet.startup_metrics import StartupMetrics
from lifecycle.kubelet.status import generate_api_pod_status
from lifecycle.kubelet.status_manager import StatusManager
from lifecycle.kubelet.token_manager import TokenManager
from lifecycle.kubelet.volumes import ObjectReferences, token_projections
from lifecycle.kubelet.volumes.payloads import VolumeError

PodEvent = Callable[[Object, str, str, str, str], None]


class PodSyncer:
    """The three transactions. One per node.

    `local`: the machine, if there is one. `active_pods`: the pods that have not ended.
    `make_mirror_pod` shows a static pod to the API server. `network_error()`: why pods
    cannot be connected now. `on_step` is told of every step of `sync_pod`, by
    upstream's order.
    """

    local: LocalPods | None = None
    images: ImageManager | None = None
    active_pods: Callable[[], Iterable[Object]] = staticmethod(tuple)
    make_mirror_pod: Callable[[Object], None] | None = None
    network_error: Callable[[], str] = staticmethod(str)
    on_step: Callable[[str, Object], None] | None = None

    def __init__(
        self,
        manager: RuntimeManager,
        statuses: StatusManager,
        probes: ProbeManager,
        references: ObjectReferences,
        clock: Clock,
        node_ip: str,
        event: PodEvent,
    ) -> None:
        self._manager = manager
        self._statuses = statuses
        self._probes = probes
        self._references = references
        self._clock = clock
        self._node_ip = node_ip
        self._event = event
        self.tokens = TokenManager(references.client, clock)
        self.metrics = StartupMetrics()
        self.active_deadline = ActiveDeadlineHandler(statuses.get_pod_status, clock.now)
        manager.on_pod_sandbox_ready = self._sandbox_ready

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
        )
        return generate_api_pod_status(pod, runtime, inputs, current)

    def _expect_probes(self, pod: Object, runtime: PodStatus) -> None:
        spec = pod["spec"]
        for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
            if container.get("readinessProbe") or container.get("startupProbe"):
                for run in runtime.history(container["name"])[:1]:
                    self._probes.expect(run.id, container, _told(pod, run.id))

    def _sandbox_ready(self, pod: Object) -> None:
        """The one condition that changes in the middle of a transaction. Upstream:
        `OnPodSandboxReady`.
        """
        status = self._statuses.get_pod_status(pod["metadata"]["uid"])
        if status is not None:
            ready = condition("PodReadyToStartContainers", True)
            conditions = [
                ready if c["type"] == ready["type"] else c for c in status["conditions"]
            ]
            self._statuses.set_pod_status(pod, {**status, "conditions": conditions})

    def deadline(self, pod: Object) -> float | None:
        """When the pod has to be over (seconds of the clock), if ever."""
        return self.active_deadline.deadline(pod)

    def _step(self, name: str, pod: Object) -> None:
        if self.on_step is not None:
            self.on_step(name, pod)

    async def sync_pod(self, pod: Object) -> tuple[bool, float | None]:
        """Whether the pod is over, and in how many seconds to try again what failed
        (None: all went well).
        """
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        if self._statuses.get_pod_status(uid) is None:
            self._step("metrics", pod)
            self.metrics.worker_started(uid, self._clock.now())
        self._step("status", pod)
        status = self._status(pod, runtime)
        verdict = self.active_deadline.should_evict(pod)
        if verdict.evict and not is_terminal(status["phase"]):
            self._event(pod, "Normal", verdict.reason, verdict.message, "")
            self._statuses.set_pod_status(
                pod, _failed(status, verdict.reason, verdict.message)
            )
            return True, None
        self._statuses.set_pod_status(pod, status)
        self._probes.trigger_readiness(uid, status)
        if status["phase"] == "Running":
            created = pod["metadata"].get("creationTimestamp")
            self.metrics.running(
                uid,
                parse_time(created) if created else self._clock.now(),
                self._clock.now(),
            )
        if is_terminal(status["phase"]):
            return True, None
        retry = await self._prepare(pod)
        if retry is not None:
            return False, retry
        await self._pull_secrets(pod)
        self._probes.add_pod(pod)
        self._step("runtime", pod)
        actions = compute_pod_actions(
            pod,
            runtime,
            self._probes.unhealthy,
            self._probes.started,
            restart_all=_restarts_all(status),
        )
        return False, await self._manager.sync_pod(pod, runtime, actions)

    async def _prepare(self, pod: Object) -> float | None:
        """Cgroups, the mirror pod, directories, volumes. None: all there; else in how
        many seconds to try again.
        """
        local, not_ready = self.local, self.network_error()
        if not_ready and not pod["spec"].get("hostNetwork"):
            self._event(
                pod,
                "Warning",
                "NetworkNotReady",
                f"network is not ready: {not_ready}",
                "",
            )
            return BACK_OFF_PERIOD
        try:
            if local is not None:
                self._step("cgroups", pod)
                local.ensure_cgroups(pod, self.active_pods())
        except OSError as error:
            message = f"unable to ensure pod container exists: {error}"
            self._event(pod, "Warning", "FailedToCreatePodContainer", message, "")
            return BACK_OFF_PERIOD
        if self.make_mirror_pod is not None and is_static_pod(pod):
            self.make_mirror_pod(pod)
        try:
            if local is not None:
                self._step("directories", pod)
                local.make_directories(pod)
        except OSError as error:
            message = f"error making pod data directories: {error}"
            self._event(pod, "Warning", "FailedToMakePodDataDirectories", message, "")
            return BACK_OFF_PERIOD
        self._step("volumes", pod)
        if local is not None:
            result = await local.mount(pod)
            failures, retry = result.failures, result.retry_after
            if result.timed_out:
                self._event(pod, "Warning", "FailedMount", result.timed_out, "")
        else:
            failures = [
                *await self._references.unmountable_volumes(pod),
                *await self._fetch_tokens(pod),
            ]
            retry = BACK_OFF_PERIOD if failures else None
        for volume, why in failures:
            message = f'MountVolume.SetUp failed for volume "{volume}" : {why}'
            self._event(pod, "Warning", "FailedMount", message, "")
        return retry

    async def _fetch_tokens(self, pod: Object) -> list[tuple[str, str]]:
        """On a node without disk the tokens of the pod's volumes are asked for all the
        same. Volumes that failed, and why.
        """
        failures = []
        for volume, source in token_projections(pod):
            try:
                await self.tokens.get_service_account_token(
                    pod,
                    source.get("audience", ""),
                    source.get("expirationSeconds", 3600),
                )
            except LookupError as error:
                failures.append((volume, f"failed to fetch token: {error.args[0]}"))
        return failures

    def refresh_tokens_at(self, pod: Object) -> float | None:
        """When a token of the pod wants to be replaced (seconds of the clock); None if
        it has none.
        """
        return self.tokens.refresh_at(pod["metadata"]["uid"])

    async def _pull_secrets(self, pod: Object) -> None:
        self._step("pull secrets", pod)
        if self.images is None or not pod["spec"].get("imagePullSecrets"):
            return
        secrets = await get_pull_secrets_for_pod(
            pod,
            self._references.get,
            lambda kind, reason, message: self._event(pod, kind, reason, message, ""),
        )
        self.images.use_pull_secrets(pod["metadata"]["uid"], secrets)

    def reject_pod(self, pod: Object, reason: str, message: str) -> None:
        """The pod fails before anything of it is started. Upstream: `rejectPod`."""
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

    async def sync_terminating_pod(
        self,
        pod: Object,
        grace_period: float | None,
        status_fn: Callable[[Object], Object] | None = None,
    ) -> None:
        """Stop everything that runs; when this returns, nothing does. `status_fn`: why,
        for the status of a pod that is evicted.
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

    async def sync_terminated_pod(self, pod: Object) -> None:
        """Nothing runs: say how it ended, and let a deleted pod go."""
        uid = pod["metadata"]["uid"]
        runtime = await self._manager.get_pod_status(uid)
        if not _rejected(self._statuses.get_pod_status(uid), runtime):
            self._statuses.set_pod_status(
                pod, self._status(pod, runtime, terminal=True)
            )
        if self.local is not None:
            try:
                self.local.release(pod, self.active_pods())
            except (VolumeError, OSError) as error:
                self._event(pod, "Warning", "FailedUnMount", str(error), "")
        self.tokens.delete_for_pod(uid)
        self._statuses.terminate_pod(pod)


def _restarts_all(status: Object) -> bool:
    return any(
        c["type"] == RESTARTING_CONDITION and c["status"] == "True"
        for c in status["conditions"]
    )


def _told(pod: Object, container_id: str) -> Object | None:
    """What the API server knows of a run, if it knows of it."""
    status = pod.get("status") or {}
    entries = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    return next(
        (
            entry
            for entry in entries
            if entry.get("containerID", "").endswith(container_id)
        ),
        None,
    )


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
