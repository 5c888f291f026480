"""What two runs may differ in, and no more: a day is played once, and its history tampered with, within each freedom and beyond it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest

from lifecycle.api.http.wire import Object
from tests.chaos.end_state import differences, end_state, latest
from tests.chaos.history import Change, History
from tests.chaos.invariants.registry import controller_of, is_ready
from tests.chaos.play import play
from tests.chaos.revisions import misremembered
from tests.chaos.scenario import Action, Scenario

COMMON = (("grace", 1), ("init", False), ("probe", False))
DAY = (
    Action(0.0, "deployment", "web", (*COMMON, ("min_ready", 0), ("replicas", 2), ("strategy", "1/0"))),
    Action(0.0, "stateful_set", "db", (*COMMON, ("parallel", True), ("replicas", 2))),
    Action(0.0, "daemon_set", "agent", COMMON),
    Action(0.0, "job", "work", (("completions", 2), ("indexed", False), ("parallelism", 2))),
    Action(0.0, "job", "task", (("completions", 2), ("indexed", False), ("parallelism", 2))),
    Action(0.0, "service", "task"),
    *(Action(30.0, "roll_out", name, (("template", 1),)) for name in ("web", "db", "agent")),
)
SLICE = "endpointslices.discovery.k8s.io default/task-"
Tamper = Callable[[Object], None]


@pytest.fixture(scope="module")
def history() -> History:
    scenario = Scenario(1, tuple((f"a{number}", action) for number, action in enumerate(DAY)), ())
    outcome = play(scenario)
    assert outcome.problems == []
    return outcome.history


def last(history: History, prefix: str) -> Change:
    """The last change of the first object that is there at the end and whose key begins so."""
    key = min(key for key in latest(history) if key.startswith(prefix))
    return next(each for each in reversed(history.changes) if each.key == key)


def and_then(history: History, change: Change, tamper: Tamper, kind: str = "MODIFIED") -> History:
    """At the end the object of that change becomes another."""
    obj = copy.deepcopy(change.obj)
    tamper(obj)
    final = history.changes[-1]
    more = Change(final.revision + 1, final.at + 1, kind, change.row, obj, change.obj if kind != "ADDED" else None)
    return replace(history, changes=[*history.changes, more])


def told(history: History, other: History) -> list[str]:
    return differences(end_state(history), end_state(other))


def restarted(count: int) -> Tamper:
    return lambda pod: pod["status"]["containerStatuses"][0].update(restartCount=count)


def elsewhere(pod: Object) -> None:
    pod["spec"]["nodeName"] = "elsewhere"


@pytest.mark.parametrize("workload", ["web", "db", "work"])
def test_where_a_pod_runs_is_chance(workload: str, history: History) -> None:
    assert told(history, and_then(history, last(history, f"pods default/{workload}-"), elsewhere)) == []


def test_where_a_daemon_runs_is_not(history: History) -> None:
    other = and_then(history, last(history, "pods default/agent-"), elsewhere)
    assert any("elsewhere" in line for line in told(history, other))


@pytest.mark.parametrize("workload", ["web", "db", "agent"])
@pytest.mark.parametrize(
    ("count", "kills", "is_told"), [(1, 0, True), (1, 1, False), (2, 1, True), (2, 2, False), (0, 2, False)]
)
def test_a_container_may_restart_as_often_as_its_kubelet_was_killed(
    workload: str, count: int, kills: int, is_told: bool, history: History
) -> None:
    change = last(history, f"pods default/{workload}-")
    node = change.obj["spec"]["nodeName"]
    other = and_then(history, change, restarted(count))
    other = replace(other, killed={f"kubelet {node}": [change.at + number for number in range(kills)]})
    assert bool(told(history, other)) == is_told


def test_a_kubelet_that_was_killed_elsewhere_or_before_restarts_nothing(history: History) -> None:
    change = last(history, "pods default/web-")
    begun = next(each for each in history.changes if each.key == change.key)
    other = and_then(history, change, restarted(1))
    for killed in ({"kubelet elsewhere": [change.at]}, {f"kubelet {change.obj['spec']['nodeName']}": [begun.at - 1]}):
        assert told(history, replace(other, killed=killed))


def test_what_has_succeeded_counts_when_it_is_gone(history: History) -> None:
    assert told(history, and_then(history, last(history, "pods default/work-"), lambda pod: None, "DELETED")) == []


@pytest.mark.parametrize(("doubtful", "is_told"), [(0, True), (1, False)])
def test_more_may_succeed_than_asked_for_if_a_pod_was_made_that_nobody_knew_of(
    doubtful: int, is_told: bool, history: History
) -> None:
    change = last(history, "pods default/work-")
    other = and_then(history, change, lambda pod: pod["metadata"].update(name="work-x", uid="another"), "ADDED")
    owner = controller_of(change.obj)
    assert owner is not None
    assert bool(told(history, replace(other, doubtful={owner["uid"]: doubtful}))) == is_told


@pytest.mark.parametrize(("asked", "is_told"), [(False, True), (True, False)])
def test_what_was_asked_to_end_may_succeed_and_not_count(asked: bool, is_told: bool, history: History) -> None:
    def succeed(pod: Object) -> None:
        pod["metadata"].update(name="work-x", uid="another")
        if asked:
            pod["metadata"]["deletionTimestamp"] = "2027-01-01T00:01:00Z"

    other = and_then(history, last(history, "pods default/work-"), succeed, "ADDED")
    assert bool(told(history, and_then(other, other.changes[-1], lambda pod: None, "DELETED"))) == is_told


@pytest.mark.parametrize(("asked", "is_told"), [(False, True), (True, False)])
def test_what_fails_was_asked_to_end(asked: bool, is_told: bool, history: History) -> None:
    def fail(pod: Object) -> None:
        pod["metadata"].update(name="work-x", uid="another")
        pod["status"]["phase"] = "Failed"
        if asked:
            pod["status"]["conditions"].append({"type": "DisruptionTarget", "status": "True"})

    other = and_then(history, last(history, "pods default/work-"), fail, "ADDED")
    assert bool(told(history, other)) == is_told


def tidied(history: History) -> History:
    """The Service lists none of the pods that have ended."""
    return and_then(history, last(history, SLICE), lambda slice_: slice_.update(endpoints=[]))


def test_a_pod_that_ended_after_it_was_not_ready_may_stay_listed(history: History) -> None:
    listed = last(history, SLICE).obj["endpoints"]
    assert {each["conditions"]["ready"] for each in listed} == {False}
    assert told(history, tidied(history)) == []


def test_a_pod_that_has_ended_is_not_listed_as_ready(history: History) -> None:
    def ready(slice_: Object) -> None:
        slice_["endpoints"][0]["conditions"] = {"ready": True, "serving": True, "terminating": False}

    assert told(tidied(history), and_then(history, last(history, SLICE), ready))


def test_what_has_ended_is_listed_until_another_pod_of_the_service_comes_or_goes(history: History) -> None:
    more = and_then(
        history,
        last(history, "pods default/task-"),
        lambda pod: pod["metadata"].update(name="task-x", uid="x"),
        "ADDED",
    )
    assert any(line.startswith("endpoints of task") for line in told(history, more))


def test_a_pod_that_was_ready_until_its_end_is_not_listed(history: History) -> None:
    listed = last(history, SLICE).obj["endpoints"][0]["targetRef"]["uid"]

    def is_between(change: Change) -> bool:
        """It has an address, has not ended, and is not ready."""
        status = change.obj.get("status") or {}
        return (
            change.obj["metadata"]["uid"] == listed
            and "podIPs" in status
            and not is_ready(change.obj)
            and status["phase"] != "Succeeded"
        )

    assert any(is_between(each) for each in history.changes)
    at_once = replace(history, changes=[each for each in history.changes if not is_between(each)])
    assert any(line.startswith("endpoints of task") for line in told(at_once, tidied(at_once)))


# -- what is kept of templates ----------------------------------------------------------------------------------------


def kept(history: History, owner: str, number: int) -> Change:
    """The replica set or ControllerRevision of that number."""
    row = "replicasets.apps" if owner == "Deployment" else "controllerrevisions.apps"
    return next(
        each
        for each in reversed(history.changes)
        if each.row == row
        and (controller_of(each.obj) or {"kind": ""})["kind"] == owner
        and number
        == (each.obj.get("revision") or int(each.obj["metadata"]["annotations"]["deployment.kubernetes.io/revision"]))
    )


def another_template(obj: Object) -> None:
    data = obj["data"]["spec"] if "data" in obj else obj["spec"]
    data["template"]["metadata"]["annotations"] = {"template": "never"}


def renumbered(number: int) -> Tamper:
    def tamper(obj: Object) -> None:
        if "revision" in obj:
            obj["revision"] = number
        else:
            obj["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = str(number)

    return tamper


def again(number: int) -> Tamper:
    def tamper(obj: Object) -> None:
        obj["metadata"].update(name=f"{obj['metadata']['name']}x", uid=f"another{number}")

    return tamper


OWNERS = ("Deployment", "StatefulSet", "DaemonSet")


@pytest.mark.parametrize("owner", OWNERS)
def test_an_old_template_may_never_have_been_seen(owner: str, history: History) -> None:
    gone = and_then(history, kept(history, owner, 1), lambda obj: None, "DELETED")
    assert list(misremembered(gone)) == []
    assert told(history, gone) == []


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize(
    ("number", "tamper", "kind", "message"),
    [
        (1, another_template, "MODIFIED", "it never had the template of"),
        (1, again(1), "ADDED", "is kept twice"),
        (1, renumbered(3), "MODIFIED", "has the highest number, 3, and another template"),
        (2, lambda obj: None, "DELETED", "has the highest number, 1, and another template"),
    ],
)
def test_what_is_kept_of_templates_is_in_order(
    owner: str, number: int, tamper: Tamper, kind: str, message: str, history: History
) -> None:
    problems = list(misremembered(and_then(history, kept(history, owner, number), tamper, kind)))
    assert any(message in problem for problem in problems), problems


@pytest.mark.parametrize(("owner", "is_told"), [("Deployment", True), ("DaemonSet", True), ("StatefulSet", False)])
def test_two_revisions_of_a_stateful_set_may_have_one_number(owner: str, is_told: bool, history: History) -> None:
    problems = list(misremembered(and_then(history, kept(history, owner, 1), renumbered(2))))
    assert any("the number 2 is there twice" in problem for problem in problems) == bool(problems) == is_told


@pytest.mark.parametrize(
    ("newer", "is_told"), [({"creationTimestamp": "2027-01-01T01:00:00Z"}, True), ({"name": "db-z"}, False)]
)
def test_of_two_revisions_with_one_number_the_younger_is_the_newer(
    newer: Object, is_told: bool, history: History
) -> None:
    def as_new(obj: Object) -> None:
        obj.update(revision=2)
        obj["metadata"].update(newer)

    gone = and_then(history, kept(history, "StatefulSet", 1), lambda obj: None, "DELETED")
    problems = list(misremembered(and_then(gone, kept(history, "StatefulSet", 1), as_new, "ADDED")))
    assert any("another template" in problem for problem in problems) == is_told


def test_no_more_is_kept_than_the_limit_says(history: History) -> None:
    change = kept(history, "StatefulSet", 1)
    for number in range(10):
        history = and_then(history, change, again(number), "ADDED")
        change = history.changes[-1]
    assert any("12 are kept, 10 old ones should be" in problem for problem in misremembered(history))


def test_a_template_of_which_nothing_is_kept_is_told(history: History) -> None:
    for number in (1, 2):
        history = and_then(history, kept(history, "DaemonSet", number), lambda obj: None, "DELETED")
    assert any("its template is not kept" in problem for problem in misremembered(history))
