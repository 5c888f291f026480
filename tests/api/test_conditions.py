"""Conditions keep their time until their status changes, wherever they are put."""

from __future__ import annotations

from typing import Any

from lifecycle.api.conditions import (
    find_status_condition,
    is_status_condition_true,
    new_pod_condition,
    remove_condition,
    replace_condition,
    replace_or_append_condition,
    set_status_condition,
    update_pod_condition,
    with_condition,
)

THEN, NOW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def condition(kind: str, status: str, reason: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, **more}


def old_list() -> list[dict[str, Any]]:
    return [condition("A", "True", lastTransitionTime=THEN), condition("B", "False", lastTransitionTime=THEN)]


def test_a_condition_is_found_by_its_type() -> None:
    assert find_status_condition(old_list(), "B") == old_list()[1]
    assert find_status_condition(old_list(), "C") is None
    assert find_status_condition(None, "A") is None
    assert is_status_condition_true(old_list(), "A")
    assert not is_status_condition_true(old_list(), "B")


def test_a_new_reason_keeps_the_time_and_the_place() -> None:
    conditions = old_list()
    assert set_status_condition(conditions, condition("A", "True", "Other"), NOW)
    assert conditions == [condition("A", "True", "Other", lastTransitionTime=THEN), old_list()[1]]


def test_a_new_status_has_a_new_time() -> None:
    conditions = old_list()
    assert set_status_condition(conditions, condition("A", "False"), NOW)
    assert conditions[0] == condition("A", "False", lastTransitionTime=NOW)


def test_what_is_set_again_changes_nothing() -> None:
    conditions = old_list()
    assert not set_status_condition(conditions, condition("B", "False"), NOW)
    assert conditions == old_list()


def test_what_was_not_there_comes_last() -> None:
    conditions = old_list()
    assert set_status_condition(conditions, condition("C", "True"), NOW)
    assert [c["type"] for c in conditions] == ["A", "B", "C"]
    assert conditions[2]["lastTransitionTime"] == NOW


def test_a_list_is_replaced_in_place_or_at_its_end() -> None:
    other = condition("A", "Unknown")
    assert replace_condition(old_list(), other) == [old_list()[1], other]
    assert replace_or_append_condition(old_list(), other) == [other, old_list()[1]]
    assert replace_or_append_condition(None, other) == [other]
    assert remove_condition(old_list(), "A") == [old_list()[1]]


def test_a_pods_condition_tells_its_generation_and_is_not_written_twice() -> None:
    pod = {"metadata": {"generation": 3}, "status": {"conditions": old_list()}}
    new = new_pod_condition(pod, condition("A", "True"), NOW)
    assert new == condition("A", "True", lastProbeTime=None, lastTransitionTime=THEN, observedGeneration=3)
    assert update_pod_condition(pod, condition("A", "True"), NOW) is None, "only the generation would be another"
    pod["status"] = {"conditions": [new]}
    assert update_pod_condition(pod, condition("A", "True"), NOW) is None
    changed = update_pod_condition(pod, condition("A", "False"), NOW)
    assert changed is not None
    assert changed["lastTransitionTime"] == NOW


def test_a_condition_that_a_pod_has_not_had_is_news() -> None:
    pod = {"metadata": {}, "status": {"phase": "Running", "conditions": old_list()}}
    assert update_pod_condition(pod, condition("C", "True"), NOW) == condition(
        "C", "True", lastProbeTime=None, lastTransitionTime=NOW
    )


def test_what_else_a_status_says_stays() -> None:
    obj = {"kind": "Pod", "status": {"phase": "Running", "conditions": old_list()}}
    new = with_condition(obj, condition("C", "True"), NOW)
    added = condition("C", "True", lastTransitionTime=NOW)
    assert new == {"kind": "Pod", "status": {"phase": "Running", "conditions": [*old_list(), added]}}
    assert obj["status"]["conditions"] == old_list()
