"""A pod's status, made from what the runtime says.

The kubelet keeps no opinion about a container: each time, the status is made anew from
the pod's spec, the containers that the runtime lists, the results of probes, and the
reason why a container could not be started, if there was one. Only where the runtime
has forgotten something is the status before it asked.

Upstream: `pkg/kubelet/kubelet_pods.go` (`generateAPIPodStatus`,
`convertStatusToAPIStatus`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.conditions import is_status_condition_true
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.restart_policy import all_containers_could_restart
from lifecycle.kubelet.container.container_facts import (
    has_any_active_regular_container_started,
    has_any_regular_container_started,
)
from lifecycle.kubelet.container.restart_all import (
    all_containers_restarting,
    should_all_containers_restart,
)
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kubelet_pods.container_statuses import (
    ContainerStatuses,
    StatusInputs,
)
from lifecycle.kubelet.kubelet_pods.phase import get_phase
from lifecycle.kubelet.kubelet_pods.resource_status import pod_resources_status
from lifecycle.kubelet.status.generate import (
    DISRUPTION_TARGET,
    KUBELET_CONDITIONS,
    condition,
    containers_ready,
    initialized,
    ready,
    ready_to_start_containers,
)
from lifecycle.kubelet.types.pod_update import is_static_pod

TIMES = ("lastProbeTime", "lastTransitionTime", "observedGeneration")


def generate_api_pod_status(
    pod: Object, runtime: PodStatus, inputs: StatusInputs, current: Object
) -> Object:
    """The whole status. `current`: the status as last reported.

    Times of conditions are left to the status manager.
    """
    spec = pod["spec"]
    restarting = should_all_containers_restart(spec, runtime, current)

    def statuses_of(key: str) -> ContainerStatuses:
        return ContainerStatuses(
            pod, runtime, inputs, current.get(key) or (), restarting=restarting
        )

    init_statuses = statuses_of("initContainerStatuses").of_init_containers()
    statuses = statuses_of("containerStatuses").of_containers()
    status: Object = {
        "phase": _phase(pod, runtime, inputs, [*init_statuses, *statuses], current)
    }
    generation = pod["metadata"].get("generation")
    if generation:
        status["observedGeneration"] = generation
    if status["phase"] == current.get("phase"):  # they belong to it
        for key in ("message", "reason"):
            value = current.get(key) or (pod.get("status") or {}).get(key)
            if value:
                status[key] = value
    status["conditions"] = _conditions(
        pod, runtime, inputs, current, status["phase"], init_statuses, statuses
    )
    status.update(_addresses(spec, runtime, inputs.host_ip, current))
    if init_statuses:
        status["initContainerStatuses"] = init_statuses
    status["containerStatuses"] = statuses
    if spec.get("ephemeralContainers"):
        status["ephemeralContainerStatuses"] = statuses_of(
            "ephemeralContainerStatuses"
        ).of_ephemeral_containers()
    status["qosClass"] = current.get("qosClass") or get_pod_qos(pod)
    allocated, resources = pod_resources_status(pod, inputs.pod_cgroup)
    if allocated:
        status["allocatedResources"] = allocated
    if inputs.pod_is_terminal and inputs.pod_cgroup is None:
        resources.pop(
            "limits", None
        )  # they are read from the pod's cgroup, and that is gone by now
    status["resources"] = resources
    return status


def _phase(
    pod: Object,
    runtime: PodStatus,
    inputs: StatusInputs,
    statuses: list[Object],
    current: Object,
) -> str:
    """What the containers say, unless the pod was over already."""
    begun = has_any_active_regular_container_started(pod, runtime)
    phase = get_phase(
        pod["spec"], statuses, inputs.pod_is_terminal, begun, static=is_static_pod(pod)
    )
    for before in (current.get("phase"), (pod.get("status") or {}).get("phase")):
        if is_pod_phase_terminal(before):
            return str(before)
    return phase


def _conditions(
    pod: Object,
    runtime: PodStatus,
    inputs: StatusInputs,
    current: Object,
    phase: str,
    init_statuses: list[Object],
    statuses: list[Object],
) -> list[Object]:
    """The kubelet's own. Others' count only for the readiness gates."""
    spec = pod["spec"]
    others = [
        c
        for c in (pod.get("status") or {}).get("conditions") or []
        if c["type"] not in KUBELET_CONDITIONS
    ]
    was_initialized = is_status_condition_true(current.get("conditions"), "Initialized")
    begun = has_any_regular_container_started(
        spec, {status["name"]: status for status in statuses}
    )
    containers = containers_ready(spec, statuses, init_statuses, phase)
    conditions = [
        ready_to_start_containers(
            runtime.ready_sandbox is not None and not inputs.pod_is_terminal
        ),
        initialized(spec, init_statuses, begun, phase, was_initialized),
        ready(spec, others, containers),
        containers,
        condition("PodScheduled", True),
    ]
    target = [
        c for c in current.get("conditions") or () if c["type"] == DISRUPTION_TARGET
    ]
    conditions = [
        *inputs.resize_conditions,
        *({k: v for k, v in c.items() if k not in TIMES} for c in target),
        *conditions,
    ]  # said once, and never taken back
    if all_containers_could_restart(spec):
        conditions.append(all_containers_restarting(spec, runtime, current, phase))
    return conditions


def _addresses(
    spec: Object, runtime: PodStatus, host_ip: str, current: Object
) -> Object:
    """The node's address, and the pod's: the sandbox's, or from the beginning the
    node's own for a pod in its network.
    """
    addresses: Object = {}
    if not host_ip:
        return addresses
    addresses["hostIP"] = host_ip
    addresses["hostIPs"] = [{"ip": host_ip}]
    address = (
        host_ip
        if spec.get("hostNetwork")
        else (runtime.sandboxes[0].ip if runtime.sandboxes else "")
    )
    address = address or current.get("podIP", "")
    if address:
        addresses["podIP"] = address
        addresses["podIPs"] = [{"ip": address}]
    return addresses
