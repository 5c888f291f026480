"""What a status says about resources: of what runs, what its group has; else what was set aside."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.kubelet.cm.resource_config import ResourceConfig
from lifecycle.kubelet.kubelet_pods.resource_status import (
    canonical,
    container_resources,
    pod_resources_status,
    required_resources,
)


def run(state: ContainerState = ContainerState.RUNNING, **resources: Any) -> ContainerStatus:
    return ContainerStatus("id", "s", ContainerMetadata("c", 0), state, 0, "i", "r", resources=resources)


def container(limits: Any = None, requests: Any = None) -> dict[str, Any]:
    return {"name": "c", "resources": {"limits": limits, "requests": requests}}


@pytest.mark.parametrize("spec", [{}, {"resources": None}, {"resources": {"limits": None}}])
def test_who_wishes_for_nothing_has_nothing(spec: Any) -> None:
    assert required_resources(spec, "limits") == {}
    assert container_resources(spec, run(memory_limit_in_bytes=5, cpu_quota=5000, cpu_shares=1024)) == {}


def test_quantities_are_written_as_they_are_usually_written() -> None:
    assert canonical({"cpu": "1000m", "memory": "1024Ki", "pods": 3}) == {"cpu": "1", "memory": "1Mi", "pods": "3"}


LIMITS, REQUESTS = {"cpu": "2000m", "memory": "128974848"}, {"cpu": "0.5", "memory": "64Mi"}
SPELT = {"limits": {"cpu": "2", "memory": "128974848"}, "requests": {"cpu": "500m", "memory": "64Mi"}}


@pytest.mark.parametrize("state", [ContainerState.EXITED, ContainerState.CREATED])
def test_of_what_does_not_run_is_shown_what_was_set_aside(state: ContainerState) -> None:
    actual = run(state, memory_limit_in_bytes=5, cpu_quota=50_000, cpu_shares=1024)
    assert container_resources(container(LIMITS, REQUESTS), actual) == SPELT


@pytest.mark.parametrize(
    ("limits", "actual", "shown"),
    [
        (
            LIMITS,
            {"cpu_quota": 150_000, "cpu_period": 100_000, "memory_limit_in_bytes": 128974848},
            {"cpu": "1500m", "memory": "123Mi"},
        ),
        (LIMITS, {"cpu_quota": 150_000}, {"cpu": "1500m", "memory": "128974848"}),
        (LIMITS, {"cpu_quota": 150_000, "cpu_period": 50_000}, {"cpu": "3", "memory": "128974848"}),
        (LIMITS, {"cpu_quota": -1, "memory_limit_in_bytes": 0}, SPELT["limits"]),
        (LIMITS, {"cpu_quota": 0, "memory_limit_in_bytes": -1}, SPELT["limits"]),
        (LIMITS, {}, SPELT["limits"]),
        (LIMITS, {"memory_limit_in_bytes": 1}, {"cpu": "2", "memory": "1"}),
        ({"cpu": "5m"}, {"cpu_quota": 1000}, {"cpu": "5m"}),
        ({"cpu": "10m"}, {"cpu_quota": 1000}, {"cpu": "10m"}),
        ({"cpu": "5m"}, {"cpu_quota": 1100}, {"cpu": "11m"}),
        ({"cpu": "11m"}, {"cpu_quota": 1000}, {"cpu": "10m"}),
        ({"memory": "1Mi"}, {"cpu_quota": 50_000}, {"cpu": "500m", "memory": "1Mi"}),
    ],
)
def test_what_runs_has_the_limits_of_its_group(limits: Any, actual: Any, shown: Any) -> None:
    assert container_resources(container(limits), run(**actual)) == {"limits": shown}


@pytest.mark.parametrize(
    ("requests", "shares", "shown"),
    [
        (REQUESTS, 1024, {"cpu": "1", "memory": "64Mi"}),
        (REQUESTS, 102, {"cpu": "100m", "memory": "64Mi"}),
        (REQUESTS, 0, SPELT["requests"]),
        ({"cpu": "2m"}, 2, {"cpu": "2m"}),
        ({"cpu": "1m"}, 2, {"cpu": "1m"}),
        ({"cpu": "3m"}, 2, {"cpu": "2m"}),
        ({"cpu": "1m"}, 3, {"cpu": "3m"}),
        ({"memory": "64Mi"}, 1024, {"cpu": "1", "memory": "64Mi"}),
    ],
)
def test_what_runs_has_the_share_of_its_group(requests: Any, shares: int, shown: Any) -> None:
    assert container_resources(container(None, requests), run(cpu_shares=shares)) == {"requests": shown}


def pod(phase: str = "Running") -> dict[str, Any]:
    containers = [
        container({"cpu": "1", "memory": "1Mi"}, {"cpu": "500m"}),
        container({"cpu": "1", "memory": "2Mi"}, {"cpu": "1"}),
    ]
    return {"metadata": {}, "spec": {"containers": containers}, "status": {"phase": phase}}


def test_the_pod_as_a_whole_has_the_sum() -> None:
    requests = {"cpu": "1500m"}
    assert pod_resources_status(pod()) == (requests, {"limits": {"cpu": "2", "memory": "3Mi"}, "requests": requests})
    assert pod_resources_status({"metadata": {}, "spec": {"containers": [{"name": "c"}]}}) == ({}, {})


@pytest.mark.parametrize(
    ("cgroup", "limits"),
    [
        (ResourceConfig(), {"cpu": "2", "memory": "3Mi"}),
        (ResourceConfig(cpu_quota=-1, memory=0), {"cpu": "2", "memory": "3Mi"}),
        (ResourceConfig(cpu_quota=150_000), {"cpu": "1500m", "memory": "3Mi"}),
        (ResourceConfig(cpu_quota=150_000, cpu_period=50_000), {"cpu": "3", "memory": "3Mi"}),
        (ResourceConfig(memory=1 << 20), {"cpu": "2", "memory": "1Mi"}),
    ],
)
def test_a_pod_that_runs_has_the_limits_of_its_group(cgroup: ResourceConfig, limits: dict[str, str]) -> None:
    assert pod_resources_status(pod(), cgroup)[1]["limits"] == limits


def test_a_pod_that_does_not_run_has_what_was_set_aside() -> None:
    assert pod_resources_status(pod("Pending"), ResourceConfig(cpu_quota=150_000))[1]["limits"]["cpu"] == "2"


def test_below_the_smallest_quota_a_pod_has_what_it_asked_for() -> None:
    small = {"metadata": {}, "spec": {"containers": [container({"cpu": "5m"})]}, "status": {"phase": "Running"}}
    for quota, shown in ((1000, "5m"), (1100, "11m")):
        assert pod_resources_status(small, ResourceConfig(cpu_quota=quota))[1]["limits"] == {"cpu": shown}
