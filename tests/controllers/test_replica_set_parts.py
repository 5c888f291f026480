"""The parts of the ReplicaSet controller on their own: batches, victims, expectations, names."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, Clock, format_time, run_virtual
from lifecycle.api.status import failure
from lifecycle.client.keyed_worker import RetryError
from lifecycle.controllers.consistency_store import ConsistencyStore
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.pod_control import pods_prefix
from lifecycle.controllers.replicaset.manage_replicas import manage_replicas
from lifecycle.controllers.replicaset.slow_start_batch import slow_start_batch
from lifecycle.controllers.replicaset.status import calculate_status
from lifecycle.controllers.replicaset.victim_ranking import POD_DELETION_COST, get_pods_to_delete

NOW = VIRTUAL_EPOCH


def batches(count: int, fail_at: int | None = None) -> tuple[list[int], int, Exception | None]:
    """The sizes of the batches, and what `slow_start_batch` answers."""
    sizes: list[int] = []
    calls = 0
    running = 0

    async def create() -> None:
        nonlocal calls, running
        calls += 1
        mine = calls
        running += 1
        await asyncio.sleep(0)
        if running:
            sizes.append(running)
            running = 0
        if mine == fail_at:
            raise ValueError("quota")

    successes, error = run_virtual(slow_start_batch(count, 1, create))
    return sizes, successes, error


def test_batches_double() -> None:
    assert batches(10) == ([1, 2, 4, 3], 10, None)
    assert batches(1) == ([1], 1, None)
    assert batches(0) == ([], 0, None)


def test_the_first_failure_ends_it() -> None:
    sizes, successes, error = batches(500, fail_at=1)
    assert (sizes, successes, str(error)) == ([1], 0, "quota")
    sizes, successes, error = batches(500, fail_at=5)
    assert (sizes, successes) == ([1, 2, 4], 6)  # the batch it happens in is finished


@given(st.integers(0, 200), st.integers(1, 200))
def test_successes_are_counted_right(count: int, fail_at: int) -> None:
    sizes, successes, error = batches(count, fail_at)
    failed = fail_at <= count
    assert successes == sum(sizes) - failed
    assert (error is not None) == failed


def a_pod(name: str, **facts: Any) -> Object:
    """`node`, `phase`, `ready` (age in seconds), `age`, `restarts`, `cost`."""
    status: Object = {"phase": facts.get("phase", "Running")}
    if "ready" in facts:
        status["conditions"] = [
            {"type": "Ready", "status": "True", "lastTransitionTime": format_time(NOW - facts["ready"])}
        ]
    if "restarts" in facts:
        status["containerStatuses"] = [{"restartCount": 0}, {"restartCount": facts["restarts"]}]
    meta: Object = {"name": name, "uid": name, "creationTimestamp": format_time(NOW - facts.get("age", 1000))}
    if "cost" in facts:
        meta["annotations"] = {POD_DELETION_COST: facts["cost"]}
    return {"metadata": meta, "spec": {"nodeName": facts.get("node", "n")}, "status": status}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (a_pod("b", node=""), a_pod("a", phase="Pending")),
        (a_pod("b", phase="Pending"), a_pod("a", phase="Unknown")),
        (a_pod("b", phase="Unknown"), a_pod("a")),
        (a_pod("b"), a_pod("a", ready=10)),
        (a_pod("b", ready=1000, cost="-5"), a_pod("a", ready=10)),
        (a_pod("b", ready=10), a_pod("a", ready=1000)),
        (a_pod("b", ready=100, restarts=3), a_pod("a", ready=100, restarts=1)),
        (a_pod("b", ready=100, age=100), a_pod("a", ready=100, age=9000)),
        (a_pod("a", ready=1000), a_pod("b", ready=1010)),  # one order of magnitude: the uid decides
    ],
)
def test_who_goes_first(first: Object, second: Object) -> None:
    for order in ([first, second], [second, first]):
        assert get_pods_to_delete(order, order, 1, NOW) == [first]


def test_crowded_nodes_give_up_theirs_first() -> None:
    pods = [a_pod("a", node="n1", ready=10), a_pod("b", node="n2", ready=5000)]
    elsewhere = [a_pod("c", node="n2", ready=10), a_pod("d", node="n2", ready=10)]
    assert get_pods_to_delete(pods, [*pods, *elsewhere], 1, NOW) == [pods[1]]


@pytest.mark.parametrize("cost", ["", "x", "01", "+1", "2147483648", "1.5"])
def test_an_illegal_deletion_cost_counts_as_none(cost: str) -> None:
    cheap, odd = a_pod("a", ready=100, cost="-1"), a_pod("b", ready=100, cost=cost)
    assert get_pods_to_delete([odd, cheap], [], 1, NOW) == [cheap]


def test_expectations_hold_until_seen_or_five_minutes() -> None:
    async def main() -> None:
        expectations = ControllerExpectations(Clock())
        assert expectations.satisfied("rs")
        expectations.expect_creations("rs", 2)
        expectations.creation_observed("rs")
        assert not expectations.satisfied("rs")
        expectations.creation_observed("rs")
        assert expectations.satisfied("rs")
        expectations.expect_deletions("rs", ["a", "b"])
        expectations.deletion_observed("rs", "a")
        expectations.deletion_observed("rs", "a")  # marked, then gone: seen twice
        assert not expectations.satisfied("rs")
        await asyncio.sleep(301)
        assert expectations.satisfied("rs")
        expectations.delete_expectations("rs")
        expectations.creation_observed("rs")

    run_virtual(main())


def test_a_cache_behind_our_own_write_is_not_read() -> None:
    store = ConsistencyStore()
    store.ensure_ready("k", {"metadata": {"resourceVersion": "1"}})
    store.wrote_at("k", {"metadata": {"resourceVersion": "10"}})
    with pytest.raises(RetryError):
        store.ensure_ready("k", {"metadata": {"resourceVersion": "9"}})
    store.ensure_ready("k", {"metadata": {"resourceVersion": "10"}})


def test_a_failed_create_becomes_a_condition_and_goes_again() -> None:
    rs: Object = {"spec": {"replicas": 3, "template": {"metadata": {}}}, "status": {}}
    status = calculate_status(rs, [], 0, ValueError("exceeded quota"), NOW)
    [condition] = status["conditions"]
    assert condition["type"] == "ReplicaFailure"
    assert (condition["reason"], condition["message"]) == ("FailedCreate", "exceeded quota")
    assert "conditions" not in calculate_status({**rs, "status": status}, [], 0, None, NOW)


def test_pods_are_available_after_min_ready_seconds() -> None:
    rs: Object = {"spec": {"replicas": 2, "minReadySeconds": 30, "template": {"metadata": {}}}}
    status = calculate_status(rs, [a_pod("a", ready=10), a_pod("b", ready=40)], 0, None, NOW)
    assert (status["readyReplicas"], status["availableReplicas"]) == (2, 1)


def test_names_of_pods() -> None:
    assert pods_prefix("nginx-747d4c55d8") == "nginx-747d4c55d8-"
    assert pods_prefix("a" * 253) == "a" * 253


def a_replica_set(replicas: int | None) -> Object:
    spec: Object = {"template": {"metadata": {}, "spec": {}}}
    if replicas is not None:
        spec["replicas"] = replicas
    meta = {"name": "rs", "namespace": "ns", "uid": "u"}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec}


class _Pods:
    """Makes and deletes pods; what it was told to refuse is refused."""

    def __init__(self, refuse_after: int = 10**6, error: Exception | None = None) -> None:
        self.made, self.deleted = 0, list[str]()
        self.asked = 0
        self.refuse_after, self.error = refuse_after, error or failure(403, "Forbidden", "quota")

    async def create_pod(self, body: bytes, namespace: str, owner: Object) -> None:
        self.asked += 1
        if self.asked > self.refuse_after:
            raise self.error
        self.made += 1

    async def delete_pod(self, name: str, namespace: str, owner: Object) -> None:
        self.asked += 1
        if self.asked > self.refuse_after:
            raise self.error
        self.deleted.append(name)


def managed(replicas: int | None, there: list[Object], pods: _Pods) -> tuple[Exception | None, tuple[int, int]]:
    """The error; how many creations are still waited for, and how many requests were made."""

    async def main() -> tuple[Exception | None, tuple[int, int]]:
        expectations = ControllerExpectations(Clock())
        control: Any = pods
        error = await manage_replicas(
            a_replica_set(replicas),
            there,
            pod_control=control,
            expectations=expectations,
            related_pods=lambda: there,
            now=NOW,
        )
        left = 0
        while not expectations.satisfied("ns/rs") and left < 1000:
            expectations.creation_observed("ns/rs")
            left += 1
        return error, (left, pods.asked)

    return run_virtual(main())


def in_namespace(*pods: Object) -> list[Object]:
    return [{**pod, "metadata": {**pod["metadata"], "namespace": "ns"}} for pod in pods]


def test_what_was_made_is_waited_for_and_what_was_refused_is_not() -> None:
    assert managed(7, [], _Pods()) == (None, (7, 7))
    assert managed(None, [], _Pods()) == (None, (1, 1)), "one, as the API server would have written"
    error, (left, asked) = managed(7, [], _Pods(refuse_after=0))
    assert (str(error), left, asked) == ("quota", 0, 1), "one was tried, and six were not"
    error, (left, asked) = managed(7, [], _Pods(refuse_after=2))
    assert (str(error), left, asked) == ("quota", 2, 3)
    assert managed(700, [], _Pods())[1] == (500, 500), "the rest is the next sync's"


def test_a_namespace_that_goes_away_is_no_error_of_a_replica_sets() -> None:
    going = failure(403, "Forbidden", "no", {"causes": [{"reason": "NamespaceTerminating"}]})
    assert managed(3, [], _Pods(refuse_after=0, error=going))[0] is None


def test_as_many_go_as_are_too_many_and_one_that_is_gone_is_no_error() -> None:
    there = in_namespace(a_pod("a", phase="Pending"), a_pod("b", ready=9), a_pod("c", ready=9000))
    pods = _Pods()
    assert managed(1, there, pods)[0] is None
    assert pods.deleted == ["a", "b"]
    assert managed(3, there, pods := _Pods()) == (None, (0, 0))
    gone = _Pods(refuse_after=0, error=failure(404, "NotFound", "gone"))
    assert managed(0, there, gone) == (None, (0, 3)), "nobody will tell of it: it is not waited for"
    refused = _Pods(refuse_after=1)
    error, (_, asked) = managed(0, there, refused)
    assert (str(error), asked) == ("quota", 3), "all are asked for at once"


def test_deletions_are_waited_for_one_by_one() -> None:
    async def main() -> None:
        expectations = ControllerExpectations(Clock())
        pods: Any = _Pods()
        there = in_namespace(a_pod("a"), a_pod("b"))
        rs = a_replica_set(0)
        await manage_replicas(
            rs, there, pod_control=pods, expectations=expectations, related_pods=lambda: there, now=NOW
        )
        for name in ("ns/a", "ns/a", "ns/b"):
            assert not expectations.satisfied("ns/rs")
            expectations.deletion_observed("ns/rs", name)
        assert expectations.satisfied("ns/rs")

    run_virtual(main())


def test_a_cancellation_is_no_failed_create() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await slow_start_batch(3, 1, cancelled)

    run_virtual(main())


def test_a_batch_is_never_larger_than_what_is_left() -> None:
    assert batches(2) == ([1, 1], 2, None)
    assert batches(3) == ([1, 2], 3, None)
