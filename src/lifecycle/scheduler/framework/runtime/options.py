"""What a framework is built from: a registry of plugins, and what they may use.

Upstream: `pkg/scheduler/framework/runtime/registry.go` (`PluginFactory`, `Registry`),
`framework.go` (`frameworkOptions`, `WithClientSet` …), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.loop.clock import Clock
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.framework.change_log import ChangeLog
from lifecycle.scheduler.framework.handle import (
    Extender,
    Handle,
    PodActivator,
    PodNominator,
)
from lifecycle.scheduler.framework.interface import Plugin
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.waiting_pods_map import WaitingPodsMap

PluginFactory = Callable[[Mapping[str, Any], Handle], Plugin]
"""Makes a plugin from the profile's arguments for it and the framework it is for."""

Registry = Mapping[str, PluginFactory]
"""Plugins by name."""


class NoNominations:
    """A nominator for those who only decide: nobody has a place kept."""

    def add_nominated_pod(self, info: PodInfo, node_name: str) -> None: ...

    def delete_nominated_pod_if_exists(self, key: str) -> None: ...

    nodes: Collection[str] = ()
    changes: ChangeLog[str] = ChangeLog()

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]:
        return []

    def nominated_node_of(self, key: str) -> str:
        return ""

    def __bool__(self) -> bool:
        return False


class NoQueue:
    """For those who only decide: nobody waits."""

    def activate(self, key: str) -> None: ...


@dataclass(slots=True, frozen=True)
class Options:
    """What the plugins of a framework have to do with. Without a client they can
    decide, and nothing else.
    """

    listers: Listers = field(default_factory=Listers)
    nominator: PodNominator = field(default_factory=NoNominations)
    pod_activator: PodActivator = field(default_factory=NoQueue)
    client: Client | None = None
    informers: SharedInformerFactory | None = None
    event_recorder: EventRecorder | None = None
    clock: Clock = field(default_factory=Clock)
    waiting_pods: WaitingPodsMap = field(default_factory=WaitingPodsMap)
    extenders: Sequence[Extender] = ()
