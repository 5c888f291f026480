"""What has changed since somebody last looked, in a log that does not grow with the changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.scheduler.framework.change_log import ChangeLog


@given(st.lists(st.integers(0, 5)), st.integers(0, 10))
def test_it_tells_what_changed_after_so_many_changes_the_latest_first(keys: list[int], seen: int) -> None:
    log: ChangeLog[int] = ChangeLog()
    for key in keys:
        log.note(key)
    assert log.count == len(keys)
    assert log.since(seen) == list(dict.fromkeys(reversed(keys[seen:])))


def test_it_is_never_longer_than_there_are_things() -> None:
    log: ChangeLog[str] = ChangeLog()
    for _ in range(10_000):
        log.note("a")
        log.note("b")
    assert len(log._last) == 2
    assert log.since(log.count - 1) == ["b"]
    assert log.since(log.count) == []
