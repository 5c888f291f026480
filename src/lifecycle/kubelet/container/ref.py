"""Events about a node's pods: what `kubectl describe pod` shows at its end.

An event about a container names it by the path to it in the pod's spec.

Upstream: `pkg/kubelet/container/ref.go` (`GenerateContainerRef`, `fieldPath`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.client.events import EventRecorder

PodEvent = Callable[[Object, str, str, str, str], None]
"""Takes pod, type, reason, message and the container's name (empty: the pod itself)."""


class Events(Protocol):
    """Where a kubelet says what happens."""

    def pod_event(
        self, pod: Object, kind: str, reason: str, message: str, container: str
    ) -> None:
        """See `PodEvent`."""
        ...

    def node_event(self, kind: str, reason: str, message: str) -> None:
        """About the node itself."""
        ...

    async def stop(self) -> None:
        """No more requests."""
        ...


def field_path(pod: Object, container: str) -> str:
    """`spec.containers{name}`, or the like of an init container."""
    init_containers = pod["spec"].get("initContainers") or ()
    init = any(c["name"] == container for c in init_containers)
    return f"spec.{'initContainers' if init else 'containers'}{{{container}}}"


class RecordedEvents:
    """Written to the API server."""

    def __init__(self, recorder: EventRecorder, node_name: str) -> None:
        self._recorder = recorder
        self._node = {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {"name": node_name},
        }

    def pod_event(
        self, pod: Object, kind: str, reason: str, message: str, container: str
    ) -> None:
        path = field_path(pod, container) if container else ""
        reference = {"kind": "Pod", "apiVersion": "v1", "metadata": pod["metadata"]}
        self._recorder.event(reference, kind, reason, message, field_path=path)

    def node_event(self, kind: str, reason: str, message: str) -> None:
        self._recorder.event(self._node, kind, reason, message)

    async def stop(self) -> None:
        await self._recorder.stop()


class NoEvents:
    """Nothing is said: two thirds of the requests where thousands of pods are started
    for the numbers only.
    """

    def pod_event(
        self, pod: Object, kind: str, reason: str, message: str, container: str
    ) -> None:
        pass

    def node_event(self, kind: str, reason: str, message: str) -> None:
        pass

    async def stop(self) -> None:
        pass
