"""A history as it was breaks none of the invariants; tampered with, it breaks the one that it should."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from tests.chaos.history import Change, History
from tests.chaos.invariants import INVARIANTS, broken
from tests.chaos.invariants.registry import controller_of, is_ready
from tests.chaos.play import play
from tests.chaos.scenario import Action, Scenario

COMMON = (("grace", 1), ("init", False), ("probe", False))
DAY = (
    Action(0.0, "deployment", "web", (*COMMON, ("min_ready", 0), ("replicas", 3), ("strategy", "1/0"))),
    Action(0.0, "stateful_set", "db", (*COMMON, ("parallel", False), ("replicas", 3))),
    Action(0.0, "daemon_set", "agent", COMMON),
    Action(0.0, "job", "work", (("completions", 4), ("indexed", False), ("parallelism", 2))),
    Action(0.0, "service", "web"),
    Action(0.0, "disruption_budget", "web"),
    Action(20.0, "roll_out", "web", (("template", 1),)),
    Action(40.0, "delete_pod", "db", (("index", 1),)),
)


@pytest.fixture(scope="module")
def history() -> History:
    """A quiet day."""
    scenario = Scenario(1, tuple((f"a{number}", action) for number, action in enumerate(DAY)), ())
    outcome = play(scenario)
    assert outcome.problems == []
    return outcome.history


Which = Callable[[Change], Any]
Tamper = Callable[[Object], None]


def where(history: History, row: str, which: Which = bool, kind: str = "MODIFIED") -> int:
    """The number of the first such change."""
    return next(n for n, each in enumerate(history.changes) if (each.row, each.kind) == (row, kind) and which(each))


def tampered(row: str, tamper: Tamper, which: Which = bool, kind: str = "MODIFIED") -> Callable[[History], History]:
    """The history, with the object of the first such change another."""

    def apply(history: History) -> History:
        number = where(history, row, which, kind)
        change = history.changes[number]
        obj = copy.deepcopy(change.obj)
        tamper(obj)
        changes = [*history.changes[:number], replace(change, obj=obj), *history.changes[number + 1 :]]
        return replace(history, changes=changes)

    return apply


def once_more(row: str, tamper: Tamper, which: Which = bool, kind: str = "ADDED") -> Callable[[History], History]:
    """After such a change, one more object like it, with another name and uid."""

    def apply(history: History) -> History:
        number = where(history, row, which, kind)
        change = history.changes[number]
        obj = copy.deepcopy(change.obj)
        obj["metadata"] |= {"name": f"{obj['metadata']['name']}2", "uid": "another"}
        tamper(obj)
        more = replace(change, obj=obj, kind="ADDED", before=None)
        return replace(history, changes=[*history.changes[: number + 1], more, *history.changes[number + 1 :]])

    return apply


def without(row: str, which: Which, kind: str = "MODIFIED") -> Callable[[History], History]:
    """The history without such changes."""

    def apply(history: History) -> History:
        where(history, row, which, kind)
        left = [c for c in history.changes if not ((c.row, c.kind) == (row, kind) and which(c))]
        return replace(history, changes=left)

    return apply


def of(kind: str) -> Which:
    """Whose controller is of that kind."""
    return lambda change: (controller_of(change.obj) or {"kind": ""})["kind"] == kind


def named(name: str) -> Which:
    """Of that name."""
    return lambda change: change.obj["metadata"]["name"] == name


def runs(change: Change) -> bool:
    """A pod that has been running, and still is."""
    return is_ready(change.before or change.obj) and is_ready(change.obj)


def was_running(change: Change) -> bool:
    """A pod that ran, or still does."""
    return (change.before or change.obj)["status"].get("phase") == "Running"


def ended(change: Change) -> bool:
    """A container of it had ended."""
    statuses = (change.before or change.obj)["status"].get("containerStatuses") or [{"state": {}}]
    return "terminated" in statuses[0]["state"]


def marked(change: Change) -> bool:
    """It is being deleted, and was before."""
    return "deletionTimestamp" in (change.before or change.obj)["metadata"]


def meta(**fields: Any) -> Tamper:
    """Change metadata."""
    return lambda obj: obj["metadata"].update(fields)


def spec(**fields: Any) -> Tamper:
    """Change the spec."""
    return lambda obj: obj["spec"].update(fields)


def status(**fields: Any) -> Tamper:
    """Change the status."""
    return lambda obj: obj["status"].update(fields)


def container(**fields: Any) -> Tamper:
    """Change the status of the first container."""
    return lambda obj: obj["status"]["containerStatuses"][0].update(fields)


def at_revision(revision: int) -> Callable[[History], History]:
    """The last change has this revision."""
    return lambda history: replace(
        history, changes=[*history.changes[:-1], replace(history.changes[-1], revision=revision)]
    )


def a_later_condition(obj: Object) -> None:
    """Its first condition has another time, and the same status."""
    obj["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z"


def another_address(obj: Object) -> None:
    """An endpoint that no pod is."""
    obj["endpoints"][0]["addresses"] = ["192.0.2.1"]


def no_deletion(obj: Object) -> None:
    """As if it had not been deleted."""
    del obj["metadata"]["deletionTimestamp"]


def ran(change: Change) -> bool:
    """It was deleted after it had run."""
    return "running" in (change.obj["status"].get("containerStatuses") or [{"state": {}}])[0]["state"]


def gone_while_running(history: History) -> History:
    """A pod that runs and that nobody has asked to end is no more."""
    number = where(history, "pods", runs)
    gone = replace(history.changes[number], kind="DELETED", before=history.changes[number].obj)
    return replace(history, changes=[*history.changes[: number + 1], replace(gone, revision=gone.revision + 1)])


def done_and_gone(history: History) -> History:
    """A pod of a Job that has succeeded is no more, and the Job is."""
    number = where(history, "pods", lambda c: of("Job")(c) and c.obj["status"].get("phase") == "Succeeded")
    gone = replace(history.changes[number], kind="DELETED", before=history.changes[number].obj)
    return replace(history, changes=[*history.changes[: number + 1], replace(gone, revision=gone.revision + 1)])


TAMPERED: dict[str, Callable[[History], History]] = {
    "the_resource_version_grows": at_revision(7),
    "events_tell_a_story": without("pods", runs),
    "a_uid_is_for_one_object_and_for_ever": tampered("pods", meta(uid="another")),
    "the_generation_never_falls": tampered("deployments.apps", meta(generation=0)),
    "the_generation_moves_with_the_spec": tampered("replicasets.apps", meta(generation=9)),
    "what_was_observed_has_happened": tampered("deployments.apps", status(observedGeneration=99)),
    "a_deletion_is_not_taken_back": tampered("pods", no_deletion, marked),
    "finalizers_hold": tampered("pods", meta(finalizers=["kept"]), marked),
    "one_controller_owns_it": tampered(
        "pods",
        lambda obj: obj["metadata"]["ownerReferences"].append(
            {"kind": "ReplicaSet", "name": "other", "uid": "other", "controller": True}
        ),
        of("ReplicaSet"),
    ),
    "a_condition_keeps_its_time": tampered("pods", a_later_condition, runs),
    "a_selector_is_for_ever": tampered("deployments.apps", spec(selector={})),
    "a_phase_never_goes_back": tampered("pods", status(phase="Pending"), was_running),
    "a_pod_stays_on_its_node": tampered("pods", spec(nodeName="elsewhere"), was_running),
    "a_pod_keeps_its_containers": tampered("pods", spec(restartPolicy="OnFailure"), was_running),
    "a_start_is_not_forgotten": tampered("pods", status(startTime=None), was_running),
    "a_restart_count_never_falls": tampered("pods", container(restartCount=-1), was_running),
    "a_container_is_not_run_twice_for_once": tampered("pods", container(containerID="other://"), was_running),
    "an_end_is_not_lost": tampered("pods", container(state={"waiting": {}}), ended),
    "what_ended_does_not_run_again": tampered("pods", status(phase="Failed"), runs),
    "ready_means_running": tampered("pods", container(ready=False), lambda change: is_ready(change.obj)),
    "an_address_is_for_one_pod": once_more(
        "pods", lambda obj: None, lambda c: c.obj["status"].get("podIP"), "MODIFIED"
    ),
    "a_pod_is_gone_only_after_its_containers": gone_while_running,
    "what_a_job_has_done_stays": done_and_gone,
    "a_pod_is_bound_to_a_node_that_exists": tampered(
        "pods", spec(nodeName="nowhere"), lambda c: "nodeName" in c.obj["spec"]
    ),
    "a_node_is_not_overcommitted": tampered(
        "pods",
        lambda obj: obj["spec"]["containers"][0].update(resources={"requests": {"cpu": "10k"}}),
        lambda change: "nodeName" in change.obj["spec"],
    ),
    "a_replica_set_makes_no_surplus_pod": once_more(
        "pods", lambda obj: None, lambda c: c.at > 25 and of("ReplicaSet")(c)
    ),
    "a_rollout_keeps_to_its_surge": tampered("replicasets.apps", spec(replicas=7), lambda change: change.at > 20),
    "a_stateful_set_goes_in_order": without("pods", lambda change: named("db-0")(change) and is_ready(change.obj)),
    "a_stateful_set_has_only_its_ordinals": tampered("pods", meta(name="db-7"), named("db-2"), "ADDED"),
    "a_daemon_runs_once_on_a_node": once_more("pods", lambda obj: None, of("DaemonSet")),
    "a_job_keeps_to_its_parallelism": once_more("pods", lambda obj: None, lambda c: c.at > 8 and of("Job")(c)),
    "a_job_counts_each_pod_once": tampered("jobs.batch", status(succeeded=5)),
    "a_service_keeps_its_address": once_more("services", lambda obj: None),
    "an_endpoint_is_a_pod_that_was_there": tampered(
        "endpointslices.discovery.k8s.io", another_address, lambda change: change.obj["endpoints"]
    ),
    "a_node_keeps_its_range": tampered("nodes", spec(podCIDR="10.9.0.0/24"), lambda c: c.before["spec"].get("podCIDR")),
    "a_lease_changes_hands_one_at_a_time": tampered("leases.coordination.k8s.io", spec(leaseTransitions=5)),
    "a_count_of_events_never_falls": tampered("events", lambda obj: obj.update(count=-1)),
    "a_budget_allows_no_less_than_nothing": tampered("poddisruptionbudgets.policy", status(disruptionsAllowed=9)),
}


def test_a_quiet_day_breaks_nothing(history: History) -> None:
    assert list(broken(history)) == []


@pytest.mark.parametrize("name", INVARIANTS)
def test_a_tampered_history_breaks(name: str, history: History) -> None:
    found = list(broken(TAMPERED[name](history)))
    assert name in {violation.invariant for violation in found}


def test_every_invariant_is_tampered_with() -> None:
    assert set(TAMPERED) == set(INVARIANTS)
