"""What controllers remember of their own writes, and of when things changed: step by step."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.client.keyed_worker import RetryError
from lifecycle.controllers.consistency_store import ConsistencyStore
from lifecycle.controllers.endpointslice.endpointslice_tracker import EndpointSliceTracker
from lifecycle.controllers.expectations import EXPECTATIONS_TIMEOUT, ControllerExpectations
from lifecycle.controllers.job.tracking_utils import UIDTrackingExpectations
from lifecycle.controllers.trigger_time_tracker import TriggerTimeTracker


def a_slice(uid: str = "s", generation: int = 1) -> Object:
    return {"metadata": {"name": uid, "uid": uid, "generation": generation}}


def test_a_cache_is_behind_until_it_shows_what_was_written() -> None:
    tracker = EndpointSliceTracker()
    assert not tracker.stale_slices("k", []), "nothing was written"
    tracker.update("k", a_slice(generation=3))
    for cached, stale in (
        ([], True),
        ([a_slice(generation=2)], True),
        ([a_slice("other", 9)], True),
        ([a_slice(generation=3)], False),
        ([a_slice(generation=4)], False),
        ([a_slice(generation=3), a_slice("other", 1)], False),
    ):
        assert tracker.stale_slices("k", cached) is stale
    assert not tracker.stale_slices("another", [])
    tracker.update("k", a_slice("t", 1))
    assert tracker.stale_slices("k", [a_slice(generation=3)]), "one of two"
    assert not tracker.stale_slices("k", [a_slice(generation=3), a_slice("t")])
    tracker.delete_service("k")
    assert not tracker.stale_slices("k", [])
    tracker.delete_service("k")
    tracker.update("k", {"metadata": {"uid": "bare"}})
    assert tracker.stale_slices("k", [])
    assert not tracker.stale_slices("k", [{"metadata": {"uid": "bare"}}]), "one without a generation has zero"


def test_a_cache_is_behind_while_it_shows_what_was_deleted() -> None:
    tracker = EndpointSliceTracker()
    tracker.update("k", a_slice())
    tracker.expect_deletion("k", a_slice())
    assert tracker.stale_slices("k", [a_slice()])
    assert not tracker.stale_slices("k", [])
    assert not tracker.stale_slices("k", [a_slice("other")])
    assert tracker.handle_deletion("k", a_slice())
    assert not tracker.stale_slices("k", [a_slice()]), "it has been seen, and is no longer waited for"


def test_who_deleted_or_changed_a_slice_is_known() -> None:
    tracker = EndpointSliceTracker()
    assert tracker.should_sync("k", a_slice()), "somebody else's, or from before our time"
    assert tracker.handle_deletion("k", a_slice()), "nothing was expected of it"
    tracker.update("k", a_slice(generation=3))
    assert [tracker.should_sync("k", a_slice(generation=g)) for g in (2, 3, 4)] == [False, False, True]
    assert tracker.should_sync("k", a_slice("other"))
    assert not tracker.handle_deletion("k", a_slice()), "we did not ask for that"
    assert tracker.handle_deletion("k", a_slice()), "and the second time there is nothing to know"


def a_pod(name: str, since: str = "", kind: str = "Ready") -> Object:
    conditions = [{"type": kind, "status": "True", **({"lastTransitionTime": since} if since else {})}]
    return {"metadata": {"name": name}, "status": {"conditions": conditions}}


def service(created: str = "t1") -> Object:
    return {"metadata": {"name": "s", "creationTimestamp": created}}


def test_what_an_endpoint_shows_changed_at_the_earliest_time_that_is_news() -> None:
    """Upstream's table: `endpointslice/util/trigger_time_tracker_test.go`."""
    tracker = TriggerTimeTracker()
    steps: list[tuple[Object, list[Object], str]] = [
        (service(), [a_pod("a", "t5")], "t1"),  # the first look: the Service itself
        (service(), [a_pod("a", "t5")], ""),
        (service(), [a_pod("a", "t6")], "t6"),
        (service(), [a_pod("a", "t4")], ""),  # back in time is no news
        (service(), [a_pod("a", "t6"), a_pod("b", "t5")], "t5"),
        (service(), [a_pod("b", "t5")], ""),  # one that goes has no time
        (service(), [a_pod("a", "t6"), a_pod("b", "t5")], "t6"),  # it comes back
        (service("t8"), [a_pod("a", "t9"), a_pod("b", "t5")], "t8"),  # made anew
        (service("t8"), [a_pod("a"), a_pod("b", "t9", "ContainersReady"), {"metadata": {"name": "c"}}], ""),
        (service("t8"), [a_pod("a", "t9"), a_pod("b", "t7")], "t7"),
    ]
    found = [tracker.compute_endpoint_last_change_trigger_time("k", made, pods) for made, pods, _ in steps]
    assert found == [expected for _, _, expected in steps]
    assert tracker.compute_endpoint_last_change_trigger_time("other", service(), [a_pod("a", "t0")]) == "t1"
    tracker.delete_service("k")
    tracker.delete_service("k")
    assert tracker.compute_endpoint_last_change_trigger_time("k", service("t8"), [a_pod("a", "t9")]) == "t8"
    assert tracker.compute_endpoint_last_change_trigger_time("new", {"metadata": {}}, [a_pod("a", "t9")]) == ""


class _Clock(Clock):
    at = 1000.0

    def now(self) -> float:
        return self.at


def test_a_controller_waits_for_what_it_asked_for_and_not_for_ever() -> None:
    clock = _Clock()
    expectations = ControllerExpectations(clock)
    assert expectations.satisfied("k")
    expectations.creation_observed("k")
    expectations.deletion_observed("k", "a")
    assert expectations.satisfied("k"), "what nobody expects harms nobody"
    expectations.expect_creations("k", 2)
    waiting = []
    for _ in range(3):
        waiting.append(expectations.satisfied("k"))
        expectations.creation_observed("k")
    assert waiting == [False, False, True]
    assert expectations.satisfied("k"), "one more than expected is no debt"
    expectations.expect_deletions("k", ["a", "b"])
    for key, done in (("a", False), ("a", False), ("other", False), ("b", True)):
        expectations.deletion_observed("k", key)
        assert expectations.satisfied("k") is done
    expectations.expect("k", creations=1, deletions=["a"])
    expectations.creation_observed("k")
    assert not expectations.satisfied("k")
    expectations.deletion_observed("k", "a")
    assert expectations.satisfied("k")
    expectations.expect("k", creations=1, deletions=["a"])
    assert expectations.satisfied("another")
    clock.at += EXPECTATIONS_TIMEOUT
    assert not expectations.satisfied("k")
    clock.at += 1
    assert expectations.satisfied("k")
    expectations.expect_creations("k", 1)
    assert not expectations.satisfied("k"), "a new one counts from now"
    expectations.delete_expectations("k")
    expectations.delete_expectations("k")
    assert expectations.satisfied("k")
    assert EXPECTATIONS_TIMEOUT == 300.0


def test_finalizers_are_waited_for_by_name() -> None:
    expected = UIDTrackingExpectations()
    assert expected.expected_uids("k") == frozenset()
    expected.finalizer_removal_observed("k", "a")
    expected.expect_finalizers_removed("k", ["a", "b"])
    expected.expect_finalizers_removed("k", ["c"])
    assert expected.expected_uids("k") == {"a", "b", "c"}
    expected.finalizer_removal_observed("k", "b")
    expected.finalizer_removal_observed("k", "b")
    assert expected.expected_uids("k") == {"a", "c"}
    assert expected.expected_uids("other") == frozenset()
    expected.delete_expectations("k")
    expected.delete_expectations("k")
    assert expected.expected_uids("k") == frozenset()


def test_nobody_looks_at_a_copy_older_than_what_they_wrote() -> None:
    store = ConsistencyStore()

    def at(revision: str) -> Object:
        return {"metadata": {"resourceVersion": revision}}

    store.ensure_ready("k", at("1"))
    store.wrote_at("k", at("100"))
    with pytest.raises(RetryError, match=r"the cache has not seen k at revision 100 yet$"):
        store.ensure_ready("k", at("99"))  # numbers, not text
    store.ensure_ready("k", at("100"))
    store.ensure_ready("other", at("1"))
    store.wrote_at("k", at("50"))
    store.ensure_ready("k", at("50"))
    store.clear("k")
    store.clear("k")
    store.ensure_ready("k", at("1"))
