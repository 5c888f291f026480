"""Nodes, pods and a scheduling loop without an API server."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_labels
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.config import Profile
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import new_framework
from lifecycle.scheduler.schedule_pod import Algorithm, ScheduleResult


def make_node(
    name: str, *, labels: dict[str, str] | None = None, taints: tuple[Object, ...] = (), **allocatable: str
) -> Object:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": list(taints)},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", **allocatable}},
    }


def make_pod(
    name: str, *, labels: dict[str, str] | None = None, requests: dict[str, str] | None = None, **spec: Any
) -> Object:
    container: Object = {"name": "c", "image": "nginx:1.27"}
    if requests:
        container["resources"] = {"requests": requests}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def by_app(pod: Object) -> Selector | None:
    """As if every pod with an `app` label belonged to a Service."""
    app = (pod["metadata"].get("labels") or {}).get("app")
    return selector_from_labels({"app": app}) if app else None


class Model:
    """Schedules pods one by one, each counted on its node at once."""

    def __init__(
        self,
        nodes: list[Object],
        *,
        batch: bool,
        seed: int = 1,
        find_selector: Callable[[Object], Selector | None] = by_app,
        percentage: int = 0,
        framework: Framework | None = None,
        **listers: Any,
    ) -> None:
        self.cache = Cache()
        for node in nodes:
            self.cache.add_node(node)
        self.snapshot = Snapshot()
        self.nominator = Nominator()
        options = Options(Listers(find_selector=find_selector, **listers), self.nominator)
        self.framework = framework or new_framework(Profile(), options)
        self.algorithm = Algorithm(
            self.framework,
            self.snapshot,
            rng=random.Random(seed),
            batch=batch,
            percentage_of_nodes_to_score=percentage,
        )

    def decide(self, pod: Object) -> ScheduleResult:
        self.cache.update_snapshot(self.snapshot)
        return self.algorithm.schedule_pod(CycleState(), PodInfo(pod))

    def place(self, pod: Object) -> str:
        """The node's name, or what FitError says."""
        try:
            host = self.decide(pod).suggested_host
        except FitError as error:
            return str(error)
        self.cache.assume_pod(PodInfo({**pod, "spec": {**pod["spec"], "nodeName": host}}))
        return host


def snapshot_of(nodes: Iterable[Object], pods: Iterable[Object] = ()) -> Snapshot:
    """What the scheduler sees of these nodes and of these pods, which have theirs."""
    cache, snapshot = Cache(), Snapshot()
    for node in nodes:
        cache.add_node(node)
    for pod in pods:
        cache.add_pod(pod)
    cache.update_snapshot(snapshot)
    return snapshot
