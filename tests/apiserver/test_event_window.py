"""The window of latest changes: it reaches back over what is fresh, and keeps little of what is not."""

from __future__ import annotations

import asyncio
import sys
import weakref
from itertools import count
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.apiserver.storage.cacher import event_window
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Change, Shown
from lifecycle.apiserver.storage.cacher.event_window import (
    AT_ONCE,
    FRESH,
    MAX_BYTES,
    MIN_CHANGES,
    OLD_BYTES,
    SETTLED,
    EventWindow,
)


class Busy:
    """A resource that is written now and then."""

    def __init__(self) -> None:
        self.window = EventWindow()
        self.now = 0.0
        self._revisions = count(1)

    def write(self, changes: int, *, every: float, size: int = 1) -> None:
        for _ in range(changes):
            self.now += every
            self.window.append(Change(next(self._revisions), None, None, self.now, size))


def test_a_quiet_resource_keeps_a_hundred_changes() -> None:
    quiet = Busy()
    quiet.write(500, every=10.0)
    assert len(quiet.window) == MIN_CHANGES


def test_a_busy_one_keeps_what_is_fresh_and_nothing_else() -> None:
    busy = Busy()
    busy.write(5_000, every=0.25)
    assert len(busy.window) == 4 * FRESH + 1
    oldest = busy.window.since(busy.window.start)[0]
    assert busy.now - oldest.recorded == FRESH


def test_when_it_is_quiet_again_the_past_is_let_go() -> None:
    busy = Busy()
    busy.write(5_000, every=0.1)
    busy.write(1_000, every=10.0)
    assert len(busy.window) == MIN_CHANGES


def test_after_a_busy_minute_a_few_changes_are_enough_to_let_it_go() -> None:
    busy = Busy()
    busy.write(5_000, every=0.01)
    assert len(busy.window) == 5_000
    busy.write(1, every=100.0)
    assert len(busy.window) == 5_001 - AT_ONCE
    busy.write(4, every=0.0)
    assert len(busy.window) == MIN_CHANGES
    assert busy.window.start == 5_005 - MIN_CHANGES


def test_it_never_grows_beyond_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_window, "MAX_CHANGES", 400)
    busy = Busy()
    busy.write(5_000, every=0.0)
    assert len(busy.window) == 400


def test_large_objects_have_a_bound_in_bytes() -> None:
    async def main() -> None:
        busy = Busy()
        busy.write(90, every=0.1, size=1 << 20)
        assert len(busy.window) == MAX_BYTES >> 20
        busy.write(90, every=0.1)
        assert len(busy.window) == 90 + (MAX_BYTES >> 20) - 1  # those that are small again are kept

    run_virtual(main())


def test_what_was_missed_is_told_in_order_and_what_is_forgotten_is_known() -> None:
    busy = Busy()
    busy.write(150, every=10.0)
    assert busy.window.start == 50
    assert [change.revision for change in busy.window.since(147)] == [148, 149, 150]
    assert [change.revision for change in busy.window.since(50)] == list(range(51, 151))
    busy.window.begin(200)
    assert (len(busy.window), busy.window.start, busy.window.since(200)) == (0, 200, [])


def test_what_is_old_and_much_goes_without_another_change() -> None:
    """There may never be one."""

    async def main() -> None:
        loop, window, size = asyncio.get_running_loop(), EventWindow(), OLD_BYTES // 4
        for revision in range(1, 9):
            window.append(Change(revision, None, None, loop.time(), size))
            await asyncio.sleep(1)
        await asyncio.sleep(FRESH - 5)
        assert len(window) == 8
        await asyncio.sleep(600)
        assert len(window) == 4, "a little is kept"
        assert window.start == 4
        window.append(Change(9, None, None, loop.time(), size))
        assert window.let_go() == []
        assert len(window) == 0

    run_virtual(main())


def test_what_goes_is_freed_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[tuple[list[int], int]] = []
    monkeypatch.setattr(
        event_window, "let_go", lambda things, size: gone.append(([each.revision for each in things], size))
    )

    async def main() -> None:
        loop, window, size = asyncio.get_running_loop(), EventWindow(), OLD_BYTES // 2
        for revision in range(1, 5):
            window.append(Change(revision, None, None, loop.time(), size))
        await asyncio.sleep(2 * FRESH)
        assert gone == [([1, 2], 2 * size)]
        window.let_go()

    run_virtual(main())


def large(number: int) -> Cached:
    return Cached(
        "k", {"kind": "X", "metadata": {"uid": str(number)}, "any": ["word"] * 10_000}, number, size=LARGE + 1
    )


def test_large_versions_that_are_past_are_packed_once_everybody_has_seen_them() -> None:
    async def main() -> None:
        loop, window, versions = asyncio.get_running_loop(), EventWindow(), [large(number) for number in range(5)]
        small = Cached("k", {"metadata": {}}, 9, size=LARGE)
        for revision in range(1, 5):
            window.append(Change(revision, versions[revision], versions[revision - 1], loop.time(), LARGE + 1))
            await asyncio.sleep(1)
        window.append(Change(5, small, versions[4], loop.time(), LARGE))  # so little is not worth it
        window.append(Change(6, None, small, loop.time(), LARGE))
        await asyncio.sleep(SETTLED - 1.5)
        assert [version.is_packed for version in versions] == [True, True, True, False, False]
        await asyncio.sleep(600)
        assert [version.is_packed for version in (*versions, small)] == [True, True, True, True, False, False]
        [change] = window.since(3)[:1]
        assert change.previous is versions[3]
        await window.unpack_since(3)
        assert [version.is_packed for version in versions] == [True, True, True, False, False]
        assert vars(type(versions[3]))["obj"].__get__(versions[3]) == large(3).obj
        await asyncio.sleep(SETTLED)
        assert versions[3].is_packed
        assert versions[0].obj == large(0).obj, "who cannot wait reads it here and now"
        window.begin(7)

    run_virtual(main())


@pytest.mark.parametrize("moment", [3.453, 2.363])
def test_whenever_a_version_comes_it_is_packed_and_no_moment_is_asked_for_twice(moment: float) -> None:
    """A difference that was rounded would not be over when it is."""

    async def main() -> None:
        window, version = EventWindow(), large(1)
        await asyncio.sleep(moment)
        window.append(Change(1, None, version, asyncio.get_running_loop().time(), LARGE + 1))
        await asyncio.sleep(SETTLED)
        await asyncio.sleep(0)
        assert version.is_packed

    run_virtual(main())


def test_what_is_packed_takes_little_and_a_version_that_is_shown_goes_with_the_stored_one() -> None:
    stored = large(1)
    shown = Shown(stored, lambda obj: {**obj, "kind": "Y"}, stored.size)
    stored.obj = Tree(stored.obj)
    tree = weakref.ref(stored.obj)
    assert shown.obj["kind"] == "Y"
    shown.pack()
    assert (shown.is_packed, stored.is_packed, tree()) == (True, True, None)
    assert sys.getsizeof(stored._packed) < 1_000
    shown.pack()
    assert shown.obj == {**large(1).obj, "kind": "Y"}
    assert not shown.is_packed
    with pytest.raises(AttributeError):
        _ = shown.absent  # type: ignore[attr-defined]


class Tree(dict[str, Any]):
    """An object of which can be said whether it is still there."""
