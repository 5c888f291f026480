"""What the kernel is told of a pod as a whole: only what is limited in every container of it is limited in the pod."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.cm.resource_config import ResourceConfig, resource_config_for_pod

MIB = 1 << 20


def pod(*containers: tuple[dict[str, str], dict[str, str]], **spec: Any) -> dict[str, Any]:
    """Of each container requests and limits."""
    made = [{"name": str(n), "resources": {"requests": r, "limits": x}} for n, (r, x) in enumerate(containers)]
    return {"metadata": {}, "spec": {"containers": made, **spec}, "status": {}}


BOTH, MORE = {"cpu": "100m", "memory": "100Mi"}, {"cpu": "200m", "memory": "200Mi"}
CPU, MEMORY = {"cpu": "200m"}, {"memory": "200Mi"}
PODS: dict[str, tuple[dict[str, Any], tuple[int, int | None, int | None]]] = {
    # shares, quota, bytes
    "best effort": (pod(({}, {})), (2, None, None)),
    "burstable, nothing limited": (pod((BOTH, {})), (102, None, None)),
    "burstable, both limited": (pod((BOTH, MORE)), (102, 20000, 200 * MIB)),
    "burstable, one of two limited": (pod((BOTH, MORE), (BOTH, {})), (204, None, None)),
    "burstable, both of two limited": (pod((BOTH, MORE), (BOTH, MORE)), (204, 40000, 400 * MIB)),
    "burstable, CPU limited": (pod((BOTH, CPU)), (102, 20000, None)),
    "burstable, memory limited": (pod((BOTH, MEMORY)), (102, None, 200 * MIB)),
    "burstable, each limits something else": (pod((BOTH, CPU), (BOTH, MEMORY)), (204, None, None)),
    "burstable, only memory asked for": (pod(({"memory": "1Mi"}, {})), (2, None, None)),
    "burstable, hardly any CPU": (pod(({"cpu": "1m"}, {"cpu": "2m"})), (2, 1000, None)),
    "guaranteed": (pod((BOTH, BOTH)), (102, 10000, 100 * MIB)),
    "guaranteed, a whole CPU and a half": (
        pod(({"cpu": "1500m", "memory": "1Gi"}, {"cpu": "1500m", "memory": "1Gi"})),
        (1536, 150000, 1024 * MIB),
    ),
    "an init container takes more": (
        pod((BOTH, MORE), initContainers=[{"name": "i", "resources": {"requests": MORE, "limits": MORE}}]),
        (204, 20000, 200 * MIB),
    ),
    "an init container is not limited": (
        pod((BOTH, MORE), initContainers=[{"name": "i", "resources": {"requests": BOTH}}]),
        (102, None, None),
    ),
    "limited as a whole": (
        pod((BOTH, {}), resources={"requests": BOTH, "limits": MORE}),
        (102, 20000, 200 * MIB),
    ),
}


@pytest.mark.parametrize("case", PODS)
def test_a_pod_is_limited_where_nothing_in_it_is_not(case: str) -> None:
    """Upstream: `helpers_linux.go` (`ResourceConfigForPod`) and its own table, `TestResourceConfigForPod`."""
    asked, (shares, quota, memory) = PODS[case]
    period = 100_000 if quota is not None else None
    assert resource_config_for_pod(asked) == ResourceConfig(shares, quota, period, memory)


@pytest.mark.parametrize("case", PODS)
def test_where_cpu_limits_are_not_enforced_the_quota_is_none_and_all_else_is_as_it_was(case: str) -> None:
    asked, (shares, quota, memory) = PODS[case]
    period = 100_000 if quota is not None else None
    expected = ResourceConfig(shares, -1 if quota is not None else None, period, memory)
    assert resource_config_for_pod(asked, enforce_cpu_limits=False) == expected


def test_a_shorter_period_has_a_shorter_quota_and_never_less_than_a_millisecond() -> None:
    made = resource_config_for_pod(PODS["guaranteed"][0], cpu_period=20_000)
    assert (made.cpu_quota, made.cpu_period) == (2000, 20_000)
    assert resource_config_for_pod(PODS["guaranteed"][0], cpu_period=5_000).cpu_quota == 1000


@pytest.mark.parametrize("case", ["best effort", "burstable, nothing limited", "guaranteed"])
@pytest.mark.parametrize(("limit", "told"), [(-1, None), (0, None), (1, 1), (1024, 1024)])
def test_how_many_processes_there_may_be_is_the_nodes_to_say_for_every_pod(
    case: str, limit: int, told: int | None
) -> None:
    assert resource_config_for_pod(PODS[case][0], pod_pids_limit=limit).pids_limit == told


@pytest.mark.parametrize(
    ("limits", "pages"),
    [
        ({}, {}),
        ({"hugepages-2Mi": "4Mi"}, {"2MB": 4 * MIB}),
        ({"hugepages-1Gi": "1Gi", "hugepages-2Mi": "2Mi"}, {"1GB": 1024 * MIB, "2MB": 2 * MIB}),
        ({"hugepages-64Ki": "128Ki"}, {"64KB": 131072}),
    ],
)
def test_huge_pages_are_counted_by_their_size(limits: dict[str, str], pages: dict[str, int]) -> None:
    asked = pod(({**BOTH, **limits}, {**MORE, **limits}))
    assert resource_config_for_pod(asked).hugepage_limit == pages


@pytest.mark.parametrize(
    ("requests", "unified"), [(BOTH, {"memory.min": str(100 * MIB)}), ({"cpu": "1"}, {}), ({"memory": "0"}, {})]
)
def test_memory_that_is_asked_for_is_kept_for_the_pod_only_where_that_is_on(
    requests: dict[str, str], unified: dict[str, str]
) -> None:
    assert resource_config_for_pod(pod((requests, {})), memory_qos=True).unified == unified
    assert resource_config_for_pod(pod((requests, {}))).unified == {}
