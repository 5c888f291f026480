"""The node object: a machine introduces itself, and keeps saying that it is there.

Two signs of life: a small lease every 10 seconds, which is all that the node lifecycle
controller watches closely, and the whole status every 5 minutes or when something
changed.

Upstream: `pkg/kubelet/kubelet_node_status.go` (`registerWithAPIServer`, `initialNode`,
`tryUpdateNodeStatus`), `nodestatus/setters.go`,
`component-helpers/apimachinery/lease/controller.go`, v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lifecycle.api.conditions import find_status_condition, last_transition_time
from lifecycle.api.http.wire import Object
from lifecycle.api.resource_names import is_extended_resource_name
from lifecycle.api.version import KUBERNETES_VERSION
from lifecycle.cri.apis.image import Image

DECLARED_FEATURES = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)

MAX_IMAGES_IN_STATUS = 50
MAX_NAMES_PER_IMAGE = 5
LEASE_DURATION_SECONDS = 40
KUBELET_PORT = 10250
LEASE_NAMESPACE = "kube-node-lease"

_CONDITIONS = (
    (
        "MemoryPressure",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
_PRESSURES = {
    "MemoryPressure": (
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
    ),
    "DiskPressure": ("KubeletHasDiskPressure", "kubelet has disk pressure"),
}
_EVENTS = {
    ("MemoryPressure", "False"): "NodeHasSufficientMemory",
    ("MemoryPressure", "True"): "NodeHasInsufficientMemory",
    ("DiskPressure", "False"): "NodeHasNoDiskPressure",
    ("DiskPressure", "True"): "NodeHasDiskPressure",
    ("PIDPressure", "False"): "NodeHasSufficientPID",
    ("PIDPressure", "True"): "NodeHasInsufficientPID",
    ("Ready", "True"): "NodeReady",
    ("Ready", "False"): "NodeNotReady",
}
NETWORK_NOT_READY = (
    "container runtime network not ready: NetworkReady=false"
    " reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not"
    " initialized"
)


def initial_node(
    name: str,
    labels: Mapping[str, str],
    taints: Sequence[Object],
    provider: str,
    pod_cidr: str,
    architecture: str = "amd64",
) -> Object:
    """The node as registered, without status. Raises nothing; what the API server adds
    is its business.
    """
    spec: Object = {}
    if pod_cidr:
        spec["podCIDR"] = pod_cidr
        spec["podCIDRs"] = [pod_cidr]
    if provider:
        spec["providerID"] = provider
    if taints:
        spec["taints"] = list(taints)
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "labels": {
                "beta.kubernetes.io/arch": architecture,
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": architecture,
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                **labels,
            },
            "annotations": {
                "volumes.kubernetes.io/controller-managed-attach-detach": "true"
            },
        },
        "spec": spec,
    }


def node_conditions(
    old: Sequence[Object],
    now: str,
    network_ready: bool,
    network_error: str = NETWORK_NOT_READY,
    pressures: Collection[str] = (),
) -> list[Object]:
    """All four, with the heartbeat now and the transition when the status last changed.
    `network_error`: the network is not ready. `pressures`: the conditions that are
    true.
    """
    states = [
        (
            (kind, "True", *_PRESSURES[kind])
            if kind in pressures
            else (kind, "False", reason, message)
        )
        for kind, reason, message in _CONDITIONS
    ]
    if network_ready:
        states.append(
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status")
        )
    else:
        states.append(("Ready", "False", "KubeletNotReady", network_error))
    conditions = []
    for kind, status, reason, message in states:
        conditions.append(
            {
                "type": kind,
                "status": status,
                "lastHeartbeatTime": now,
                "lastTransitionTime": last_transition_time(
                    find_status_condition(old, kind), status, now
                ),
                "reason": reason,
                "message": message,
            }
        )
    return conditions


def node_resources(
    known: Object, capacity: Mapping[str, str], allocatable: Mapping[str, str]
) -> tuple[Object, Object]:
    """Capacity and what of it can be given away, by the node's status so far and by
    what the kubelet itself knows.

    Somebody else may announce a resource of theirs in a node's capacity; it stays
    there, and all of it is given away. Once it is announced no longer, nothing of it
    is. Upstream: `MachineInfo`.
    """
    whole = {**(known.get("capacity") or {}), **capacity}
    kept = {
        name: amount
        for name, amount in (known.get("allocatable") or {}).items()
        if name in whole or not is_extended_resource_name(name)
    }
    others = {name: amount for name, amount in whole.items() if name not in capacity}
    return whole, {**kept, **others, **allocatable}


def node_status(
    known: Object,
    name: str,
    address: str,
    capacity: Mapping[str, str],
    allocatable: Mapping[str, str],
    images: Sequence[Image],
    conditions: list[Object],
    runtime: str,
    machine_info: Mapping[str, str],
    runtime_status: Mapping[str, Any],
    port: int = KUBELET_PORT,
) -> Object:
    """The whole status. `known`: what it was so far.

    `runtime`: such as `containerd://2.3.4`; `machine_info`: what is known of the
    machine, by fields of `nodeInfo`; `runtime_status`: the runtime's answer to CRI's
    `Status`; `port`: where the kubelet's own API is.
    """
    whole, given = node_resources(known, capacity, allocatable)
    return {
        "capacity": whole,
        "allocatable": given,
        "conditions": conditions,
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": {
            **machine_info,
            "containerRuntimeVersion": runtime,
            "kubeletVersion": KUBERNETES_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": machine_info.get("architecture", "amd64"),
        },
        "images": [
            {
                "names": [*image.repo_digests, *image.repo_tags][:MAX_NAMES_PER_IMAGE],
                "sizeBytes": image.size,
            }
            for image in images[:MAX_IMAGES_IN_STATUS]
        ],
        **runtime_features(runtime_status),
        "declaredFeatures": list(DECLARED_FEATURES),
    }


def condition_event(kind: str, status: str) -> str:
    """The reason of the event that tells of a condition's new status."""
    return _EVENTS[kind, status]


def node_status_has_changed(old: Object, new: Object) -> bool:
    """Whether there is more to tell than that the node is alive. Upstream:
    `nodeStatusHasChanged`.
    """
    known = {c["type"]: c for c in old.get("conditions") or ()}

    def without_heartbeat(condition: Object | None) -> Object | None:
        return condition and {**condition, "lastHeartbeatTime": None}

    if any(
        without_heartbeat(known.get(c["type"])) != without_heartbeat(c)
        for c in new["conditions"]
    ):
        return True
    return any(
        (old.get(key) or None) != (value or None)
        for key, value in new.items()
        if key != "conditions"
    )


_VERSION = re.compile(r"\s*v?(\d+(?:\.\d+)*)(.*)")
_SEMANTIC_REST = re.compile(r"(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def plain_version(text: str) -> str:
    """A runtime's version as a node shows it: `v2.1.0-rc.1` keeps its `-rc.1`, of
    `1.6.20~ds1`, which is no semantic version, only the numbers are left. Upstream:
    `kuberuntime.newRuntimeVersion`, `apimachinery/pkg/util/version`.
    """
    match = _VERSION.match(text)
    if match is None:
        return "Unknown"
    numbers, rest = match.groups()
    semantic = numbers.count(".") == 2 and _SEMANTIC_REST.fullmatch(rest)
    return f"{numbers}{rest}" if semantic else numbers


def runtime_features(status: Mapping[str, Any]) -> Object:
    """`runtimeHandlers` and `features` of a node, as far as its runtime tells.
    Upstream: `RuntimeHandlers`, `NodeFeatures`.
    """
    features_of_node: Object = {}
    handlers = status.get("runtime_handlers") or []
    if handlers:
        features_of_node["runtimeHandlers"] = [
            {
                "name": handler.get("name", ""),
                "features": {
                    "recursiveReadOnlyMounts": bool(
                        (handler.get("features") or {}).get(
                            "recursive_read_only_mounts"
                        )
                    ),
                    "userNamespaces": bool(
                        (handler.get("features") or {}).get("user_namespaces")
                    ),
                },
            }
            for handler in handlers
        ]
    features = status.get("features")
    if features is not None:
        features_of_node["features"] = {
            "supplementalGroupsPolicy": bool(features.get("supplemental_groups_policy"))
        }
    return features_of_node


def lease(name: str, node_uid: str, now: str) -> Object:
    """The node's lease, renewed now (a `MicroTime`)."""
    return {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node_uid}
            ],
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_DURATION_SECONDS,
            "renewTime": now,
        },
    }
