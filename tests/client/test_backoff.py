"""Ten seconds, twenty, forty …: what fails is tried again later and later."""

from __future__ import annotations

from lifecycle.client.backoff import Backoff


def test_periods_double_from_ten_seconds_to_five_minutes() -> None:
    backoff = Backoff()
    assert backoff.get("a") == 0.0
    periods = []
    for now in range(0, 3500, 500):
        backoff.next("a", now)
        periods.append(backoff.get("a"))
    assert periods == [10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]
    assert backoff.get("b") == 0.0


def test_ten_quiet_minutes_are_forgiven() -> None:
    backoff = Backoff()
    backoff.next("a", 0)
    backoff.next("a", 600)
    assert backoff.get("a") == 20.0
    backoff.next("a", 1200.5)
    assert backoff.get("a") == 10.0
    backoff.next("a", 1201)
    assert backoff.is_in_backoff_since("a", 1795, 1801)
    assert not backoff.is_in_backoff_since("a", 1795, 1801.5)
    assert not backoff.is_in_backoff_since("b", 1795, 1795)


def test_too_soon_is_before_the_period_is_over() -> None:
    backoff = Backoff()
    backoff.next("a", 100)
    assert [backoff.is_in_backoff("a", now) for now in (100, 109.9, 110)] == [True, True, False]
    assert [backoff.is_in_backoff_since("a", 105, now) for now in (105, 114.9, 115)] == [True, True, False]
    assert [backoff.remaining("a", 105, now) for now in (105, 112, 115, 120)] == [10.0, 3.0, 0.0, 0.0]
    assert not backoff.is_in_backoff("b", 100)
    assert backoff.remaining("b", 100, 100) == 0.0


def test_the_last_try_is_remembered_until_the_key_is_forgotten() -> None:
    backoff = Backoff()
    backoff.next("a", 7)
    assert (backoff.last_try("a"), backoff.last_try("b")) == (7, 0.0)
    backoff.forget("a")
    backoff.forget("a")
    assert (backoff.get("a"), backoff.last_try("a"), backoff.is_in_backoff("a", 7)) == (0.0, 0.0, False)


def test_other_periods_may_be_wished_for() -> None:
    backoff = Backoff(1.0, 4.0)
    periods = []
    for now in (0, 8, 16, 24, 32.5):
        backoff.next("a", now)
        periods.append(backoff.get("a"))
    assert periods == [1.0, 2.0, 4.0, 4.0, 1.0]
    assert not backoff.is_in_backoff_since("a", 40, 40.6)


def test_what_has_been_quiet_for_long_enough_is_given_back() -> None:
    backoff = Backoff(1.0, 4.0)
    backoff.next("a", 0)
    backoff.next("b", 1)
    backoff.forget_old(8)
    assert [backoff.get(key) for key in "ab"] == [1.0, 1.0]
    backoff.forget_old(8.5)
    assert [backoff.get(key) for key in "ab"] == [0.0, 1.0]


def test_all_keys_of_an_owner_are_forgotten_at_once() -> None:
    backoff = Backoff()
    for key in (("a", "x"), ("a", "y"), ("b", "x"), "a"):
        backoff.next(key, 7)
    backoff.forget_all("a")
    assert [backoff.last_try(key) for key in (("a", "x"), ("a", "y"), ("b", "x"), "a")] == [0.0, 0.0, 7, 7]
