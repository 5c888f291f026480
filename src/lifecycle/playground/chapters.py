"""Which page tells what one sees: paths below the book's `book/` folder."""

from __future__ import annotations

KINDS = {
    "Deployment": "control-loops/deployments",
    "ReplicaSet": "control-loops/replica-sets-and-ownership",
    "StatefulSet": "control-loops/the-controller-manager",
    "DaemonSet": "control-loops/the-controller-manager",
    "Job": "control-loops/the-controller-manager",
    "CronJob": "control-loops/the-controller-manager",
    "Pod": "kubelet/pod-sync",
    "Node": "control-loops/scheduler",
    "Service": "services/services-and-endpoints",
    "EndpointSlice": "services/services-and-endpoints",
    "ResourceQuota": "apiserver/admission",
    "PersistentVolumeClaim": "kubelet/volumes",
}

REASONS = {
    "Scheduled": "control-loops/binding",
    "FailedScheduling": "control-loops/the-scheduling-queue",
    "ScalingReplicaSet": "control-loops/deployments",
    "SuccessfulCreate": "control-loops/replica-sets-and-ownership",
    "SuccessfulDelete": "control-loops/replica-sets-and-ownership",
    "FailedCreate": "apiserver/admission",
    "Pulling": "kubelet/container-startup",
    "Pulled": "kubelet/container-startup",
    "Created": "kubelet/container-startup",
    "Started": "kubelet/container-startup",
    "Failed": "kubelet/container-startup",
    "BackOff": "kubelet/container-startup",
    "Killing": "kubelet/hooks-and-the-end-of-a-container",
    "Unhealthy": "kubelet/probes",
    "NodeNotReady": "kubelet/status",
    "NodeReady": "kubelet/status",
    "TaintManagerEviction": "control-loops/the-controller-manager",
    "Starting": "kubelet/pod-sync",
    "RegisteredNode": "control-loops/the-controller-manager",
}

REPORTERS = {
    "default-scheduler": "control-loops/scheduler",
    "kubelet": "kubelet/pod-sync",
    "deployment-controller": "control-loops/deployments",
    "replicaset-controller": "control-loops/replica-sets-and-ownership",
    "node-controller": "kubelet/status",
    "endpoint-slice-controller": "services/services-and-endpoints",
}


def chapter_of_event(reason: str, reporter: str) -> str:
    """Where an event is told; where controllers are, if it is nowhere in particular."""
    found = REASONS.get(reason) or REPORTERS.get(reporter)
    return found or "control-loops/the-controller-manager"
