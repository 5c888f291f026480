"""Which containers a runtime is told the CPUs of, and when once more."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager


class _Node:
    """A pod of two sandboxes, whose containers have states and CPUs by name."""

    def __init__(self, **containers: tuple[ContainerState, set[int]]) -> None:
        self.containers = containers
        self.told: list[tuple[str, str]] = []
        self.refuses: set[str] = set()
        self.manager = SimpleNamespace(
            remove_stale_state=lambda: None,
            _active_pods=lambda: [{"metadata": {"uid": "u"}}],
            _runtime=self,
            _last_update={},
            state=SimpleNamespace(get_or_default=lambda uid, name: frozenset(self.containers[name][1])),
        )

    async def list_pod_sandbox(self, uid: str) -> list[Any]:
        return [SimpleNamespace(id="old"), SimpleNamespace(id="new")]

    async def list_containers(self, sandbox: str) -> list[Any]:
        if sandbox == "old":
            return []
        return [
            SimpleNamespace(id=f"id-{name}", state=state, metadata=SimpleNamespace(name=name))
            for name, (state, _) in self.containers.items()
        ]

    async def update_container_resources(self, id: str, resources: dict[str, str]) -> None:
        if id in self.refuses:
            raise RuntimeServiceError("not now")
        self.told.append((id, resources["cpuset_cpus"]))

    def reconciled(self) -> list[tuple[str, str]]:
        return asyncio.run(CPUManager.reconcile_state(cast(Any, self.manager)))


RUNS, ENDED, MADE = ContainerState.RUNNING, ContainerState.EXITED, ContainerState.CREATED


def test_each_that_runs_is_told_its_own_once() -> None:
    """Upstream: `cpu_manager.go` (`reconcileState`). One that has none is passed over, and the others are told."""
    node = _Node(ended=(ENDED, {0}), none=(RUNS, set()), a=(RUNS, {1, 2, 3}), made=(MADE, {4}), b=(RUNS, {5}))
    assert node.reconciled() == [("a", "1-3"), ("b", "5")]
    assert node.told == [("id-a", "1-3"), ("id-b", "5")]
    assert node.reconciled() == []
    node.containers["a"] = (RUNS, {1})
    assert node.reconciled() == [("a", "1")]
    assert node.told == [("id-a", "1-3"), ("id-b", "5"), ("id-a", "1")]


def test_whom_the_runtime_could_not_tell_it_is_tried_again_and_others_are_told_at_once() -> None:
    node = _Node(a=(RUNS, {1}), b=(RUNS, {2}))
    node.refuses = {"id-a"}
    assert node.reconciled() == [("b", "2")]
    node.refuses = set()
    assert node.reconciled() == [("a", "1")]


def test_one_that_has_ended_in_between_is_told_anew() -> None:
    node = _Node(a=(RUNS, {1}))
    assert node.reconciled() == [("a", "1")]
    node.containers["a"] = (ENDED, {1})
    assert node.reconciled() == []
    node.containers["a"] = (RUNS, {1})
    assert node.reconciled() == [("a", "1")]
