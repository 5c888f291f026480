"""What a pod's status says of a resize, and what of it is new."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.status.resize_conditions import PodResizeConditions

WAITS = {"type": "PodResizePending", "status": "True"}
WORKS = {"type": "PodResizeInProgress", "status": "True"}


@pytest.fixture
def conditions() -> PodResizeConditions:
    return PodResizeConditions()


def test_they_are_there_only_while_there_is_something_to_say(conditions: PodResizeConditions) -> None:
    assert conditions.of("u") == []
    conditions.set_in_progress("u", 3, "Error", "no room")
    conditions.set_pending("u", 4, "Deferred", "later")
    assert conditions.of("u") == [
        {**WAITS, "reason": "Deferred", "message": "later", "observedGeneration": 4},
        {**WORKS, "reason": "Error", "message": "no room", "observedGeneration": 3},
    ]
    conditions.clear_pending("u")
    assert [each["type"] for each in conditions.of("u")] == ["PodResizeInProgress"]
    assert conditions.clear_in_progress("u") == 3
    assert conditions.of("u") == []


def test_what_is_not_known_is_left_out(conditions: PodResizeConditions) -> None:
    conditions.set_pending("u", 0, "", "")
    conditions.set_in_progress("u", 0)
    assert conditions.of("u") == [WAITS, WORKS]


def test_each_pod_has_its_own(conditions: PodResizeConditions) -> None:
    conditions.set_pending("u", 1, "Deferred", "later")
    assert (conditions.of("other"), conditions.is_deferred("other"), conditions.is_in_progress("other")) == (
        [],
        False,
        False,
    )
    conditions.remove("other")
    conditions.remove("u")
    assert conditions.of("u") == []


def test_what_is_handed_out_is_a_copy(conditions: PodResizeConditions) -> None:
    conditions.set_pending("u", 1, "Deferred", "later")
    conditions.of("u")[0]["reason"] = "changed"
    assert conditions.of("u")[0]["reason"] == "Deferred"


@pytest.mark.parametrize(("reason", "deferred"), [("Deferred", True), ("Infeasible", False), ("", False)])
def test_who_waits_for_room_is_deferred(conditions: PodResizeConditions, reason: str, deferred: bool) -> None:
    assert not conditions.is_deferred("u")
    conditions.set_pending("u", 1, reason, "why")
    assert conditions.is_deferred("u") is deferred
    assert not conditions.is_in_progress("u")


def test_who_is_promised_more_is_in_progress_until_it_is_there(conditions: PodResizeConditions) -> None:
    assert not conditions.is_in_progress("u")
    conditions.set_in_progress("u", 1)
    assert conditions.is_in_progress("u")
    assert not conditions.is_deferred("u")
    conditions.clear_in_progress("u")
    assert not conditions.is_in_progress("u")


@pytest.mark.parametrize(
    ("generation", "reason", "message", "new"),
    [
        (1, "Deferred", "later", False),
        (1, "Deferred", "much later", False),
        (1, "Infeasible", "later", True),
        (2, "Deferred", "later", True),
    ],
)
def test_another_wish_or_another_reason_is_new(
    conditions: PodResizeConditions, generation: int, reason: str, message: str, new: bool
) -> None:
    assert conditions.set_pending("u", 1, "Deferred", "later")
    assert conditions.set_pending("u", generation, reason, message) is new
    assert conditions.of("u")[0]["message"] == message


def test_without_a_generation_the_same_wish_is_not_new(conditions: PodResizeConditions) -> None:
    assert conditions.set_pending("u", 0, "Deferred", "later")
    assert not conditions.set_pending("u", 0, "Deferred", "later")


def test_progress_is_new_if_anything_of_it_is(conditions: PodResizeConditions) -> None:
    assert conditions.set_in_progress("u", 1)
    assert not conditions.set_in_progress("u", 1)
    assert conditions.set_in_progress("u", 1, "Error", "no room")
    assert conditions.set_in_progress("u", 1, "Error", "less room")
    assert conditions.set_in_progress("u", 2, "Error", "less room")


def test_what_was_not_there_cannot_be_cleared(conditions: PodResizeConditions) -> None:
    assert conditions.clear_in_progress("u") is None
    conditions.set_pending("u", 1, "Deferred", "later")
    assert conditions.clear_in_progress("u") is None
    conditions.set_in_progress("u", 0)
    assert conditions.clear_in_progress("u") == 0


@pytest.mark.parametrize(
    ("status", "since"),
    [
        (
            {"conditions": [{"type": "PodResizePending", "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
            "2026-01-01T00:00:00Z",
        ),
        ({"conditions": [{"type": "PodResizePending"}]}, ""),
        ({"conditions": [{"type": "Ready", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_pods_status_tells_since_when_it_waits(conditions: PodResizeConditions, status: Any, since: str) -> None:
    assert conditions.pending_since({"status": status}) == since
