"""What a source says about pods, and the kinds of pods that follow from it.

A pod from a file or a URL is *static*; what the API server shows of it is its *mirror*.
The kubelet tells them apart by annotations that it wrote itself.

Upstream: `pkg/kubelet/types/pod_update.go` (`PodUpdate`, `PodOperation`,
`IsStaticPod`, `IsMirrorPod`, `IsCriticalPod`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lifecycle.api.http.wire import Object

FILE, HTTP, API = "file", "http", "api"
CONFIG_SOURCE, CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN = (
    "kubernetes.io/config.source",
    "kubernetes.io/config.hash",
    "kubernetes.io/config.mirror",
    "kubernetes.io/config.seen",
)
LOCAL_ANNOTATIONS = {CONFIG_SOURCE, CONFIG_MIRROR, CONFIG_SEEN}
"""What the kubelet notes on its own copies: no change if it differs."""


class PodOperation(Enum):
    """What is to be done."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    REMOVE = "REMOVE"
    RECONCILE = "RECONCILE"


@dataclass(slots=True, frozen=True)
class PodUpdate:
    """One message of the stream."""

    op: PodOperation
    pods: tuple[Object, ...]
    source: str


SYSTEM_CRITICAL_PRIORITY = 2_000_000_000


def is_static_pod(pod: Object) -> bool:
    """Whether a pod came from a file or a URL."""
    source = (pod["metadata"].get("annotations") or {}).get(CONFIG_SOURCE)
    return source is not None and source != API


def is_mirror_pod(pod: Object) -> bool:
    """Whether a pod is only a picture of one."""
    return CONFIG_MIRROR in (pod["metadata"].get("annotations") or {})


def is_critical_pod(pod: Object) -> bool:
    """Whether a pod is admitted under pressure: static, mirror, or of a priority that
    only the system has.
    """
    return (
        is_static_pod(pod)
        or is_mirror_pod(pod)
        or (pod["spec"].get("priority") or 0) >= SYSTEM_CRITICAL_PRIORITY
    )
