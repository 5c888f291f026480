"""Conditions: what an object's status says of it, one word at a time.

A condition has a `type`, of which a list has one, a `status` (`True`, `False`,
`Unknown`), and says why. `lastTransitionTime` moves only when the status does: that is
what everybody gets wrong who writes this a second time. There are three ways to put a
condition into a list. Most controllers set it where it stands
(`set_status_condition`). Deployments drop the old one and append the new one
(`replace_condition`). A pod has several writers, each of whom patches only its own
condition (`update_pod_condition`).

Upstream: `apimachinery/pkg/api/meta/conditions.go` (`SetStatusCondition`,
`FindStatusCondition`, `IsStatusConditionTrue`), `pkg/api/v1/pod/util.go`
(`GetPodCondition`, `UpdatePodCondition`, `CalculatePodConditionObservedGeneration`),
`pkg/util/pod/pod.go` (`ReplaceOrAppendPodCondition`),
`pkg/controller/deployment/util/deployment_util.go` (`SetDeploymentCondition`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.api.http.wire import Object

Condition = dict[str, Any]


def find_status_condition(
    conditions: Iterable[Condition] | None, condition_type: str
) -> Condition | None:
    """The condition of that type in a list."""
    for condition in conditions or ():
        if condition.get("type") == condition_type:
            return condition
    return None


def is_status_condition_true(
    conditions: Iterable[Condition] | None, condition_type: str
) -> bool:
    """Whether a list has the condition, and it is true."""
    condition = find_status_condition(conditions, condition_type)
    return condition is not None and condition.get("status") == "True"


def get_condition(obj: Object, condition_type: str) -> Condition | None:
    """The condition of that type in an object's status."""
    conditions = (obj.get("status") or {}).get("conditions")
    return find_status_condition(conditions, condition_type)


def is_condition_true(obj: Object, condition_type: str) -> bool:
    """Whether an object's status has the condition, and it is true."""
    condition = get_condition(obj, condition_type)
    return condition is not None and condition.get("status") == "True"


def last_transition_time(old: Condition | None, status: str, now: str) -> str:
    """Since when a condition has this status: `old` knows, unless it had another."""
    if old is not None and old.get("status") == status:
        return old.get("lastTransitionTime") or now
    return now


def set_status_condition(
    conditions: list[Condition], condition: Condition, now: str
) -> bool:
    """Put a condition into a list that is the caller's own, where the one before it
    stands or at the end. Whether anything changed.
    """
    old = find_status_condition(conditions, condition["type"])
    since = last_transition_time(old, condition["status"], now)
    new = {**condition, "lastTransitionTime": since}
    if old is None:
        conditions.append(new)
    else:
        conditions[conditions.index(old)] = new
    return new != old


def with_condition(obj: Object, condition: Condition, now: str) -> Object:
    """The object with `set_status_condition` done to a copy of its conditions; the
    original stays.
    """
    status = obj.get("status") or {}
    conditions = list(status.get("conditions") or ())
    set_status_condition(conditions, condition, now)
    return {**obj, "status": {**status, "conditions": conditions}}


def remove_condition(
    conditions: Iterable[Condition] | None, condition_type: str
) -> list[Condition]:
    """The list without the condition of that type."""
    return [each for each in conditions or () if each["type"] != condition_type]


def replace_condition(
    conditions: Iterable[Condition] | None, condition: Condition
) -> list[Condition]:
    """The list with a condition at its end, and no other of its type."""
    return [*remove_condition(conditions, condition["type"]), condition]


def replace_or_append_condition(
    conditions: Iterable[Condition] | None, condition: Condition
) -> list[Condition]:
    """The list with a condition where the one before it stood, or at the end."""
    conditions = list(conditions or ())
    if find_status_condition(conditions, condition["type"]) is None:
        return [*conditions, condition]
    return [
        condition if each["type"] == condition["type"] else each for each in conditions
    ]


def new_pod_condition(pod: Object, condition: Condition, now: str) -> Condition:
    """A condition as it stands in a pod's status: with its time, and the generation of
    the pod it is about.
    """
    old = get_condition(pod, condition["type"])
    new = {
        "lastProbeTime": None,
        **condition,
        "lastTransitionTime": last_transition_time(old, condition["status"], now),
    }
    generation = pod["metadata"].get("generation")
    if generation:
        new["observedGeneration"] = generation
    return new


def update_pod_condition(
    pod: Object, condition: Condition, now: str
) -> Condition | None:
    """`new_pod_condition`; None if the pod says just that already."""
    new = new_pod_condition(pod, condition, now)
    return new if says_something_else(get_condition(pod, new["type"]), new) else None


def says_something_else(old: Condition | None, new: Condition) -> bool:
    """Whether a pod's condition is worth writing: that it is true of a later
    generation, too, is not. Upstream: `UpdatePodCondition` (`isEqual`).
    """
    if old is None:
        return True
    return any(
        old.get(key) != value
        for key, value in new.items()
        if key != "observedGeneration"
    )
