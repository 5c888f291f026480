"""The last word on a pod: the kubelet may still refuse what the scheduler placed here.

Two schedulers can give away the same room, and pods may name their node themselves. So
before its worker starts, a pod passes a row of handlers; the first that says no ends
it: phase `Failed`, and nothing of it ever runs. Most of them ask about room and fit,
two about security (sysctls, AppArmor).

Upstream: `pkg/kubelet/lifecycle/interfaces.go` (`PodAdmitHandler`), `predicate.go`
(`predicateAdmitHandler.Admit`, `generalFilter`), `pkg/scheduler` (`AdmissionCheck`),
v1.36; handlers in the order of `NewMainKubelet`. Left out: preemption in favour of
critical pods, devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.pods.host_ports import host_ports, ports_conflict
from lifecycle.api.pods.resources import PodResourcesOptions, pod_requests
from lifecycle.api.pods.taints import Tolerations, untolerated
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resource_names import is_extended_resource_name
from lifecycle.kubelet.cm.resource_config import milli_values
from lifecycle.kubelet.lifecycle.interfaces import (
    ADMITTED,
    PodAdmitAttributes,
    PodAdmitResult,
)
from lifecycle.kubelet.types.pod_update import is_static_pod

NODE_AFFINITY_REASON = "node(s) didn't match Pod's node affinity/selector"
IN_FORCE = PodResourcesOptions(
    use_status_resources=True, in_place_pod_level_resources=True
)
"""How pods that are there count, as for the scheduler: while one shrinks, what it still
has is not free.
"""
DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before the name of a device class that is asked for as a resource."""
NATIVE_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")


def node_allocatable(attributes: PodAdmitAttributes) -> Mapping[str, str]:
    """What the node has to give, and with it what somebody has announced there. Before
    it is registered: what this kubelet is going to report. Upstream:
    `NodeInfo.SetNode`.
    """
    reported = (attributes.node.get("status") or {}).get("allocatable")
    return reported or attributes.allocatable


def without_missing_extended_resources(
    pod: Object, allocatable: Mapping[str, str]
) -> Object:
    """The pod without requests for what this node knows nothing of: it may be the
    cluster's. Nor is counted what a ResourceClaim was made for. Upstream:
    `removeMissingExtendedResources`.
    """
    claimed = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    backed = {
        (mapping.get("containerName"), mapping.get("resourceName"))
        for mapping in claimed.get("requestMappings") or ()
    }

    def counts(container: Object, name: str) -> bool:
        if (container["name"], name) in backed and _may_be_claimed(name):
            return False
        return name in allocatable or not is_extended_resource_name(name)

    def filtered(container: Object) -> Object:
        resources = container.get("resources") or {}
        requests = resources.get("requests") or {}
        kept = {name: requests[name] for name in requests if counts(container, name)}
        if len(kept) == len(requests):
            return container
        return {**container, "resources": {**resources, "requests": kept}}

    spec = pod["spec"]
    lists = {
        key: list(map(filtered, spec[key]))
        for key in ("containers", "initContainers")
        if spec.get(key)
    }
    return {**pod, "spec": {**spec, **lists}}


def _may_be_claimed(name: str) -> bool:
    """Upstream: `IsDRAExtendedResourceName`."""
    return is_extended_resource_name(name) or name.startswith(DEVICE_CLASS_PREFIX)


def predicate_failures(attributes: PodAdmitAttributes) -> Iterator[tuple[str, str]]:
    """Reason and message of each way in which the pod does not fit, in upstream's
    order.

    CPU counts in thousandths, all else in whole units.
    """
    others, node = attributes.other_pods, attributes.node
    allocatable = node_allocatable(attributes)
    pod = without_missing_extended_resources(attributes.pod, allocatable)
    spec = pod["spec"]
    limit = int(allocatable.get("pods", 110))
    if len(others) + 1 > limit:
        numbers = f"requested: 1, used: {len(others)}, capacity: {limit}"
        yield "OutOfpods", f"Node didn't have enough resource: pods, {numbers}"
    requests = milli_values(pod_requests(pod))
    if requests:
        used: dict[str, int] = {}
        for other in others:
            for name, value in milli_values(pod_requests(other, IN_FORCE)).items():
                used[name] = used.get(name, 0) + value
        for name in sorted(
            requests,
            key=lambda n: (
                NATIVE_RESOURCES.index(n) if n in NATIVE_RESOURCES else 9,
                n,
            ),
        ):
            if not requests[name]:
                continue
            capacity = parse_quantity(str(allocatable.get(name, "0"))).milli()
            if used.get(name, 0) + requests[name] > capacity:
                unit = 1 if name == "cpu" else 1000
                numbers = (
                    f"requested: {requests[name] // unit}, used:"
                    f" {used.get(name, 0) // unit}, capacity: {capacity // unit}"
                )
                yield (
                    f"OutOf{name}",
                    f"Node didn't have enough resource: {name}, {numbers}",
                )
    matches = required_node_affinity(spec)
    labels = node["metadata"].get("labels") or {}
    if matches is not None and not matches(node["metadata"]["name"], labels):
        yield "NodeAffinity", f"Predicate NodeAffinity failed: {NODE_AFFINITY_REASON}"
    if spec.get("nodeName") and spec["nodeName"] != node["metadata"]["name"]:
        yield (
            "NodeName",
            "Predicate NodeName failed: node(s) didn't match the requested node name",
        )
    ports = host_ports(pod)
    if ports and ports_conflict(
        {port for other in others for port in host_ports(other)}, ports
    ):
        yield (
            "NodePorts",
            (
                "Predicate NodePorts failed: node(s) didn't have free ports for the"
                " requested pod ports"
            ),
        )
    taints = (node.get("spec") or {}).get("taints") or ()
    if not is_static_pod(pod) and untolerated(
        taints, Tolerations(spec.get("tolerations") or ()), ("NoExecute",)
    ):
        yield (
            "TaintToleration",
            (
                "Predicate TaintToleration failed: node(s) had taints that the pod"
                " didn't tolerate"
            ),
        )


def predicate_handler(attributes: PodAdmitAttributes) -> PodAdmitResult:
    """Does the pod fit this node? Of several failures the first is told."""
    pod, node = attributes.pod, attributes.node
    os_label = (pod["metadata"].get("labels") or {}).get("kubernetes.io/os")
    if os_label is not None and os_label != "linux":
        return PodAdmitResult(
            False,
            "PodOSSelectorNodeLabelDoesNotMatch",
            "Failed to admit pod as the `kubernetes.io/os` label doesn't match node"
            " label",
        )
    if (pod["spec"].get("os") or {}).get("name", "linux") != "linux":
        return PodAdmitResult(
            False,
            "PodOSNotSupported",
            "Failed to admit pod as the OS field doesn't match node OS",
        )
    policy = (pod["spec"].get("securityContext") or {}).get("supplementalGroupsPolicy")
    features = (node.get("status") or {}).get("features") or {}
    if policy == "Strict" and not features.get("supplementalGroupsPolicy"):
        return PodAdmitResult(
            False,
            "SupplementalGroupsPolicyNotSupported",
            "SupplementalGroupsPolicy=Strict is not supported in this node",
        )
    for reason, message in predicate_failures(attributes):
        return PodAdmitResult(False, reason, message)
    return ADMITTED


def admit(
    pod: Object, others: Iterable[Object], node: Object, allocatable: Mapping[str, str]
) -> tuple[str, str]:
    """Reason and message of a refusal for want of room or fit; both empty if the pod
    may run. `others`: the admitted pods.
    """
    result = predicate_handler(PodAdmitAttributes(pod, list(others), node, allocatable))
    return result.reason, result.message
