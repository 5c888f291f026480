"""From spans to one request's journey."""

import pytest

from lifecycle.api.tracing import span
from lifecycle.trace import SpanRecorder, text


def _drive():
    """The spans of a Deployment with one ReplicaSet and two pods, and of a stranger."""
    with span("kubectl", "create", uid="d1"), span("apiserver", "request"):
        with span("apiserver", "authentication"):
            pass
        with span("apiserver", "authorization"):
            pass
        with span("apiserver", "storage"), span("etcd", "txn", key="/registry/deployments/ns/web", uid="d1"):
            pass
    with span("etcd", "txn", key="/registry/configmaps/ns/web", uid="c1"):
        pass
    with (
        span("deployment-controller", "sync", key="ns/web"),
        span("apiserver", "request"),
        span("etcd", "txn", key="/registry/replicasets/ns/web-5d8", uid="r1", owner_uid="d1"),
    ):
        pass
    with span("replicaset-controller", "sync", key="ns/web-5d8"):
        for number, pod in enumerate(("p1", "p2")):
            with span("etcd", "txn", key=f"/registry/pods/ns/web-5d8-{number}", uid=pod):  # no owner_uid: known by name
                pass
    for number, pod in enumerate(("p1", "p2")):
        with span("scheduler", "schedule_one", key=f"ns/web-5d8-{number}", uid=pod):
            pass
        with span("kubelet", "sync_pod", uid=pod):
            for stage in ("run_pod_sandbox", "pull", "create", "start"):
                with span("kubelet", stage):
                    pass
    with span("replicaset-controller", "sync", key="ns/other-1"), span("apiserver", "request"):
        pass
    with span("kubelet", "sync_pod", uid="px"):
        pass


@pytest.fixture
def journey():
    with SpanRecorder() as recorder:
        _drive()
    return recorder.journey("d1")


def test_ownership_is_followed_to_the_pods(journey):
    assert {step.about for step in journey.of("etcd")} == {
        "deployments/ns/web",
        "replicasets/ns/web-5d8",
        "pods/ns/web-5d8-0",
        "pods/ns/web-5d8-1",
    }
    assert len(journey.of("kubelet", "sync_pod")) == 2
    assert len(journey.of("kubelet", "start")) == 2
    assert len(journey.of("scheduler")) == 2


def test_strangers_are_left_out(journey):
    assert not [step for step in journey.steps if "configmaps" in step.about or "other" in step.about]


def test_the_request_around_a_member_belongs_with_all_its_stages(journey):
    assert [step.stage for step in journey.of("apiserver")] == [
        "request",
        "authentication",
        "authorization",
        "storage",
        "request",
    ]


def test_rows_follow_the_way_of_the_request(journey):
    components = list(dict.fromkeys(component for component, _ in journey.rows()))
    assert components == [
        "kubectl",
        "apiserver",
        "etcd",
        "deployment-controller",
        "replicaset-controller",
        "scheduler",
        "kubelet",
    ]
    assert journey.rows()[1:5] == [
        ("apiserver", "request"),
        ("apiserver", "authentication"),
        ("apiserver", "authorization"),
        ("apiserver", "storage"),
    ]


def test_times_start_at_zero_and_nest(journey):
    assert journey.steps[0].start == 0.0
    assert all(0 <= step.start <= step.end <= journey.duration for step in journey.steps)
    assert journey.steps[0].depth == 0
    assert journey.of("apiserver", "authentication")[0].depth == 2


def test_text_names_every_stage(journey):
    shown = text.render(journey)
    assert shown.startswith("deployments/ns/web – ")
    for word in ("authentication", "txn", "schedule_one", "run_pod_sandbox", "stage by stage:"):
        assert word in shown


def test_an_unknown_uid_is_refused():
    with pytest.raises(LookupError, match="no span speaks of uid nobody"), SpanRecorder() as recorder:
        recorder.journey("nobody")


def test_the_recorder_stops_listening_and_bounds_its_memory():
    with SpanRecorder(limit=50) as recorder:
        for _ in range(200):
            with span("a", "b"):
                pass
    kept = len(recorder.spans)
    assert kept <= 50
    with span("a", "b") as unheard:
        assert unheard is None
    assert len(recorder.spans) == kept
