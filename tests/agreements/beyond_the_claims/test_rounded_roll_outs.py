"""The arithmetic of a roll-out: rounded shares, when it is done, when it is looked at again, how many old pods may go."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api import status
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.controllers.deployment.deployment_util import deployment_complete, resolve_fenceposts
from lifecycle.controllers.deployment.progress import requeue_stuck_deployment
from lifecycle.controllers.deployment.rolling import reconcile_old_replica_sets


@pytest.mark.parametrize(
    ("surge", "unavailable", "desired", "both"),
    [
        ("25%", "25%", 4, (1, 1)),
        ("25%", "25%", 3, (1, 0)),  # up for what may be too many, down for what may be missing
        ("25%", "25%", 10, (3, 2)),
        ("1%", "99%", 1, (1, 0)),
        (0, 0, 3, (0, 1)),  # it would never move
        ("0%", "10%", 3, (0, 1)),
        (0, "50%", 1, (0, 1)),
        (2, 0, 3, (2, 0)),
        ("0%", 1, 3, (0, 1)),
    ],
)
def test_shares_are_rounded_so_that_pods_are_not_missed_and_it_moves(
    surge: Any, unavailable: Any, desired: int, both: tuple[int, int]
) -> None:
    assert resolve_fenceposts(surge, unavailable, desired) == both


WHOLE = {"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3, "observedGeneration": 7}


@pytest.mark.parametrize(
    ("differs", "done"),
    [
        ({}, True),
        ({"updatedReplicas": 2}, False),
        ({"replicas": 4}, False),  # an old one is left
        ({"replicas": 2}, False),
        ({"availableReplicas": 2}, False),
        ({"availableReplicas": 4}, False),
        ({"observedGeneration": 6}, False),  # what it says is of an older wish
        ({"observedGeneration": 8}, True),
    ],
)
def test_it_is_done_when_all_are_new_available_and_alone_and_the_wish_was_seen(
    differs: dict[str, int], done: bool
) -> None:
    deployment: Object = {"metadata": {"generation": 7}, "spec": {"replicas": 3}}
    assert deployment_complete(deployment, {**WHOLE, **differs}) is done


@pytest.mark.parametrize(
    ("last_progress", "reason", "after"),
    [
        (0, "ReplicaSetUpdated", [101 - 60]),
        (50, "ReplicaSetUpdated", [151 - 60]),  # each step begins the time anew
        (-100, "ReplicaSetUpdated", [1]),  # it is over: soon
        (-40, "ReplicaSetUpdated", [1]),
        (0, "ProgressDeadlineExceeded", []),
    ],
)
def test_whoever_is_stuck_is_looked_at_a_second_after_the_deadline_of_the_last_step(
    last_progress: int, reason: str, after: list[float]
) -> None:
    """The deadline is 100 seconds, it is the 60th, and it has been progressing since before the first."""
    condition = {
        "type": "Progressing",
        "status": "True",
        "reason": reason,
        "lastTransitionTime": format_time(VIRTUAL_EPOCH - 500),
        "lastUpdateTime": format_time(VIRTUAL_EPOCH + last_progress),
    }
    deployment: Object = {
        "metadata": {"generation": 1},
        "spec": {"replicas": 3, "progressDeadlineSeconds": 100},
        "status": {"conditions": [condition]},
    }
    asked = list[float]()
    requeue_stuck_deployment(deployment, {"replicas": 1}, VIRTUAL_EPOCH + 60, asked.append)
    assert asked == after


@pytest.mark.parametrize(
    ("deadline", "reason", "status"),
    [
        (100, "ReplicaSetUpdated", {**WHOLE, "observedGeneration": 7}),  # it is done
        (100, "", {"replicas": 1}),  # nobody has said yet how it goes
        (None, "ReplicaSetUpdated", {"replicas": 1}),
        (2**31 - 1, "ReplicaSetUpdated", {"replicas": 1}),  # what old clients said for: none
    ],
)
def test_nobody_looks_again_at_what_is_done_or_has_no_deadline(
    deadline: int | None, reason: str, status: dict[str, int]
) -> None:
    then = format_time(VIRTUAL_EPOCH)
    condition = {"type": "Progressing", "status": "True", "reason": reason, "lastUpdateTime": then}
    deployment: Object = {
        "metadata": {"generation": 7},
        "spec": {"replicas": 3, **({"progressDeadlineSeconds": deadline} if deadline is not None else {})},
        "status": {"conditions": [condition] if reason else []},
    }
    asked = list[float]()
    requeue_stuck_deployment(deployment, status, VIRTUAL_EPOCH + 60, asked.append)
    assert asked == []


def _set(name: str, replicas: int, available: int) -> Object:
    return {
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": format_time(VIRTUAL_EPOCH)},
        "spec": {"replicas": replicas},
        "status": {"replicas": replicas, "availableReplicas": available},
    }


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ((4, 4), (0, 0), 3),  # one may be missing
        ((3, 3), (2, 2), 1),  # one is too many, one may be missing
        ((3, 3), (2, 1), 2),  # what is new and not there yet is missing already
        ((3, 3), (2, 0), 3),
        ((3, 2), (2, 1), 2),  # those that do not work go first
        ((3, 1), (2, 1), 2),  # and those of the new ones that do not work yet count with them
        ((3, 0), (2, 2), 1),
        ((1, 1), (4, 4), 0),
        ((4, 3), (2, 2), 1),  # and then, in the same step, as many of those that work as may be missing
    ],
)
def test_old_pods_go_as_far_as_new_ones_have_come(old: tuple[int, int], new: tuple[int, int], left: int) -> None:
    """Four are wanted, and one may be missing."""

    class Control:
        async def scale_replica_set_and_record_event(self, rs: Object, size: int, _: Object) -> tuple[bool, Object]:
            sizes.append(size)
            return True, {**rs, "spec": {**rs["spec"], "replicas": size}}

    sizes = list[int]()
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    deployment: Object = {"metadata": {"name": "web"}, "spec": {"replicas": 4, "strategy": rolling}}
    before, after = _set("old", *old), _set("new", *new)
    control: Any = Control()
    acted = on_virtual_time(reconcile_old_replica_sets(control, [before, after], [before], after, deployment))
    assert (sizes[-1] if sizes else old[0]) == left
    assert acted is (left != old[0])


def test_who_is_refused_has_done_nothing_and_goes_on() -> None:
    """Upstream's `reconcileOldReplicaSets` answers an error with `false, nil`: so a roll-out that is complete by its status is
    tidied up after, which it is not by whoever has just taken a step.
    """

    class Control:
        async def scale_replica_set_and_record_event(self, rs: Object, size: int, _: Object) -> tuple[bool, Object]:
            asked.append((rs["metadata"]["name"], size))
            raise status.conflict("replicasets", rs["metadata"]["name"], group="apps")

    asked = list[tuple[str, int]]()
    deployment: Object = {"metadata": {"name": "web"}, "spec": {"replicas": 4, "strategy": {"type": "RollingUpdate"}}}
    before, after = _set("old", 3, 3), _set("new", 4, 4)
    control: Any = Control()
    acted = on_virtual_time(reconcile_old_replica_sets(control, [before, after], [before], after, deployment))
    assert acted is False
    assert asked == [("old", 0)]


@pytest.mark.parametrize(("dying", "left"), [(0, 3), (2, 3)])
def test_pods_that_go_already_are_no_reserve(dying: int, left: int) -> None:
    """A set of size 0 whose pods are still there, and available, is none that may be counted on: upstream's `allRSs` are
    then the active old ones and the new one.
    """

    class Control:
        async def scale_replica_set_and_record_event(self, rs: Object, size: int, _: Object) -> tuple[bool, Object]:
            sizes.append((rs["metadata"]["name"], size))
            return True, {**rs, "spec": {**rs["spec"], "replicas": size}}

    sizes = list[tuple[str, int]]()
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    deployment: Object = {"metadata": {"name": "web"}, "spec": {"replicas": 4, "strategy": rolling}}
    gone, before, after = _set("gone", 0, dying), _set("old", 4, 4), _set("new", 0, 0)
    control: Any = Control()
    assert on_virtual_time(reconcile_old_replica_sets(control, [gone, before, after], [before], after, deployment))
    assert sizes == [("old", left)]
