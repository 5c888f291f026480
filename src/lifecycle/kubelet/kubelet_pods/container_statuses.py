"""The statuses of a pod's containers, made from what the runtime has of them and from
what was said before.

A container of which the runtime has nothing waits, and keeps what was said of it: how
often it was started, how it ended. Else its newest run is its state and the run before
it its last state. Then those are looked for that should run and could not be started:
they wait, and the reason is told.

Upstream: `pkg/kubelet/kubelet_pods.go` (`convertToAPIContainerStatuses`),
`pkg/kubelet/container/helpers.go` (`ShouldContainerBeRestarted`),
`pkg/kubelet/prober/prober_manager.go` (`UpdatePodStatus`), v1.36. Left out: digests of
image volumes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.api.pods.restart_policy import container_should_restart
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.kubelet.cm.resource_config import ResourceConfig
from lifecycle.kubelet.container.container_facts import (
    LOST_KILLED,
    STATUS_UNKNOWN,
    ended_unseen,
)
from lifecycle.kubelet.container.restart_all import (
    REMOVED_MESSAGE,
    RESTARTING_ALL_CONTAINERS,
)
from lifecycle.kubelet.container.runtime import PodStatus, StartFailure
from lifecycle.kubelet.kubelet_pods.resource_status import (
    canonical,
    container_resources,
    required_resources,
)

EPOCH = "1970-01-01T00:00:00Z"
CREATING, INITIALIZING = "ContainerCreating", "PodInitializing"


@dataclass(slots=True)
class StatusInputs:
    """What else goes into a status. `ready` and `started`: results of probes by
    container id, where there is a probe.
    """

    host_ip: str = ""
    failures: Mapping[str, StartFailure] = field(default_factory=dict)
    ready: Mapping[str, bool] = field(default_factory=dict)
    started: Mapping[str, bool] = field(default_factory=dict)
    pod_is_terminal: bool = False
    pod_cgroup: ResourceConfig | None = None
    """The limits that the kernel keeps for the pod, where it can be asked."""
    recursive_read_only: bool = False
    """Whether the runtime can make mounts so."""
    resize_conditions: Sequence[Object] = ()


_NOTHING: Object = {"state": {"waiting": {}}, "lastState": {}, "restartCount": 0}
"""What is missing where others than a kubelet have written a status."""


def _time(nanoseconds: int) -> str:
    return format_time(nanoseconds // 1_000_000_000) if nanoseconds else EPOCH


def _terminated(run: ContainerStatus) -> Object:
    state: Object = {"exitCode": run.exit_code, "reason": run.reason}
    if run.message:
        state["message"] = run.message
    state["startedAt"] = _time(run.started_at)
    state["finishedAt"] = _time(run.finished_at)
    state["containerID"] = f"containerd://{run.id}"
    return {"terminated": state}


def _state(run: ContainerStatus, before: Object | None, restarting: bool) -> Object:
    if run.state is ContainerState.RUNNING:
        return {"running": {"startedAt": _time(run.started_at)}}
    if run.state is ContainerState.EXITED:
        return _terminated(run)
    if (
        run.state is ContainerState.UNKNOWN
        and before is not None
        and "running" in before["state"]
    ):
        reason = RESTARTING_ALL_CONTAINERS if restarting else STATUS_UNKNOWN
        return ended_unseen(
            reason,
            "The container could not be located when the pod was terminated",
            LOST_KILLED,
        )
    return {"waiting": {}}


def _volume_mounts(container: Object, supports_recursive: bool) -> list[Object]:
    mounts = []
    for mount in container.get("volumeMounts") or ():
        mount_status: Object = {"name": mount["name"], "mountPath": mount["mountPath"]}
        if mount.get("readOnly"):
            mount_status["readOnly"] = True
            recursive = supports_recursive and mount.get("recursiveReadOnly") in (
                "IfPossible",
                "Enabled",
            )
            mount_status["recursiveReadOnly"] = "Enabled" if recursive else "Disabled"
        mounts.append(mount_status)
    return mounts


def _user(run: ContainerStatus) -> Object:
    """Whom the first process runs as; empty if the runtime does not say."""
    known = run.user.get("linux") or run.user
    if not known:
        return {}
    numbers = {key: known.get(key, 0) for key in ("uid", "gid")}
    groups = list(known.get("supplemental_groups") or ())
    return {"linux": {**numbers, "supplementalGroups": groups}}


def should_container_be_restarted(
    pod: Object, container: Object, run: ContainerStatus | None
) -> bool:
    """Whether the next sync is to start it. One that was made and never started is,
    whatever the policy; nothing of a pod that is being deleted is.
    """
    if pod["metadata"].get("deletionTimestamp"):
        return False
    if run is None or run.state in (ContainerState.CREATED, ContainerState.UNKNOWN):
        return True
    return run.state is ContainerState.EXITED and container_should_restart(
        pod["spec"], container, run.exit_code
    )


class ContainerStatuses:
    """Makes the statuses of one kind of a pod's containers. `before`: those last
    reported, by name.

    `restarting`: all containers of the pod are being started again.
    """

    def __init__(
        self,
        pod: Object,
        runtime: PodStatus,
        inputs: StatusInputs,
        before: Sequence[Object],
        *,
        restarting: bool = False,
    ) -> None:
        self._pod = pod
        self._runtime = runtime
        self._inputs = inputs
        self._before: Mapping[str, Object] = {
            entry["name"]: {**_NOTHING, **entry} for entry in before
        }
        self._restarting = restarting
        self._default_reason = (
            INITIALIZING if pod["spec"].get("initContainers") else CREATING
        )

    def of_containers(self) -> list[Object]:
        """The entries of `containerStatuses`, by name."""
        containers = sorted(self._pod["spec"]["containers"], key=lambda c: c["name"])
        return [self._probed(self._status(container)) for container in containers]

    def of_init_containers(self) -> list[Object]:
        """The entries of `initContainerStatuses`, in their order. *Ready* means of most
        of them: it has done its work.
        """
        statuses = []
        for container in self._pod["spec"].get("initContainers") or ():
            status = self._probed(self._status(container, init=True))
            if not is_restartable_init_container(container):
                ended = status["state"].get("terminated")
                status["ready"] = ended is not None and ended["exitCode"] == 0
            statuses.append(status)
        return statuses

    def of_ephemeral_containers(self) -> list[Object]:
        """The entries of `ephemeralContainerStatuses`, by name. Nobody probes them, so
        they are never ready.
        """
        containers = sorted(
            self._pod["spec"].get("ephemeralContainers") or (), key=lambda c: c["name"]
        )
        return [self._status(container) for container in containers]

    # -- one container -----------------------------------------------------------------

    def _status(self, container: Object, *, init: bool = False) -> Object:
        runs = self._runtime.history(container["name"])
        before = self._before.get(container["name"])
        status = (
            self._of_runs(container, runs, before)
            if runs
            else self._of_none(container, before)
        )
        latest = runs[0] if runs else None
        if (
            init
            and latest is not None
            and latest.state is ContainerState.EXITED
            and not latest.exit_code
        ):
            return status
        if (
            init
            and latest is None
            and not is_restartable_init_container(container)
            and "waiting" in status["state"]
            and self._initialized()
        ):
            message = (
                "Unable to get init container status from container runtime and pod has"
                " been initialized, treat it as exited normally"
            )
            status["state"] = ended_unseen("Completed", message, 0)
            return status
        failure = self._inputs.failures.get(container["name"])
        if failure is not None and should_container_be_restarted(
            self._pod, container, latest
        ):
            self._wait(status, failure)
        return status

    @staticmethod
    def _wait(status: Object, failure: StartFailure) -> None:
        """It is to be started but was not: what is behind it is its last state now."""
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        waiting = {"reason": failure.reason} | (
            {"message": failure.message} if failure.message else {}
        )
        status["state"] = {"waiting": waiting}

    def _initialized(self) -> bool:
        """Whether any of the pod's own containers was ever made. Upstream:
        `HasAnyRegularContainerCreated`.
        """
        return any(
            self._runtime.latest(container["name"])
            for container in self._pod["spec"]["containers"]
        )

    def _of_none(self, container: Object, before: Object | None) -> Object:
        """The runtime has nothing of it."""
        status: Object = {
            "name": container["name"],
            "state": {"waiting": {"reason": self._default_reason}},
            "lastState": {},
            "ready": False,
            "restartCount": 0,
            "image": container["image"],
            "imageID": "",
        }
        if container.get("volumeMounts"):
            status["volumeMounts"] = _volume_mounts(
                container, self._inputs.recursive_read_only
            )
        if before is None:
            return status
        if self._restarting and "waiting" not in before["state"]:
            if "terminated" in before["state"]:
                status = {**before}
            status["state"] = {
                "waiting": {
                    "reason": RESTARTING_ALL_CONTAINERS,
                    "message": REMOVED_MESSAGE,
                }
            }
            status["lastState"] = ended_unseen(
                RESTARTING_ALL_CONTAINERS, REMOVED_MESSAGE, LOST_KILLED
            )
            status["restartCount"] = before["restartCount"] + 1
            return status
        if "terminated" in before["state"]:
            return {**before}
        status["restartCount"], status["lastState"] = (
            before["restartCount"],
            before["lastState"],
        )
        if "running" in before["state"] and not status["lastState"]:
            message = (
                "The container could not be located when the pod was deleted.  The"
                " container used to be Running"
            )
            status["lastState"] = ended_unseen(STATUS_UNKNOWN, message, LOST_KILLED)
            if not self._pod["metadata"].get("deletionTimestamp"):
                status["restartCount"] += 1
        return status

    def _of_runs(
        self, container: Object, runs: Sequence[ContainerStatus], before: Object | None
    ) -> Object:
        """The newest run, and the one before it."""
        latest = runs[0]
        state = _state(latest, before, self._restarting)
        status: Object = {
            "name": container["name"],
            "state": (
                state
                if state != {"waiting": {}}
                else {"waiting": {"reason": self._default_reason}}
            ),
            "lastState": self._last_state(runs, before),
            "ready": False,
            "restartCount": self._restart_count(latest, before),
            "image": latest.image,
            "imageID": latest.image_ref,
            "containerID": f"containerd://{latest.id}",
        }
        requests = required_resources(container, "requests")
        if requests:
            status["allocatedResources"] = canonical(requests)
        status["resources"] = container_resources(container, latest)
        if container.get("volumeMounts"):
            status["volumeMounts"] = _volume_mounts(
                container, self._inputs.recursive_read_only
            )
        user = _user(latest)
        if user:
            status["user"] = user
        return status

    def _last_state(
        self, runs: Sequence[ContainerStatus], before: Object | None
    ) -> Object:
        if len(runs) > 1:
            return _state(runs[1], before, self._restarting)
        if before is None:
            return {}
        if (
            "terminated" in before["state"]
            and before.get("containerID") != f"containerd://{runs[0].id}"
        ):
            return dict(before["state"])
        return dict(before["lastState"])

    @staticmethod
    def _restart_count(run: ContainerStatus, before: Object | None) -> int:
        """The runtime counts the runs that it has; what was removed with all others is
        counted on from what was said.
        """
        if before is None:
            return run.metadata.attempt
        known: int = before["restartCount"]
        if (
            run.state is ContainerState.RUNNING
            and "terminated" in before["state"]
            and known >= run.metadata.attempt
        ):
            return known + 1
        if run.state is ContainerState.UNKNOWN and "running" in before["state"]:
            return known + 1
        return max(known, run.metadata.attempt)

    def _probed(self, status: Object) -> Object:
        """With what the probes say: it has started, it is ready."""
        running = "running" in status["state"]
        container_id = status.get("containerID", "").partition("://")[2]
        started = running and self._inputs.started.get(container_id, True)
        return {
            **status,
            "started": started,
            "ready": started and self._inputs.ready.get(container_id, True),
        }
