"""From decision to calls: drives the container runtime until a pod is what it should
be.

For each container: is it too soon (back-off)? is the image here? is its environment
complete? create, start, post-start hook. Where it stops, the reason is kept and becomes
the container's `waiting` state; the events on the way are what `kubectl describe pod`
shows.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (`SyncPod`, `doBackOff`,
`KillPod`), `kuberuntime_container.go` (`startContainer`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lifecycle.api.go.duration import go_duration
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside
from lifecycle.api.tracing import span
from lifecycle.client.backoff import Backoff
from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.kubelet.cm.internal_container_lifecycle import InternalContainerLifecycle
from lifecycle.kubelet.container.container_facts import format_pod
from lifecycle.kubelet.container.expansion import ExpansionError
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.container.runtime import PodStatus, StartFailure
from lifecycle.kubelet.container.runtime_helper import (
    ContainerEnvironmentError,
    RecordEvent,
    RuntimeHelper,
)
from lifecycle.kubelet.images.image_manager import (
    ImageError,
    ImageManager,
)
from lifecycle.kubelet.kuberuntime.container_config import (
    generate_container_config,
    generate_pod_sandbox_config,
    hash_container,
)
from lifecycle.kubelet.kuberuntime.container_killer import (
    MINIMUM_GRACE_PERIOD,
    ContainerKiller,
)
from lifecycle.kubelet.kuberuntime.container_resources import linux_container_resources
from lifecycle.kubelet.kuberuntime.pod_actions import PodActions
from lifecycle.kubelet.kuberuntime.security_context import verify_run_as_non_root
from lifecycle.kubelet.kuberuntime.termination_message import with_message
from lifecycle.kubelet.lifecycle.handlers import HookRunner
from lifecycle.kubelet.logs.files import LogDirectories, LogsOfTheRuntime
from lifecycle.kubelet.userns.userns_manager import UsernsError

BACK_OFF_PERIOD = 10.0
"""Seconds until something that failed without a back-off of its own is tried again."""

WORD = 32
"""What a word of a command, or a variable, costs, as bytes of JSON to be read."""


class RuntimeManager:
    """One per node.

    `runtime_helper`: what the node adds to sandboxes and containers. `lifecycle`: who
    has the last word on a container's resources. `logs`: where they are files of this
    machine. `on_pod_sandbox_ready` is told before containers are started.
    `memory_capacity`: the node's, in bytes; a container's oom_score_adj is reckoned
    against it. `user_namespace(pod)`: CRI's `UserNamespace` of it; raises UsernsError.

    `failures[uid][name]`: why a container is not running though it should.
    """

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        images: ImageManager,
        runtime_helper: RuntimeHelper,
        event: PodEvent,
        *,
        lifecycle: InternalContainerLifecycle | None = None,
        logs: LogDirectories | None = None,
        on_pod_sandbox_ready: Callable[[Object], None] = lambda pod: None,
        memory_capacity: int = 1 << 34,
        user_namespace: Callable[[Object], dict[str, Any] | None] = lambda pod: None,
    ) -> None:
        self._runtime = runtime
        self._clock = clock
        self._images = images
        self._runtime_helper = runtime_helper
        self._event = event
        self._backoff = Backoff()
        self._hooks = HookRunner(runtime, event)
        self._killer = ContainerKiller(runtime, clock, self._hooks, event)
        self._lifecycle = lifecycle or InternalContainerLifecycle()
        self._logs = logs or LogsOfTheRuntime()
        self._on_pod_sandbox_ready = on_pod_sandbox_ready
        self._memory_capacity = memory_capacity
        self._user_namespace = user_namespace
        self.failures: dict[str, dict[str, StartFailure]] = {}

    async def stop(self) -> None:
        """End the hooks that nobody waits for."""
        await self._hooks.stop()

    async def get_pod_status(self, uid: str) -> PodStatus:
        """What the runtime knows of a pod."""
        sandboxes = await self._runtime.list_pod_sandbox(uid)
        containers: list[ContainerStatus] = []
        pauses = Pauses()
        for sandbox in sandboxes:
            for status in await self._runtime.list_containers(sandbox.id):
                containers.append(with_message(status, self._runtime.read_log))
                await pauses.pause()
        return PodStatus(sandboxes, containers)

    async def sync_pod(
        self, pod: Object, runtime: PodStatus, actions: PodActions
    ) -> float | None:
        """Carry a decision out. None: done; else something failed, and in so many
        seconds it may be tried again.
        """
        if actions.kill_pod:  # nothing is left to run but, perhaps, sidecars
            await self.kill_pod(pod, runtime, None)
            return None
        if actions.containers_to_reset:
            await self._reset(pod, actions.containers_to_reset)
            return 0.0  # at once: nobody tells of what was removed
        for container_id, kill_message in actions.containers_to_kill.items():
            status = next(s for s in runtime.containers if s.id == container_id)
            await self._killer.kill(pod, status, kill_message)
        sandbox_id = actions.sandbox_id
        if actions.create_sandbox:
            if runtime.sandboxes:
                message = "Pod sandbox changed, it will be killed and re-created."
                self._event(pod, "Normal", "SandboxChanged", message, "")
                await self.kill_pod(pod, runtime, None)
            try:
                sandbox_id = await self._create_sandbox(pod, actions.attempt)
            except (RuntimeServiceError, UsernsError) as error:
                message = f"Failed to create pod sandbox: {error}"
                self._event(pod, "Warning", "FailedCreatePodSandBox", message, "")
                return BACK_OFF_PERIOD
            self._on_pod_sandbox_ready(pod)
        for container in (
            actions.ephemeral_containers_to_start
        ):  # whether they can be started holds up nobody
            await self._start(pod, sandbox_id, container, [])
        retry: float | None = None
        pauses = Pauses()
        for container in [
            *actions.init_containers_to_start,
            *actions.containers_to_start,
        ]:
            await pauses.pause()  # a runtime in memory never does
            runs = runtime.history(container["name"])
            failure = await self._start(pod, sandbox_id, container, runs)
            if failure is not None:
                retry = (
                    failure.retry_after
                    if retry is None
                    else min(retry, failure.retry_after)
                )
        return retry

    async def _reset(self, pod: Object, runs: list[ContainerStatus]) -> None:
        """Stop and remove everything in the sandbox. Who did not ask for it gets no
        time to end.
        """
        for run in runs:
            if run.state is ContainerState.RUNNING:
                await self._killer.kill(pod, run, grace_period=0.0)
            await self._runtime.remove_container(run.id)

    async def _create_sandbox(self, pod: Object, attempt: int) -> str:
        metadata = pod["metadata"]
        with span(
            "kubelet",
            "run_pod_sandbox",
            key=f"{metadata['namespace']}/{metadata['name']}",
            uid=metadata["uid"],
        ):
            options = self._runtime_helper.sandbox(
                pod,
                lambda message: self._event(
                    pod, "Warning", "DNSConfigForming", message, ""
                ),
            )
            userns = self._user_namespace(pod)
            self._logs.make_directory(pod)
            return await self._runtime.run_pod_sandbox(
                generate_pod_sandbox_config(pod, attempt, **options, userns=userns)
            )

    # -- starting ----------------------------------------------------------------------

    async def _start(
        self,
        pod: Object,
        sandbox_id: str,
        container: Object,
        runs: list[ContainerStatus],
    ) -> StartFailure | None:
        uid, name = pod["metadata"]["uid"], container["name"]
        failure = self._do_back_off(pod, container, runs)
        if failure is None:
            with span(
                "kubelet",
                "start_container",
                key=f"{pod['metadata']['namespace']}/{pod['metadata']['name']}",
                uid=uid,
            ):
                failure = await self._start_container(pod, sandbox_id, container, runs)
        if failure is None:
            reasons = self.failures.get(uid)
            if reasons is not None:
                reasons.pop(name, None)
            return None
        self.failures.setdefault(uid, {})[name] = failure
        return failure

    def _do_back_off(
        self, pod: Object, container: Object, runs: list[ContainerStatus]
    ) -> StartFailure | None:
        """Too soon? Asked about the newest run that had ended when the decision was
        taken.
        """
        latest = next((run for run in runs if run.state is ContainerState.EXITED), None)
        if latest is None:
            return None
        # a container that was changed is another one, which has not failed yet
        key = (pod["metadata"]["uid"], container["name"], hash_container(container))
        now = self._clock.now()
        if self._backoff.is_in_backoff_since(key, latest.finished_at / 1e9, now):
            name = container["name"]
            message = (
                f"Back-off restarting failed container {name} in pod {format_pod(pod)}"
            )
            self._event(pod, "Warning", "BackOff", message, name)
            period = go_duration(self._backoff.get(key))
            return StartFailure(
                "CrashLoopBackOff",
                f"back-off {period} restarting failed container={name}"
                f" pod={format_pod(pod)}",
                self._backoff.remaining(key, latest.finished_at / 1e9, now),
            )
        self._backoff.next(key, now)
        return None

    async def _start_container(
        self,
        pod: Object,
        sandbox_id: str,
        container: Object,
        runs: list[ContainerStatus],
    ) -> StartFailure | None:
        name = container["name"]

        def event(kind: str, reason: str, message: str) -> None:
            self._event(pod, kind, reason, message, name)

        try:
            image = await self._images.ensure_image_exists(pod, container, event)
        except ImageError as error:
            event("Warning", "Failed", f"Error: {error.reason}")
            return StartFailure(error.reason, error.message)
        try:
            await self._ensure_image_volumes(pod, container)
        except ImageError as error:
            return StartFailure(error.reason, error.message)
        attempt = runs[0].metadata.attempt + 1 if runs else 0
        try:
            config = await self._generate_container_config(
                pod, container, attempt, sandbox_id, image, event
            )
        except ContainerEnvironmentError as error:
            event("Warning", "Failed", f"Error: {error}")
            return StartFailure("CreateContainerConfigError", str(error))
        try:
            with span("kubelet", "create", container=name):
                container_id = await self._runtime.create_container(sandbox_id, config)
        except RuntimeServiceError as error:
            event("Warning", "Failed", f"Error: {error.message}")
            return StartFailure("CreateContainerError", error.message)
        event("Normal", "Created", "Container created")
        for old in runs[
            1:
        ]:  # the last dead run is kept for its logs and its last state
            await self._runtime.remove_container(old.id)
        try:
            with span("kubelet", "start", container=name):
                await self._runtime.start_container(container_id)
        except RuntimeServiceError as error:
            event("Warning", "Failed", f"Error: {error.message}")
            return StartFailure("RunContainerError", error.message)
        event("Normal", "Started", "Container started")
        self._logs.link(pod, name, container_id, config.log_path)
        post_start = (container.get("lifecycle") or {}).get("postStart")
        if post_start:
            return await self._post_start(pod, container, container_id, post_start)
        return None

    async def _ensure_image_volumes(self, pod: Object, container: Object) -> None:
        """Pull the images that the container mounts; the events are the pod's. Raises
        ImageError. Upstream: `getImageVolumes`.
        """

        def event(kind: str, reason: str, message: str) -> None:
            self._event(pod, kind, reason, message, "")

        mounted = {each["name"] for each in container.get("volumeMounts") or ()}
        for volume in pod["spec"].get("volumes") or ():
            source = volume.get("image")
            if source is not None and volume["name"] in mounted:
                image = {
                    "image": source["reference"],
                    "imagePullPolicy": source.get("pullPolicy"),
                }
                await self._images.ensure_image_exists(pod, image, event)

    async def _generate_container_config(
        self,
        pod: Object,
        container: Object,
        attempt: int,
        sandbox_id: str,
        image: str,
        event: RecordEvent,
    ) -> ContainerConfig:
        """The config of a run, with all that this node and the image have to say.
        Raises ContainerEnvironmentError.
        """
        sandbox = await self._runtime.pod_sandbox_status(sandbox_id)
        envs, mounts = await self._runtime_helper.generate(
            pod, container, sandbox.ip, event
        )
        uid, username = await self._image_user(image)
        error_message = verify_run_as_non_root(pod, container, uid, username)
        if error_message:
            raise ContainerEnvironmentError(error_message)
        try:
            userns = self._user_namespace(pod)
        except UsernsError as error:
            raise ContainerEnvironmentError(str(error)) from None
        resources = self.desired_resources(pod, container)
        self._logs.make_directory(pod, container["name"])
        try:
            return await beside(
                WORD * (len(container.get("args") or ()) + len(envs)),
                partial(
                    generate_container_config,
                    image=image,
                    envs=envs,
                    mounts=mounts,
                    resources=resources,
                    image_uid=uid,
                    image_username=username,
                    userns=userns,
                ),
                pod,
                container,
                attempt,
            )
        except ExpansionError as error:
            raise ContainerEnvironmentError(str(error)) from None

    def desired_resources(self, pod: Object, container: Object) -> dict[str, Any]:
        """`LinuxContainerResources` of a run: what the pod says, and who has the last
        word.
        """
        return self._lifecycle.pre_create_container(
            pod,
            container,
            linux_container_resources(pod, container, self._memory_capacity),
        )

    async def _image_user(self, image: str) -> tuple[int | None, str]:
        """Whom an image names: a number, or a name. Neither: root. Upstream:
        `getImageUser`.
        """
        image_status = await self._runtime.image_status(image)
        if image_status is None:
            raise ContainerEnvironmentError(f'failed to get image "{image}"')
        return (
            (image_status.uid, "")
            if image_status.uid is not None
            else (None, image_status.username)
        )

    async def _post_start(
        self, pod: Object, container: Object, container_id: str, hook: Object
    ) -> StartFailure | None:
        status = await self._runtime.container_status(container_id)
        sandbox = await self._runtime.pod_sandbox_status(status.pod_sandbox_id)
        error_message = await self._hooks.run(
            pod, container_id, container, hook, sandbox.ip
        )
        if not error_message:
            return None
        self._event(
            pod,
            "Warning",
            "FailedPostStartHook",
            "PostStartHook failed",
            container["name"],
        )
        await self._killer.kill(pod, status, "FailedPostStartHook")
        return StartFailure("PostStartHookError", error_message)

    # -- stopping ----------------------------------------------------------------------

    async def kill_pod(
        self, pod: Object, runtime: PodStatus, grace_period: float | None
    ) -> None:
        """Stop all containers, sidecars last and in reverse order, then the sandbox."""
        await self._killer.kill_all(pod, runtime.containers, grace_period)
        for sandbox in runtime.sandboxes:
            await self._runtime.stop_pod_sandbox(sandbox.id)

    async def kill_unknown_pod(self, uid: str) -> None:
        """End and remove a pod of which only the runtime knows: how much time it gets
        stands in its annotations.
        """
        runtime = await self.get_pod_status(uid)
        for status in runtime.containers:
            if status.state is ContainerState.RUNNING:
                grace = status.annotations.get(
                    "io.kubernetes.pod.terminationGracePeriod", "30"
                )
                await self._runtime.stop_container(
                    status.id, max(float(grace), MINIMUM_GRACE_PERIOD)
                )
        for sandbox in runtime.sandboxes:
            await self._runtime.stop_pod_sandbox(sandbox.id)
        await self.remove_pod(uid)

    async def remove_pod(self, uid: str) -> None:
        """Forget everything about a pod that is gone."""
        self.failures.pop(uid, None)
        self._backoff.forget_all(uid)
        for sandbox in await self._runtime.list_pod_sandbox(uid):
            await self._runtime.remove_pod_sandbox(sandbox.id)
            self._logs.remove(sandbox.metadata)
