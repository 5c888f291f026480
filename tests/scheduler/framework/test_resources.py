"""What pods ask for: containers, the pod as a whole, and what a resize in place leaves in between."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.framework.resources import non_zero_requests, pod_requests
from tests.scheduler.cluster_model import make_node

MI = 1024 * 1024


def container(name: str, **requests: str) -> Object:
    return {"name": name, "image": "x", "resources": {"requests": requests}} if requests else {"name": name}


def test_a_container_that_asks_for_nothing_counts_a_little_when_nodes_are_scored() -> None:
    pod = {"spec": {"containers": [container("a"), container("b", cpu="1")]}}
    assert pod_requests(pod) == {"cpu": 1000}
    assert non_zero_requests(pod, pod_requests(pod)) == {"cpu": 1100, "memory": 400 * MI}


@pytest.mark.parametrize(
    ("pod_level", "requests", "non_zero"),
    [
        # the pod's CPU wins over the containers' sum; nobody asks for memory, so both containers count the default
        ({"requests": {"cpu": "2"}}, {"cpu": 2000}, {"cpu": 2000, "memory": 400 * MI}),
        # everything said for the pod: nothing is made up
        ({"requests": {"cpu": "2", "memory": "1Mi"}}, {"cpu": 2000, "memory": MI}, {"cpu": 2000, "memory": MI}),
        # limits alone count as saying something, too: the one container's CPU is then all there is
        ({"limits": {"cpu": "2"}}, {"cpu": 100}, {"cpu": 100, "memory": 400 * MI}),
        # a resource that cannot be set for the whole pod stays the containers' business
        ({"requests": {"example.com/gpu": "1"}}, {"cpu": 100}, {"cpu": 200, "memory": 400 * MI}),
    ],
)
def test_what_is_asked_for_the_whole_pod(pod_level: Object, requests: Object, non_zero: Object) -> None:
    pod = {"spec": {"containers": [container("a", cpu="100m"), container("b")], "resources": pod_level}}
    assert pod_requests(pod) == requests
    assert non_zero_requests(pod, requests) == non_zero


def resized(wanted: str, actual: str, allocated: str, reason: str = "") -> Object:
    status = {"name": "c", "resources": {"requests": {"cpu": actual}}, "allocatedResources": {"cpu": allocated}}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "p"},
        "spec": {"containers": [container("c", cpu=wanted)], "nodeName": "n"},
        "status": {"containerStatuses": [status], "conditions": conditions},
    }


@pytest.mark.parametrize(
    ("pod", "cpu"),
    [
        (resized("1", "1", "1"), 1000),
        (resized("2", "1", "1"), 2000),  # grows: wanted already
        (resized("1", "2", "1"), 2000),  # shrinks: still in force
        (resized("1", "1", "3"), 3000),
        (resized("8", "1", "1", "Deferred"), 8000),
        (resized("8", "1", "2", "Infeasible"), 2000),  # will never be granted there
    ],
)
def test_a_pod_resized_in_place_counts_for_the_largest(pod: Object, cpu: int) -> None:
    assert pod_requests(pod) == {"cpu": cpu}


def test_init_containers_are_not_resized_but_sidecars_are() -> None:
    statuses = [{"name": n, "resources": {"requests": {"cpu": "3"}}} for n in ("first", "side")]
    first, side = container("first", cpu="1"), {**container("side", cpu="1"), "restartPolicy": "Always"}
    spec = {"containers": [container("c", cpu="1")], "initContainers": [first, side]}
    assert pod_requests({"spec": spec, "status": {"initContainerStatuses": statuses}}) == {"cpu": 4000}


def test_the_cache_hears_of_a_resize_that_only_the_status_tells() -> None:
    cache = Cache()
    cache.add_node(make_node("n"))
    cache.add_pod(resized("1", "2", "2"))
    assert cache.nodes["n"].requested.milli_cpu == 2000
    cache.update_pod(resized("1", "1", "1"))
    assert cache.nodes["n"].requested.milli_cpu == 1000
