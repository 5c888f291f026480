"""What pods request and may use: by their spec, and while they are resized."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import (
    PodResourcesOptions,
    ResourceList,
    aggregate_container_limits,
    aggregate_container_requests,
    is_pod_level_resources_set,
    is_pod_resize_infeasible,
    is_supported_pod_level_resource,
    pod_limits,
    pod_requests,
    resource_list,
)
from lifecycle.api.quota import usage
from lifecycle.api.resources import resource
from lifecycle.kubelet.cm.resource_config import resource_config_for_pod
from lifecycle.scheduler.framework import resources as scheduler

USE_STATUS = PodResourcesOptions(use_status_resources=True)
ALL_STATUS = PodResourcesOptions(use_status_resources=True, in_place_pod_level_resources=True)


def container(name: str, requests: Object | None = None, limits: Object | None = None, **more: Any) -> Object:
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def sidecar(name: str, requests: Object | None = None, limits: Object | None = None) -> Object:
    return container(name, requests, limits, restartPolicy="Always")


def both(name: str, **amounts: str) -> Object:
    """A container whose limits are its requests."""
    return container(name, amounts, amounts)


def pod(*containers: Object, init: tuple[Object, ...] = (), status: Object | None = None, **spec: Any) -> Object:
    meta = {"name": "p", "namespace": "n"}
    spec = {"containers": list(containers), "initContainers": list(init), **spec}
    return {"metadata": meta, "spec": spec, "status": status or {}}


def texts(quantities: ResourceList) -> Object:
    return {name: str(quantity) for name, quantity in quantities.items()}


INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


# -- by the spec ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (pod(), {}),
        (pod(both("a")), {}),
        (pod(both("a", cpu="1"), both("b", cpu="500m", memory="1Gi")), {"cpu": "1500m", "memory": "1Gi"}),
        # one init container at a time: only the largest counts, for each resource by itself
        (pod(both("a", cpu="1"), both("b", cpu="1"), init=(both("i", cpu="5"), both("j", cpu="1"))), {"cpu": "5"}),
        (
            pod(both("a", cpu="9", memory="1Gi"), init=(both("i", cpu="1", memory="2Gi"),)),
            {"cpu": "9", "memory": "2Gi"},
        ),
        # sidecars stay, and run beside what starts after them, but not beside what came before
        (pod(both("a", cpu="1"), init=({**both("s", cpu="1"), "restartPolicy": "Always"},)), {"cpu": "2"}),
        (
            pod(
                both("a", cpu="1"),
                init=(
                    both("i", cpu="11"),
                    sidecar("s", {"cpu": "1"}, {"cpu": "1"}),
                    sidecar("t", {"cpu": "2"}, {"cpu": "2"}),
                    both("j", cpu="10"),
                    sidecar("u", {"cpu": "3"}, {"cpu": "3"}),
                ),
            ),
            {"cpu": "13"},  # j beside s and t
        ),
        (
            pod(both("a", cpu="1"), init=(both("i", cpu="20"), sidecar("s", {"cpu": "5"}, {"cpu": "5"}))),
            {"cpu": "20"},
        ),
        # sub-milli amounts are added as they are
        (pod(both("a", memory="500m"), both("b", memory="500m")), {"memory": "1"}),
    ],
)
def test_requests_and_limits_are_those_of_the_moment_of_the_largest_need(of: Object, expected: Object) -> None:
    assert texts(pod_requests(of)) == texts(aggregate_container_requests(of)) == expected
    assert texts(pod_limits(of)) == texts(aggregate_container_limits(of)) == expected


def test_overhead_is_added_to_requests_and_to_limits_that_there_are() -> None:
    of = pod(
        container("a", {"cpu": "1"}, {"cpu": "2"}),
        container("b", {}, {"memory": "0"}),
        overhead={"cpu": "100m", "memory": "64Mi"},
    )
    assert texts(pod_requests(of)) == {"cpu": "1100m", "memory": "64Mi"}
    assert texts(pod_limits(of)) == {"cpu": "2100m", "memory": "0"}
    bare = PodResourcesOptions(exclude_overhead=True)
    assert texts(pod_requests(of, bare)) == {"cpu": "1"}
    assert texts(pod_limits(of, bare)) == {"cpu": "2", "memory": "0"}


def test_a_request_that_is_not_named_counts_for_something_and_one_of_zero_does_not() -> None:
    options = PodResourcesOptions(non_missing_container_requests=resource_list({"cpu": "100m", "memory": "200Mi"}))
    of = pod(container("a", {"cpu": "0"}), container("b", {"memory": "1Gi"}), init=(container("i", {"cpu": "1"}),))
    assert texts(pod_requests(of, options)) == {"cpu": "1", "memory": "1224Mi"}
    assert texts(pod_limits(of, options)) == {}


def test_what_the_pod_names_for_all_wins_where_it_can_be_named() -> None:
    asks = {"cpu": "3", "memory": "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "7"}
    of = pod(
        container("a", {"cpu": "1", "ephemeral-storage": "1Gi", "example.com/gpu": "1"}, {"hugepages-2Mi": "2Mi"}),
        resources={"requests": asks, "limits": asks},
        overhead={"cpu": "100m"},
    )
    kept = {"cpu": "3100m", "memory": "1Gi", "hugepages-2Mi": "4Mi"}
    assert texts(pod_requests(of)) == kept | {"ephemeral-storage": "1Gi", "example.com/gpu": "1"}
    assert texts(pod_limits(of)) == kept
    skipped = PodResourcesOptions(skip_pod_level_resources=True)
    assert texts(pod_requests(of, skipped)) == {"cpu": "1100m", "ephemeral-storage": "1Gi", "example.com/gpu": "1"}
    assert texts(pod_limits(of, skipped)) == {"hugepages-2Mi": "2Mi"}
    assert texts(pod_requests(of, PodResourcesOptions(skip_container_level_resources=True))) == kept


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        (None, False),
        ({}, False),
        ({"requests": {"ephemeral-storage": "1"}}, False),
        ({"limits": {"example.com/gpu": "1"}}, False),
        ({"requests": {"ephemeral-storage": "1", "cpu": "1"}}, True),
        ({"limits": {"hugepages-1Gi": "1Gi"}}, True),
    ],
)
def test_only_cpu_memory_and_huge_pages_are_named_for_the_whole_pod(resources: Object | None, expected: bool) -> None:
    assert is_pod_level_resources_set({"resources": resources}) is expected
    named = {*(resources or {}).get("requests", {}), *(resources or {}).get("limits", {})}
    assert any(map(is_supported_pod_level_resource, named)) is expected


def test_each_container_is_reported_with_what_it_counts_for() -> None:
    reported: list[Object] = []
    options = PodResourcesOptions(container_fn=lambda amounts: reported.append(texts(amounts)))
    init = (sidecar("s", {"cpu": "1"}), container("i", {"cpu": "5"}), sidecar("t", {"cpu": "2"}))
    pod_requests(pod(container("a", {"cpu": "1"}), container("b"), init=init), options)
    assert reported == [{"cpu": "1"}, {}, {"cpu": "1"}, {"cpu": "6"}, {"cpu": "3"}]


# -- in the light of the status ---------------------------------------------------------------------------------------


def container_status(resources: Object | None, allocated: Object | None = None, name: str = "c") -> Object:
    status: Object = {"name": name}
    if resources is not None:
        status["resources"] = resources
    return status | ({"allocatedResources": allocated} if allocated is not None else {})


@pytest.mark.parametrize("group", ["containerStatuses", "initContainerStatuses"])
@pytest.mark.parametrize(
    ("wanted", "status", "conditions", "by_status"),
    [
        # grows: the wish counts at once; shrinks: what is in force counts on
        ({"cpu": "4"}, container_status({"requests": {"cpu": "2"}}), [], {"cpu": "4"}),
        ({"cpu": "1"}, container_status({"requests": {"cpu": "2"}}), [], {"cpu": "2"}),
        ({"cpu": "4"}, container_status({"requests": {"cpu": "2"}}), DEFERRED, {"cpu": "4"}),
        # what cannot be granted does not count
        ({"cpu": "4"}, container_status({"requests": {"cpu": "2"}}), INFEASIBLE, {"cpu": "2"}),
        ({"cpu": "6"}, container_status({"requests": {"cpu": "2"}}, {"cpu": "4"}), INFEASIBLE, {"cpu": "4"}),
        # the largest of wish, grant and force, resource by resource
        (
            {"cpu": "30m", "memory": "20M", "ephemeral-storage": "10G"},
            container_status(
                {"requests": {"cpu": "10m", "memory": "30M", "ephemeral-storage": "20G"}},
                {"cpu": "20m", "memory": "10M", "ephemeral-storage": "30G"},
            ),
            [],
            {"cpu": "30m", "memory": "30M", "ephemeral-storage": "30G"},
        ),
        # nothing wanted any more, and still in force
        ({}, container_status({"requests": {"cpu": "2"}}), [], {"cpu": "2"}),
        # a status that tells nothing of resources
        ({"cpu": "1"}, container_status(None, {"cpu": "2"}), INFEASIBLE, {"cpu": "1"}),
    ],
)
def test_a_container_being_resized_counts_for_what_its_node_must_hold_ready(
    group: str, wanted: Object, status: Object, conditions: list[Object], by_status: Object
) -> None:
    told = {group: [status], "conditions": conditions}
    of = pod(container("c", wanted), status=told)
    if group == "initContainerStatuses":
        of = pod(init=(sidecar("c", wanted),), status=told)
    assert texts(pod_requests(of, USE_STATUS)) == by_status
    assert texts(pod_requests(of)) == wanted


@pytest.mark.parametrize(
    ("wanted", "in_force", "conditions", "expected"),
    [
        ("2Gi", {"memory": "1Gi"}, [], {"memory": "2Gi"}),
        ("1Gi", {"memory": "2Gi"}, [], {"memory": "2Gi"}),
        ("9Gi", {"memory": "2Gi"}, INFEASIBLE, {"memory": "2Gi"}),
        ("9Gi", None, INFEASIBLE, {}),
    ],
)
def test_limits_follow_the_status_too(
    wanted: str, in_force: Object | None, conditions: list[Object], expected: Object
) -> None:
    status = container_status({"limits": in_force} if in_force else {}, {"memory": "100Gi"})  # a grant limits nothing
    statuses = {"containerStatuses": [status], "conditions": conditions}
    of = pod(container("c", limits={"memory": wanted}), status=statuses)
    assert texts(pod_limits(of, USE_STATUS)) == expected
    assert texts(pod_limits(of)) == {"memory": wanted}


def test_an_ordinary_init_container_is_never_resized() -> None:
    statuses = [container_status({"requests": {"cpu": "9"}}, name="i")]
    of = pod(init=(container("i", {"cpu": "1"}),), status={"initContainerStatuses": statuses})
    assert texts(pod_requests(of, USE_STATUS)) == {"cpu": "1"}


@pytest.mark.parametrize(
    ("status", "requests", "limits"),
    [
        ({}, {"cpu": "1"}, {"cpu": "1"}),
        ({"allocatedResources": {"cpu": "5"}}, {"cpu": "1"}, {"cpu": "1"}),  # and nothing in force
        ({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}}, {"cpu": "2"}, {"cpu": "3"}),
        (
            {"resources": {"requests": {"cpu": "500m"}}, "allocatedResources": {"cpu": "4"}, "conditions": INFEASIBLE},
            {"cpu": "4"},
            {"cpu": "1"},
        ),
        ({"resources": {"limits": {"memory": "1Gi"}}, "conditions": INFEASIBLE}, {"cpu": "0"}, {"cpu": "0"}),
    ],
)
def test_a_pods_own_resources_follow_its_status_if_that_is_asked_for(
    status: Object, requests: Object, limits: Object
) -> None:
    own = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    of = pod(container("c", {"cpu": "100m"}), resources=own, status=status)
    assert texts(pod_requests(of, ALL_STATUS)) == requests
    assert texts(pod_limits(of, ALL_STATUS)) == limits
    for options in (USE_STATUS, PodResourcesOptions(in_place_pod_level_resources=True)):
        assert texts(pod_requests(of, options)) == texts(pod_limits(of, options)) == {"cpu": "1"}


def test_the_first_pending_condition_says_whether_a_resize_is_infeasible() -> None:
    assert is_pod_resize_infeasible({"conditions": [{"type": "Ready"}, *INFEASIBLE, *DEFERRED]})
    assert not is_pod_resize_infeasible({"conditions": [*DEFERRED, *INFEASIBLE]})
    assert not is_pod_resize_infeasible({})


# -- who asks ---------------------------------------------------------------------------------------------------------


def resized(wanted: str, in_force: str, conditions: list[Object] | None = None) -> Object:
    status = container_status({"requests": {"cpu": in_force}}, {"cpu": in_force})
    return pod(container("c", {"cpu": wanted}), status={"containerStatuses": [status], "conditions": conditions or []})


RESIZED_AS_A_WHOLE = pod(
    container("c"), resources={"requests": {"cpu": "1"}}, status={"resources": {"requests": {"cpu": "2"}}}
)


@pytest.mark.parametrize(
    ("of", "quota", "scheduled", "kubelet_shares"),
    [
        (resized("100m", "500m"), "500m", 500, 102),
        (resized("64", "1", INFEASIBLE), "1", 1000, 65536),
        (RESIZED_AS_A_WHOLE, "1", 2000, 1024),
    ],
)
def test_quota_scheduler_and_kubelet_differ_by_their_options_only(
    of: Object, quota: str, scheduled: int, kubelet_shares: int
) -> None:
    """A real 1.36.2 charges a quota 500m for the first and 1 for the third.

    The kubelet goes by what it has granted. Upstream that is a checkpoint, which an infeasible resize never enters; here every
    resize is granted at once.
    """
    assert str(usage(resource("pods"), of)["requests.cpu"]) == quota
    assert scheduler.pod_requests(of) == {"cpu": scheduled}
    assert resource_config_for_pod(of).cpu_shares == kubelet_shares
