"""What a plugin may ask of the framework that it is part of.

Plugins know interfaces, this one among them, and nothing else of the scheduler: not
each other, not the queue, not the cache.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/interface.go` (`Handle`,
`PodNominator`, `PodActivator`, `WaitingPod`), `extender.go` (`Extender`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.framework.change_log import ChangeLog
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status


class PodNominator(Protocol):
    """Which nodes are kept for whom."""

    def add_nominated_pod(self, info: PodInfo, node_name: str) -> None: ...

    def delete_nominated_pod_if_exists(self, key: str) -> None: ...

    @property
    def nodes(self) -> Collection[str]: ...

    @property
    def changes(self) -> ChangeLog[str]: ...

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]: ...

    def nominated_node_of(self, key: str) -> str: ...

    def __bool__(self) -> bool: ...


class PodActivator(Protocol):
    """Brings waiting pods back."""

    def activate(self, key: str) -> None: ...


class WaitingPod(Protocol):
    """A pod that some Permit plugins want to wait."""

    @property
    def pod(self) -> Object: ...

    @property
    def pending_plugins(self) -> list[str]: ...

    def allow(self, plugin: str) -> None: ...

    def reject(self, plugin: str, message: str) -> bool: ...

    def preempt(self, plugin: str, message: str) -> bool: ...


PRIORITY_OFFSET = 2**31
"""Added to each priority before summing, so that more victims always weigh more."""


def start_time(info: PodInfo) -> str:
    """When the pod started; what has not comes last."""
    return str((info.pod.get("status") or {}).get("startTime") or "9999")


@dataclass
class Candidate:
    """Who would have to go from one node, the most important first. It is weighed once,
    and may be compared for many pods.
    """

    node: str
    victims: list[PodInfo]
    pdb_violations: int

    @cached_property
    def rank(self) -> tuple[int, int, int, int]:
        """Smaller hurts less."""
        priorities = [victim.priority for victim in self.victims]
        return (
            self.pdb_violations,
            max(priorities, default=-PRIORITY_OFFSET),
            sum(priority + PRIORITY_OFFSET for priority in priorities),
            len(priorities),
        )

    @cached_property
    def earliest(self) -> str:
        """When the first of the most important victims started."""
        highest = max((victim.priority for victim in self.victims), default=0)
        starts = [start_time(v) for v in self.victims if v.priority == highest]
        return min(starts, default="")


class ExtenderError(Exception):
    """The extender could not be asked, or said no. The text is what users see."""


class Extender(Protocol):
    """Somebody else's opinion, as far as preemption asks for it."""

    @property
    def ignorable(self) -> bool: ...

    @property
    def supports_preemption(self) -> bool: ...

    def is_interested(self, pod: Object) -> bool: ...

    async def process_preemption(
        self, info: PodInfo, candidates: Sequence[Candidate]
    ) -> list[Candidate]: ...


class Handle(Protocol):
    """What a plugin is built with. `client`, `informers` and `event_recorder` are None
    where there is no cluster to talk to.
    """

    @property
    def profile_name(self) -> str: ...

    @property
    def listers(self) -> Listers: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def client(self) -> Client | None: ...

    @property
    def informers(self) -> SharedInformerFactory | None: ...

    @property
    def event_recorder(self) -> EventRecorder | None: ...

    @property
    def nominator(self) -> PodNominator: ...

    @property
    def pod_activator(self) -> PodActivator: ...

    @property
    def extenders(self) -> Sequence[Extender]: ...

    def run_filter_plugins_with_nominated_pods(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Status | None: ...

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None: ...

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None: ...

    def iterate_over_waiting_pods(self) -> Iterable[WaitingPod]: ...

    def get_waiting_pod(self, uid: str) -> WaitingPod | None: ...

    def reject_waiting_pod(self, uid: str) -> bool: ...
