"""Ties an eviction manager to a kubelet: whose pods it gives up, and through which
node's status it says why.

Upstream: `pkg/kubelet/kubelet.go` (`NewMainKubelet`,
`initializeRuntimeDependentModules`), v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.clock import Clock
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.kubelet.eviction.manager import EvictionManager
from lifecycle.kubelet.eviction.summary import Summary
from lifecycle.kubelet.eviction.thresholds import Threshold
from lifecycle.kubelet.kubelet import Kubelet


def attach(
    kubelet: Kubelet,
    client: Client,
    clock: Clock,
    measure: Callable[[], Awaitable[Summary]],
    thresholds: list[Threshold] | None = None,
) -> EvictionManager:
    """A manager for this kubelet's node. `measure()` is awaited for what is left;
    whoever has the manager runs it.
    """
    recorder = EventRecorder(client, "kubelet", clock=clock, host=kubelet.node_name)

    def event(
        pod: Object, kind: str, reason: str, message: str, container: str
    ) -> None:
        recorder.event(
            {"kind": "Pod", "apiVersion": "v1", "metadata": pod["metadata"]},
            kind,
            reason,
            message,
        )

    def node_event(kind: str, reason: str, message: str) -> None:
        name = kubelet.node_name
        recorder.event(
            {
                "kind": "Node",
                "apiVersion": "v1",
                "metadata": {"name": name, "uid": name},
            },
            kind,
            reason,
            message,
        )

    manager = EvictionManager(
        measure,
        kubelet.pod_workers.active_pods,
        kubelet.pod_workers.evict,
        clock.now,
        event=event,
        node_event=node_event,
        pressure_changed=kubelet.registration.report_status,
        thresholds=thresholds,
    )
    kubelet.registration.pressures = manager.node_conditions
    return manager
