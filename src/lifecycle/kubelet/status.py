"""A pod's status, made from what the runtime says.

The kubelet keeps no opinion about a container: each time, the status is made anew from the pod's spec, the containers
that the runtime lists, the results of probes, and the reason why a container could not be started, if there was one.

Upstream: `pkg/kubelet/kubelet_pods.go` (`generateAPIPodStatus`, `convertStatusToAPIStatus`,
`convertToAPIContainerStatuses`), v1.36. Left out: resize in place (what was allocated is what was asked for),
statuses of containers that the runtime lost, the memory "limit" that a cgroup v1 host reports
for the pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.api.clock import format_time
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object
from lifecycle.cri.runtime import ContainerState, ContainerStatus, PodSandboxState, PodSandboxStatus
from lifecycle.kubelet.conditions import condition, containers_ready, initialized, ready, ready_to_start_containers
from lifecycle.kubelet.phase import get_phase, is_sidecar, is_terminal
from lifecycle.kubelet.qos import compute_pod_qos
from lifecycle.kubelet.restart_policy import container_should_restart

EPOCH = "1970-01-01T00:00:00Z"


@dataclass(slots=True)
class PodStatus:
    """What the runtime knows of a pod. Upstream: `kubecontainer.PodStatus`. Both lists newest first."""

    sandboxes: list[PodSandboxStatus] = field(default_factory=list)
    containers: list[ContainerStatus] = field(default_factory=list)

    @property
    def ready_sandbox(self) -> PodSandboxStatus | None:
        """The sandbox in use."""
        if self.sandboxes and self.sandboxes[0].state is PodSandboxState.READY:
            return self.sandboxes[0]
        return None

    def history(self, name: str) -> list[ContainerStatus]:
        """All that is left of a container's runs, newest first."""
        return [status for status in self.containers if status.metadata.name == name]

    @property
    def active(self) -> list[ContainerStatus]:
        """The containers of the sandbox in use: what was done in an earlier one has to be done again."""
        sandbox = self.ready_sandbox
        return [status for status in self.containers if sandbox is not None and status.pod_sandbox_id == sandbox.id]

    @property
    def any_running(self) -> bool:
        """Whether something still runs."""
        return any(status.state is ContainerState.RUNNING for status in self.containers)


@dataclass(slots=True, frozen=True)
class StartFailure:
    """Why a container could not be started, as its `waiting` state says. Upstream: `reasonItem`."""

    reason: str
    message: str = ""
    retry_after: float = 10.0
    """Seconds until trying again makes sense."""


@dataclass(slots=True)
class StatusInputs:
    """What else goes into a status. `ready` and `started`: results of probes by container id, where there is a probe."""

    host_ip: str = ""
    failures: Mapping[str, StartFailure] = field(default_factory=dict)
    ready: Mapping[str, bool] = field(default_factory=dict)
    started: Mapping[str, bool] = field(default_factory=dict)
    pod_is_terminal: bool = False


def _time(nanoseconds: int) -> str:
    return format_time(nanoseconds // 1_000_000_000) if nanoseconds else EPOCH


def _terminated(status: ContainerStatus) -> Object:
    state: Object = {"exitCode": status.exit_code, "reason": status.reason}
    if status.message:
        state["message"] = status.message
    state["startedAt"] = _time(status.started_at)
    state["finishedAt"] = _time(status.finished_at)
    state["containerID"] = f"containerd://{status.id}"
    return {"terminated": state}


def _state(status: ContainerStatus) -> Object:
    if status.state is ContainerState.RUNNING:
        return {"running": {"startedAt": _time(status.started_at)}}
    if status.state is ContainerState.EXITED:
        return _terminated(status)
    return {"waiting": {}}


def _canonical(quantities: Object | None) -> Object:
    return {name: str(parse_quantity(str(text))) for name, text in (quantities or {}).items()}


def _resources(container: Object) -> Object:
    resources = container.get("resources") or {}
    return {key: _canonical(resources[key]) for key in ("limits", "requests") if resources.get(key)}


def _volume_mounts(container: Object) -> list[Object]:
    mounts = []
    for mount in container.get("volumeMounts") or ():
        shown: Object = {"name": mount["name"], "mountPath": mount["mountPath"]}
        if mount.get("readOnly"):
            shown["readOnly"] = True
            shown["recursiveReadOnly"] = (
                "Disabled" if mount.get("recursiveReadOnly") in (None, "Disabled") else "Enabled"
            )
        mounts.append(shown)
    return mounts


def _user(pod: Object, container: Object, run: ContainerStatus) -> Object:
    """Whom the first process runs as: the runtime says it, or else (a hollow one) the spec."""
    known = run.user.get("linux") or run.user
    if known:
        numbers = {key: known.get(key, 0) for key in ("uid", "gid")}
        return {"linux": {**numbers, "supplementalGroups": list(known.get("supplemental_groups") or ())}}
    pod_context = pod["spec"].get("securityContext") or {}
    context = container.get("securityContext") or {}
    uid = context.get("runAsUser", pod_context.get("runAsUser", 0))
    gid = context.get("runAsGroup", pod_context.get("runAsGroup", 0))
    groups = {gid, *(pod_context.get("supplementalGroups") or ())}
    if pod_context.get("fsGroup") is not None:
        groups.add(pod_context["fsGroup"])
    return {"linux": {"uid": uid, "gid": gid, "supplementalGroups": sorted(groups)}}


def _to_be_restarted(pod: Object, container: Object, run: ContainerStatus) -> bool:
    """Whether the next sync is to start it. Upstream: `ShouldContainerBeRestarted`, in `convertToAPIContainerStatuses`."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    return run.state is not ContainerState.EXITED or container_should_restart(pod["spec"], container, run.exit_code)


def container_status(
    pod: Object, container: Object, runs: list[ContainerStatus], inputs: StatusInputs, default_reason: str
) -> Object:
    """One entry of `containerStatuses`. `runs`: the container's runs, newest first."""
    name = container["name"]
    failure = inputs.failures.get(name)
    made: Object = {"name": name}
    if not runs:
        waiting: Object = {"reason": default_reason}
        if failure is not None:
            waiting = {"reason": failure.reason} | ({"message": failure.message} if failure.message else {})
        made.update(
            state={"waiting": waiting},
            lastState={},
            ready=False,
            restartCount=0,
            image=container["image"],
            imageID="",
            started=False,
        )
        if container.get("volumeMounts"):
            made["volumeMounts"] = _volume_mounts(container)
        return made
    latest = runs[0]
    running = latest.state is ContainerState.RUNNING
    state, last_state = _state(latest), _terminated(runs[1]) if len(runs) > 1 else {}
    if failure is not None and not running and _to_be_restarted(pod, container, latest):
        # it is to be restarted but was not: what is behind it is its last state now
        if latest.state is ContainerState.EXITED:
            last_state = _terminated(latest)
        state = {"waiting": {"reason": failure.reason} | ({"message": failure.message} if failure.message else {})}
    elif "waiting" in state:
        state = {"waiting": {"reason": default_reason}}
    made.update(
        state=state,
        lastState=last_state,
        ready=running and inputs.ready.get(latest.id, True),
        restartCount=latest.metadata.attempt,
        image=latest.image,
        imageID=latest.image_ref,
        containerID=f"containerd://{latest.id}",
        started=running and inputs.started.get(latest.id, True),
    )
    if made["ready"] and not made["started"]:
        made["ready"] = False
    requests = (container.get("resources") or {}).get("requests")
    if requests:
        made["allocatedResources"] = _canonical(requests)
    made["resources"] = _resources(container)
    if container.get("volumeMounts"):
        made["volumeMounts"] = _volume_mounts(container)
    made["user"] = _user(pod, container, latest)
    return made


def _init_status(pod: Object, container: Object, runs: list[ContainerStatus], inputs: StatusInputs) -> Object:
    made = container_status(pod, container, runs, inputs, "PodInitializing")
    if not is_sidecar(container):
        # ready means something else here: it has done its work
        ended = made["state"].get("terminated")
        made["ready"] = ended is not None and ended["exitCode"] == 0
    return made


def _pod_resources(pod: Object) -> tuple[Object, Object]:
    """The pod's `allocatedResources` and `resources`: sums over containers, limits only where all have them."""
    spec = pod["spec"]
    if spec.get("resources"):
        return _canonical(spec["resources"].get("requests")), _resources(spec)
    sums: dict[str, Object] = {}
    containers = [*spec["containers"], *(c for c in spec.get("initContainers") or () if is_sidecar(c))]
    for key in ("requests", "limits"):
        names: dict[str, int] = {}
        total: dict[str, object] = {}
        for container in containers:
            for name, text in ((container.get("resources") or {}).get(key) or {}).items():
                quantity = parse_quantity(str(text))
                names[name] = names.get(name, 0) + 1
                total[name] = total[name] + quantity if name in total else quantity  # type: ignore[operator]
        shown = {
            name: str(quantity)
            for name, quantity in total.items()
            if key == "requests" or (names[name] == len(containers) and name in ("cpu", "memory"))
        }
        if shown:
            sums[key] = shown
    return sums.get("requests", {}), {key: sums[key] for key in ("limits", "requests") if key in sums}


def generate_api_pod_status(pod: Object, runtime: PodStatus, inputs: StatusInputs, current: Object) -> Object:
    """The whole status. `current`: the status as last reported, for what others wrote into it.

    Times of conditions are left to the status manager.
    """
    spec = pod["spec"]
    init_containers = spec.get("initContainers") or ()
    init_statuses = [_init_status(pod, c, runtime.history(c["name"]), inputs) for c in init_containers]
    initializing = bool(init_containers) and not runtime_started_containers(pod, runtime)
    default_reason = "PodInitializing" if initializing or init_containers else "ContainerCreating"
    statuses = [
        container_status(pod, c, runtime.history(c["name"]), inputs, default_reason)
        for c in sorted(spec["containers"], key=lambda c: c["name"])
    ]
    phase = get_phase(spec, [*init_statuses, *statuses], inputs.pod_is_terminal)
    if is_terminal(current.get("phase")):
        phase = current["phase"]
    made: Object = {"phase": phase}
    generation = pod["metadata"].get("generation")
    if generation:
        made["observedGeneration"] = generation
    for key in ("message", "reason"):
        if current.get(key):
            made[key] = current[key]
    sandbox = runtime.ready_sandbox
    containers = containers_ready(spec, statuses, init_statuses, phase)
    others = (pod.get("status") or {}).get("conditions") or []
    made["conditions"] = [
        ready_to_start_containers(sandbox is not None and not inputs.pod_is_terminal),
        initialized(spec, init_statuses, runtime_started_containers(pod, runtime), phase),
        ready(spec, others, containers),
        containers,
        condition("PodScheduled", True),
    ]
    if inputs.host_ip:
        made["hostIP"] = inputs.host_ip
        made["hostIPs"] = [{"ip": inputs.host_ip}]
        address = inputs.host_ip if spec.get("hostNetwork") else (runtime.sandboxes[0].ip if runtime.sandboxes else "")
        if spec.get("hostNetwork") and not runtime.sandboxes:
            address = ""
        if not address:
            address = current.get("podIP", "")
        if address:
            made["podIP"] = address
            made["podIPs"] = [{"ip": address}]
    if init_statuses:
        made["initContainerStatuses"] = init_statuses
    made["containerStatuses"] = statuses
    if spec.get("ephemeralContainers"):
        made["ephemeralContainerStatuses"] = [
            container_status(pod, c, runtime.history(c["name"]), inputs, "ContainerCreating")
            for c in sorted(spec["ephemeralContainers"], key=lambda c: c["name"])
        ]
    made["qosClass"] = current.get("qosClass") or compute_pod_qos(pod)
    allocated, resources = _pod_resources(pod)
    if allocated:
        made["allocatedResources"] = allocated
    if inputs.pod_is_terminal:
        resources.pop("limits", None)  # they are read from the pod's cgroup, and that is gone by now
    made["resources"] = resources
    return made


def runtime_started_containers(pod: Object, runtime: PodStatus) -> bool:
    """Whether any of the pod's own containers has ever been started."""
    names = {container["name"] for container in pod["spec"]["containers"]}
    return any(status.metadata.name in names for status in runtime.containers)
