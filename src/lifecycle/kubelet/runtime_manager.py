"""From decision to calls: drives the container runtime until a pod is what it should be.

For each container: is it too soon (back-off)? is the image here? is its environment complete? create, start,
post-start hook. Where it stops, the reason is kept and becomes the container's `waiting` state; the events on the way
are what `kubectl describe pod` shows.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (`SyncPod`, `doBackOff`, `KillPod`),
`kuberuntime_container.go` (`startContainer`, `killContainer`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.api.clock import Clock
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.tracing import span
from lifecycle.api.wire import Object
from lifecycle.cri.runtime import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    PodSandboxConfig,
    PodSandboxMetadata,
    Runtime,
    RuntimeServiceError,
)
from lifecycle.kubelet.backoff import Backoff, go_duration
from lifecycle.kubelet.hooks import HookRunner
from lifecycle.kubelet.images import ImageError, ImageManager
from lifecycle.kubelet.phase import is_sidecar
from lifecycle.kubelet.pod_actions import PodActions
from lifecycle.kubelet.status import PodStatus, StartFailure
from lifecycle.kubelet.volumes import ObjectReferences

PodEvent = Callable[[Object, str, str, str, str], None]
"""Takes pod, type, reason, message and the container's name (empty: the pod itself)."""

BACK_OFF_PERIOD = 10.0
"""Seconds until something that failed without a back-off of its own is tried again."""

MINIMUM_GRACE_PERIOD = 2.0
"""Seconds a container gets after its pre-stop hook, whatever the hook took."""


def format_pod(pod: Object) -> str:
    """`name_namespace(uid)`. Upstream: `format.Pod`."""
    metadata = pod["metadata"]
    return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"


class RuntimeManager:
    """One per node.

    `failures[uid][name]`: why a container is not running though it should. `on_pod_sandbox_ready` is told before
    containers are started.
    """

    def __init__(
        self, runtime: Runtime, clock: Clock, images: ImageManager, references: ObjectReferences, event: PodEvent
    ) -> None:
        self._runtime = runtime
        self._clock = clock
        self._images = images
        self._references = references
        self._event = event
        self._backoff = Backoff()
        self._hooks = HookRunner(runtime)
        self.failures: dict[str, dict[str, StartFailure]] = {}
        self.on_pod_sandbox_ready: Callable[[Object], None] | None = None

    async def get_pod_status(self, uid: str) -> PodStatus:
        """What the runtime knows of a pod."""
        sandboxes = await self._runtime.list_pod_sandbox(uid)
        containers: list[ContainerStatus] = []
        for sandbox in sandboxes:
            containers += await self._runtime.list_containers(sandbox.id)
        return PodStatus(sandboxes, containers)

    async def sync_pod(self, pod: Object, runtime: PodStatus, actions: PodActions) -> float | None:
        """Carry a decision out. None: done; else something failed, and in so many seconds it may be tried again."""
        if actions.kill_pod:  # nothing is left to run but, perhaps, sidecars
            await self.kill_pod(pod, runtime, None)
            return None
        for container_id, why in actions.containers_to_kill.items():
            status = next(s for s in runtime.containers if s.id == container_id)
            await self._kill_container(pod, status, self._grace_period(pod), why)
        sandbox_id = actions.sandbox_id
        if actions.create_sandbox:
            try:
                sandbox_id = await self._create_sandbox(pod, actions.attempt)
            except RuntimeServiceError as error:
                message = f"Failed to create pod sandbox: {error}"
                self._event(pod, "Warning", "FailedCreatePodSandBox", message, "")
                return BACK_OFF_PERIOD
            if self.on_pod_sandbox_ready is not None:
                self.on_pod_sandbox_ready(pod)
        retry: float | None = None
        for container in [*actions.init_containers_to_start, *actions.containers_to_start]:
            runs = runtime.history(container["name"])
            failure = await self._start(pod, sandbox_id, container, runs)
            if failure is not None:
                retry = failure.retry_after if retry is None else min(retry, failure.retry_after)
        return retry

    async def _create_sandbox(self, pod: Object, attempt: int) -> str:
        metadata, spec = pod["metadata"], pod["spec"]
        with span("kubelet", "run_pod_sandbox", key=f"{metadata['namespace']}/{metadata['name']}", uid=metadata["uid"]):
            return await self._runtime.run_pod_sandbox(
                PodSandboxConfig(
                    PodSandboxMetadata(metadata["name"], metadata["uid"], metadata["namespace"], attempt),
                    hostname=spec.get("hostname") or metadata["name"],
                    labels=metadata.get("labels") or {},
                    host_network=bool(spec.get("hostNetwork")),
                )
            )

    # -- starting -----------------------------------------------------------------------------------------------------

    async def _start(
        self, pod: Object, sandbox_id: str, container: Object, runs: list[ContainerStatus]
    ) -> StartFailure | None:
        uid, name = pod["metadata"]["uid"], container["name"]
        failure = self._do_back_off(pod, container, runs)
        if failure is None:
            with span(
                "kubelet", "start_container", key=f"{pod['metadata']['namespace']}/{pod['metadata']['name']}", uid=uid
            ):
                failure = await self._start_container(pod, sandbox_id, container, runs)
        if failure is None:
            reasons = self.failures.get(uid)
            if reasons is not None:
                reasons.pop(name, None)
            return None
        self.failures.setdefault(uid, {})[name] = failure
        return failure

    def _do_back_off(self, pod: Object, container: Object, runs: list[ContainerStatus]) -> StartFailure | None:
        """Too soon? Asked about the newest run that had ended when the decision was taken."""
        latest = next((run for run in runs if run.state is ContainerState.EXITED), None)
        if latest is None:
            return None
        key = (pod["metadata"]["uid"], container["name"])
        now = self._clock.now()
        if self._backoff.is_in_backoff_since(key, latest.finished_at / 1e9, now):
            name = container["name"]
            message = f"Back-off restarting failed container {name} in pod {format_pod(pod)}"
            self._event(pod, "Warning", "BackOff", message, name)
            period = go_duration(self._backoff.get(key))
            return StartFailure(
                "CrashLoopBackOff",
                f"back-off {period} restarting failed container={name} pod={format_pod(pod)}",
                self._backoff.remaining(key, latest.finished_at / 1e9, now),
            )
        self._backoff.next(key, now)
        return None

    async def _start_container(
        self, pod: Object, sandbox_id: str, container: Object, runs: list[ContainerStatus]
    ) -> StartFailure | None:
        name = container["name"]

        def event(kind: str, reason: str, message: str) -> None:
            self._event(pod, kind, reason, message, name)

        try:
            await self._images.ensure_image_exists(pod, container, event)
        except ImageError as error:
            event("Warning", "Failed", f"Error: {error.reason}")
            return StartFailure(error.reason, error.message, error.retry_after)
        why = await self._references.environment_error(pod, container)
        if why:
            event("Warning", "Failed", f"Error: {why}")
            return StartFailure("CreateContainerConfigError", why)
        limit = ((container.get("resources") or {}).get("limits") or {}).get("memory")
        config = ContainerConfig(
            ContainerMetadata(name, runs[0].metadata.attempt + 1 if runs else 0),
            container["image"],
            tuple(container.get("command") or ()),
            tuple(container.get("args") or ()),
            parse_quantity(str(limit)).value() if limit else 0,
        )
        try:
            with span("kubelet", "create", container=name):
                container_id = await self._runtime.create_container(sandbox_id, config)
        except RuntimeServiceError as error:
            event("Warning", "Failed", f"Error: {error}")
            return StartFailure("CreateContainerError", str(error))
        event("Normal", "Created", "Container created")
        for old in runs[1:]:  # the last dead run is kept for its logs and its last state
            await self._runtime.remove_container(old.id)
        try:
            with span("kubelet", "start", container=name):
                await self._runtime.start_container(container_id)
        except RuntimeServiceError as error:
            event("Warning", "Failed", f"Error: {error}")
            return StartFailure("RunContainerError", str(error))
        event("Normal", "Started", "Container started")
        post_start = (container.get("lifecycle") or {}).get("postStart")
        if post_start:
            return await self._post_start(pod, container, container_id, post_start)
        return None

    async def _post_start(self, pod: Object, container: Object, container_id: str, hook: Object) -> StartFailure | None:
        status = await self._runtime.container_status(container_id)
        sandbox = await self._runtime.pod_sandbox_status(status.pod_sandbox_id)
        why = await self._hooks.run(container_id, container, hook, sandbox.ip)
        if not why:
            return None
        self._event(pod, "Warning", "FailedPostStartHook", "PostStartHook failed", container["name"])
        await self._kill_container(pod, status, self._grace_period(pod), "FailedPostStartHook")
        return StartFailure("PostStartHookError", "PostStartHook failed")

    # -- stopping -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _grace_period(pod: Object) -> float:
        return float(pod["spec"].get("terminationGracePeriodSeconds", 30))

    async def kill_pod(self, pod: Object, runtime: PodStatus, grace_period: float | None) -> None:
        """Stop all containers, sidecars last and in reverse order, then the sandbox."""
        grace = self._grace_period(pod) if grace_period is None else grace_period
        deadline = self._clock.now() + grace
        sidecars = [c["name"] for c in pod["spec"].get("initContainers") or () if is_sidecar(c)]
        running = [s for s in runtime.containers if s.state is ContainerState.RUNNING]
        first = [s for s in running if s.metadata.name not in sidecars]
        if len(first) == 1:
            await self._kill_container(pod, first[0], grace, "")
        elif first:
            await asyncio.gather(*(self._kill_container(pod, status, grace, "") for status in first))
        for name in reversed(sidecars):
            for status in running:
                if status.metadata.name == name:
                    left = max(deadline - self._clock.now(), 0.0) if first else grace
                    await self._kill_container(pod, status, left, "")
        for sandbox in runtime.sandboxes:
            await self._runtime.stop_pod_sandbox(sandbox.id)

    async def _kill_container(self, pod: Object, status: ContainerStatus, grace: float, why: str) -> None:
        name = status.metadata.name
        self._event(pod, "Normal", "Killing", why or f"Stopping container {name}", name)
        spec = pod["spec"]
        containers = [*spec["containers"], *(spec.get("initContainers") or ())]
        container = next((c for c in containers if c["name"] == name), None)
        hook = ((container or {}).get("lifecycle") or {}).get("preStop")
        if hook and container is not None and grace > 0:
            before = self._clock.now()
            sandbox = await self._runtime.pod_sandbox_status(status.pod_sandbox_id)
            failed = await self._hooks.run(status.id, container, hook, sandbox.ip, timeout=grace)
            if failed:
                self._event(pod, "Warning", "FailedPreStopHook", "PreStopHook failed", name)
            grace = max(grace - (self._clock.now() - before), MINIMUM_GRACE_PERIOD)
        await self._runtime.stop_container(status.id, grace)

    async def remove_pod(self, uid: str) -> None:
        """Forget everything about a pod that is gone."""
        self.failures.pop(uid, None)
        for sandbox in await self._runtime.list_pod_sandbox(uid):
            for status in await self._runtime.list_containers(sandbox.id):
                self._backoff.forget((uid, status.metadata.name))
            await self._runtime.remove_pod_sandbox(sandbox.id)
