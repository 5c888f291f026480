"""Pods that write more than they may: what is measured, what is said, who has to go."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cri.disk_usage import disk_usage
from lifecycle.kubelet.container.ref import NoEvents
from lifecycle.kubelet.eviction.eviction_manager import EvictionManager, NodePressure
from lifecycle.kubelet.eviction.local_storage import is_limited, over_its_limit
from lifecycle.kubelet.eviction.storage_usage import LocalStorage, local_storage
from lifecycle.kubelet.stats.summary import ContainerUsage, Observation, PodUsage, Summary

Mi = 1 << 20


def pod(limits: dict[str, str | None], *volumes: Object, name: str = "p", priority: int = 0) -> Object:
    containers = [
        {"name": each, "resources": {"limits": {"ephemeral-storage": limit}} if limit else {}}
        for each, limit in limits.items()
    ]
    spec: Object = {"containers": containers, "volumes": list(volumes), "priority": priority}
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}


def scratch(name: str = "scratch", **source: Any) -> Object:
    return {"name": name, "emptyDir": source}


@pytest.mark.parametrize(
    ("given", "limited"),
    [
        (pod({"c": None}), False),
        (pod({"c": None}, scratch()), False),
        (pod({"c": None}, scratch(sizeLimit="0")), False),
        (pod({"c": None}, scratch(sizeLimit="1Mi")), True),
        (pod({"a": None, "b": "1Gi"}), True),
    ],
)
def test_who_has_no_limit_is_not_measured(given: Object, limited: bool) -> None:
    assert is_limited(given) is limited


CONTAINER = 'Container a exceeded its local ephemeral storage limit "5Mi". '
WHOLE = "Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. "
VOLUME = 'Usage of EmptyDir volume "scratch" exceeds the limit "2Mi". '


@pytest.mark.parametrize(
    ("given", "used", "said"),
    [
        (pod({"a": "5Mi"}), LocalStorage({"a": 5 * Mi}), ""),
        (pod({"a": "5Mi"}), LocalStorage({"a": 5 * Mi + 1}), WHOLE),
        (pod({"a": "5Mi"}), LocalStorage({"a": 5 * Mi}, rest=1), WHOLE),
        (pod({"a": "5Mi"}, scratch()), LocalStorage({"a": 4 * Mi}, {"scratch": 2 * Mi}), WHOLE),
        (pod({"a": "5Mi"}, scratch(medium="Memory")), LocalStorage({"a": 4 * Mi}, {"scratch": 2 * Mi}), ""),
        (pod({"a": "5Mi", "b": "5Mi"}), LocalStorage({"a": 6 * Mi, "b": 0}), CONTAINER),
        (pod({"a": "5Mi", "b": "5Mi"}), LocalStorage({"a": 4 * Mi, "b": 4 * Mi}), ""),
        (pod({"a": "5Mi", "b": None}), LocalStorage({"a": 1 * Mi, "b": 5 * Mi}), WHOLE),
        (pod({"a": None}, scratch(sizeLimit="2Mi")), LocalStorage({}, {"scratch": 2 * Mi}), ""),
        (pod({"a": None}, scratch(sizeLimit="2Mi")), LocalStorage({}, {"scratch": 2 * Mi + 1}), VOLUME),
        (pod({"a": "5Mi"}, scratch(sizeLimit="2Mi")), LocalStorage({"a": 9 * Mi}, {"scratch": 9 * Mi}), VOLUME),
    ],
)
def test_the_first_limit_that_is_passed_is_told(given: Object, used: LocalStorage, said: str) -> None:
    assert over_its_limit(given, used) == said


def test_layers_logs_and_scratch_volumes_are_measured(tmp_path: Path) -> None:
    places = (tmp_path / "kubelet", str(tmp_path / "pods"))
    logs = tmp_path / "pods" / "default_p_p" / "a"
    volume = tmp_path / "kubelet" / "pods" / "p" / "volumes" / "kubernetes.io~empty-dir" / "scratch"
    for folder in (logs, volume):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(os.urandom(Mi))
    (tmp_path / "kubelet" / "pods" / "p" / "etc-hosts").write_text("127.0.0.1 localhost\n")
    usage = PodUsage({"a": ContainerUsage(disk=3 * Mi), "b": ContainerUsage(disk=7)})
    found = local_storage(pod({"a": None, "b": None}, scratch()), usage, *places)
    assert found.containers == {"a": 3 * Mi + disk_usage(logs), "b": 7}
    assert found.empty_dirs == {"scratch": disk_usage(volume)}
    assert found.rest == disk_usage(tmp_path / "kubelet" / "pods" / "p" / "etc-hosts")
    assert found.containers["a"] >= 4 * Mi


def looked(pods: list[Object], written: dict[str, int]) -> tuple[list[str], dict[str, Object]]:
    """Who has to go after one look, and what becomes of them."""
    ended: dict[str, Object] = {}

    def evict(given: Object, failed: Any, grace: float) -> bool:
        ended[given["metadata"]["name"]] = failed({"phase": "Running"})
        return True

    async def measure() -> Summary:
        known = {name: PodUsage({"a": ContainerUsage(disk=size)}) for name, size in written.items()}
        return Summary({"memory.available": Observation(1 << 40, 1 << 40)}, known)

    async def nothing() -> None:
        pass

    async def look() -> list[Object]:
        manager = EvictionManager(
            measure,
            lambda: pods,
            evict,
            NodePressure(lambda: 0.0),
            events=NoEvents(),
            pressure_changed=nothing,
            measure_disk=lambda _, usage: LocalStorage({name: each.disk for name, each in usage.containers.items()}),
        )
        return await manager.synchronize()

    return [each["metadata"]["name"] for each in asyncio.run(look())], ended


def test_everybody_over_a_limit_has_to_go_at_once_though_there_is_plenty() -> None:
    pods = [pod({"a": "5Mi"}, name=name) for name in ("greedy", "modest", "greedier", "unknown")]
    gone, ended = looked(pods, {"greedy": 6 * Mi, "modest": 5 * Mi, "greedier": 9 * Mi})
    assert gone == ["greedy", "greedier"]
    status = ended["greedy"]
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Evicted", WHOLE)
    [condition] = status["conditions"]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "TerminationByKubelet")


def test_a_critical_pod_may_write_what_it_likes() -> None:
    assert looked([pod({"a": "5Mi"}, priority=2_000_000_000)], {"p": 9 * Mi}) == ([], {})
