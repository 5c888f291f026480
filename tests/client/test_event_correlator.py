"""Aggregate, count, throttle: each at its bound. The numbers are those of upstream's `events_cache.go`."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.client.event_correlator import LRU, MAX_LRU_CACHE_ENTRIES, Correlated, EventCorrelator, event_key

ABOUT = {
    "kind": "Pod", "namespace": "ns", "name": "p", "uid": "u", "apiVersion": "v1", "fieldPath": "spec.containers{a}",
}  # fmt: skip


def event(message: str = "m", **changes: Any) -> Object:
    involved = ABOUT | {key: changes.pop(key) for key in list(changes) if key in ABOUT}
    source = {"component": "kubelet", "host": "n1"}
    source |= {key: changes.pop(key) for key in list(changes) if key in source}
    return {
        "metadata": {"name": f"p.{message}", "namespace": "ns"}, "involvedObject": involved, "source": source,
        "reason": "R", "message": message, "type": "Normal", "count": 1, "firstTimestamp": "t1", "lastTimestamp": "t1",
        "reportingComponent": "kubelet", "reportingInstance": "n1", **changes,
    }  # fmt: skip


DIFFERENT = [
    {"kind": "Node"}, {"namespace": "other"}, {"name": "q"}, {"uid": "v"}, {"apiVersion": "v2"},
    {"fieldPath": "spec.containers{b}"}, {"component": "scheduler"}, {"host": "n2"}, {"type": "Warning"},
    {"reason": "S"}, {"message": "other"},
]  # fmt: skip


@pytest.mark.parametrize("change", DIFFERENT, ids=str)
def test_events_that_differ_in_anything_but_time_are_written_each(change: dict[str, str]) -> None:
    correlator = EventCorrelator()
    assert event_key(event()) == event_key(event(firstTimestamp="t2", lastTimestamp="t2", count=5))
    other = event(**change)
    assert event_key(event()) != event_key(other)
    for each in (event(), other):
        found = correlator.correlate(each, 0)
        assert found is not None
        assert (found.event, found.patch) == (each, None)


@pytest.mark.parametrize(
    "missing", ["component", "host", "kind", "namespace", "name", "uid", "apiVersion", "fieldPath"]
)
def test_what_is_not_said_counts_as_empty(missing: str) -> None:
    bare = event()
    for part in (bare["involvedObject"], bare["source"]):
        part.pop(missing, None)
    assert event_key(bare) == event_key(event(**{missing: ""}))


def test_the_same_again_is_a_patch_of_count_time_and_message() -> None:
    correlator = EventCorrelator()
    correlator.correlate(event(), 0)
    correlator.update_state(
        event() | {"metadata": {"name": "stored", "namespace": "ns"}, "count": 7, "firstTimestamp": "t0"}
    )
    again = correlator.correlate(event(lastTimestamp="t2", firstTimestamp="t2"), 1)
    assert again is not None
    assert again.patch == {"count": 8, "lastTimestamp": "t2", "message": "m"}
    assert again.event == event(lastTimestamp="t2") | {
        "metadata": {"name": "stored", "namespace": "ns"}, "count": 8, "firstTimestamp": "t0",
    }  # fmt: skip
    third = correlator.correlate(event(lastTimestamp="t3", firstTimestamp="t3"), 2)
    assert third is not None
    assert third.patch == {"count": 9, "lastTimestamp": "t3", "message": "m"}
    assert third.event["firstTimestamp"] == "t0"


def combined(correlator: EventCorrelator, now: float, messages: range, **changes: Any) -> list[bool]:
    """Whether each of these messages was put into the shared event."""
    out = []
    for number in messages:
        found = correlator.correlate(event(f"m{number}", **changes), now)
        assert found is not None
        out.append(found.event["message"] == f"(combined from similar events): m{number}")
        same = {"metadata", "message", "reportingComponent", "reportingInstance", "count"}
        assert {k: v for k, v in found.event.items() if k not in same} == {
            k: v for k, v in event(**changes).items() if k not in same
        }
        reporter = ("", "") if out[-1] else ("kubelet", "n1")
        assert (found.event["reportingComponent"], found.event["reportingInstance"]) == reporter
    return out


def test_the_tenth_message_of_a_kind_is_combined_and_so_are_all_after_it() -> None:
    assert combined(EventCorrelator(), 0, range(13)) == [False] * 9 + [True] * 4


def test_a_message_that_was_seen_does_not_count_twice() -> None:
    correlator = EventCorrelator()
    assert combined(correlator, 0, range(9)) == [False] * 9
    assert combined(correlator, 0, range(9)) == [False] * 9
    assert combined(correlator, 0, range(9, 11)) == [True, True]


@pytest.mark.parametrize(("pause", "still"), [(600.0, True), (600.5, False)])
def test_ten_quiet_minutes_begin_anew(pause: float, still: bool) -> None:
    correlator = EventCorrelator()
    combined(correlator, 0, range(5))
    combined(correlator, 500, range(5, 9))  # each event moves the time on
    assert combined(correlator, 500 + pause, range(9, 10)) == [still]


@pytest.mark.parametrize(
    "change", [c for c in DIFFERENT if not {"message", "fieldPath"} & c.keys()]
    + [{"reportingComponent": "x"}, {"reportingInstance": "x"}], ids=str,
)  # fmt: skip
def test_only_similar_events_are_combined(change: dict[str, str]) -> None:
    correlator = EventCorrelator()
    combined(correlator, 0, range(9))
    found = correlator.correlate(event("m9", **change), 0)
    assert found is not None
    assert found.event["message"] == "m9"


def test_events_about_other_parts_of_the_object_are_similar() -> None:
    correlator = EventCorrelator()
    combined(correlator, 0, range(9))
    found = correlator.correlate(event("m9", fieldPath="spec.containers{b}"), 0)
    assert found is not None
    assert found.event["message"] == "(combined from similar events): m9"


def test_twenty_five_at_once_and_then_one_in_five_minutes() -> None:
    correlator = EventCorrelator()

    def written(count: int, now: float, **changes: Any) -> int:
        return sum(correlator.correlate(event(**changes), now) is not None for _ in range(count))

    assert written(40, 0) == 25
    assert written(5, 0, reason="other") == 0  # the source and the object count, not the reason
    assert written(5, 0, name="q") == 5
    assert written(5, 0, component="scheduler") == 5
    assert written(5, 299) == 0
    assert written(5, 300.5) == 1
    assert written(5, 850) == 1
    assert written(5, 1201) == 2
    assert written(100, 1_000_000) == 25  # no more than the burst is saved up


def test_what_is_dropped_is_counted_all_the_same() -> None:
    correlator = EventCorrelator()
    for _ in range(30):
        correlator.correlate(event(), 0)
    found = correlator.correlate(event(), 301)
    assert found is not None
    assert found.event["count"] == 31


def test_the_least_recently_used_is_forgotten_first() -> None:
    cache: LRU[tuple[str, ...], int] = LRU(2)
    cache.put(("a",), 1)
    cache.put(("b",), 2)
    assert cache.get(("a",)) == 1
    cache.put(("c",), 3)
    assert [cache.get((key,)) for key in "abc"] == [1, None, 3]
    cache.put(("a",), 4)
    cache.put(("d",), 5)
    assert [cache.get((key,)) for key in "acd"] == [4, None, 5]


def test_four_thousand_and_ninety_six_sources_are_remembered() -> None:
    assert MAX_LRU_CACHE_ENTRIES == 4096
    for others, remembered in ((4095, True), (4096, False)):
        correlator = EventCorrelator()
        correlator.correlate(event(), 0)
        for number in range(others):
            correlator.correlate(event(name=f"q{number}"), 0)
        found = correlator.correlate(event(), 0)
        assert found is not None
        assert (found.patch is not None) is remembered


def test_what_would_begin_afresh_is_not_kept() -> None:
    correlator = EventCorrelator()
    for number in range(1000):
        correlator.correlate(event(name=f"q{number}"), float(number))
    before = correlator.remembered
    assert before < 3000 - 350  # of the aggregates only ten minutes' worth
    correlator.correlate(event(), 10_000.0)
    assert correlator.remembered == 1000 + 3  # only what has been written is counted on


def test_what_was_decided_about_an_event_does_not_change() -> None:
    found = Correlated(event(), None)
    with pytest.raises(FrozenInstanceError):
        found.patch = {}  # type: ignore[misc]
