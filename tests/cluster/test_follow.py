"""One command followed through every stage: the spans come from the code that does the work."""

import asyncio

import pytest

from lifecycle.api import tracing
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.follow import FollowError, follow
from lifecycle.trace.journey import STAGES


@pytest.fixture(scope="module")
def journey():
    return asyncio.run(follow()).journey


def test_every_stage_of_the_journey_is_seen(journey):
    seen = {(step.component, step.stage) for step in journey.steps}
    optional = {
        ("apiserver", "audit"),
        ("apiserver", "impersonation"),
        ("scheduler", "schedule"),
    }  # off, or another name
    expected = {(component, stage) for component, stages in STAGES.items() for stage in stages}
    assert expected - seen <= optional
    assert ("kubectl", "create") in seen


def test_each_pod_is_scheduled_bound_and_started_once(journey):
    for component, stage in (("scheduler", "bind"), ("kubelet", "run_pod_sandbox"), ("kubelet", "start")):
        assert len(journey.of(component, stage)) == 3
    pods = {step.about for step in journey.of("scheduler", "bind")}
    assert len(pods) == 3
    assert {step.about for step in journey.of("kubelet", "run_pod_sandbox")} == pods


def test_causes_come_before_effects(journey):
    def first(component, stage):
        return min(step.start for step in journey.of(component, stage))

    order = [
        ("kubectl", "create"),
        ("apiserver", "authentication"),
        ("apiserver", "flow control"),
        ("apiserver", "authorization"),
        ("apiserver", "decode"),
        ("apiserver", "mutating admission"),
        ("apiserver", "validation"),
        ("apiserver", "validating admission"),
        ("etcd", "txn"),
        ("deployment-controller", "sync"),
        ("replicaset-controller", "sync"),
        ("scheduler", "schedule_one"),
        ("scheduler", "bind"),
        ("kubelet", "sync_pod"),
        ("watch", "all pods ready"),
    ]
    starts = [first(*row) for row in order]
    assert starts == sorted(starts)


def test_controllers_requests_lie_inside_their_sync(journey):
    stored = [step for step in journey.of("etcd", "txn") if step.about.startswith("replicasets/")]
    creation = min(stored, key=lambda step: step.start)
    assert any(
        sync.start <= creation.start and creation.end <= sync.end
        for sync in journey.of("deployment-controller", "sync")
    )


def test_a_command_that_fails_or_writes_nothing_has_no_journey():
    with pytest.raises(FollowError, match=r'error: unknown command "frobnicate" for "kubectl"$'):
        asyncio.run(follow(["frobnicate"]))
    with pytest.raises(FollowError, match=r"kubectl get pods writes no object that could be followed$"):
        asyncio.run(follow(["get", "pods"]))


def test_nobody_waits_for_ever():
    config = ClusterConfig(without=("scheduler",))
    with pytest.raises(
        FollowError,
        match=r"kubectl create deployment nginx --image=nginx --replicas=3: the pods did not become ready in 0\.2 s$",
    ):
        asyncio.run(follow(config=config, patience=0.2))


def test_nothing_is_recorded_when_nobody_listens():
    assert tracing.span("apiserver", "request") is tracing.span("etcd", "txn")


def test_a_slow_runtime_makes_containers_start_one_by_one():
    async def ends():
        followed = await follow(config=ClusterConfig(latency=0.05))
        return [step.end for step in followed.journey.of("kubelet", "start")]

    assert len(set(asyncio.run(ends()))) == 3


def test_a_cluster_that_never_started_can_be_stopped():
    asyncio.run(Cluster(ClusterConfig()).stop())
