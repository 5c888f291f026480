"""Whatever is done, the stores in memory, in a file and behind a gateway answer alike; and each promise can be broken."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import all_resources, resource
from lifecycle.etcd import conformance, memory, sqlite
from lifecycle.etcd import store as contract
from lifecycle.etcd.conformance import CHECKS, run_check
from lifecycle.etcd.etcd import EtcdStore
from lifecycle.etcd.keys import registry_key, resource_prefix
from lifecycle.etcd.lease_manager import LeaseManager
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import (
    Bell,
    CompactedError,
    Event,
    KeyValue,
    LeaseNotFoundError,
    RangeResult,
    Store,
    StoreError,
    prefix_end,
)
from lifecycle.etcd.watches import EventWatch, Watches
from tests.etcd.fake_client import FakeClient

KEYS = [
    "/registry/pods/a/x",
    "/registry/pods/a/y",
    "/registry/pods/ab/x",
    "/registry/pods",
    "/registry/nodes/x",
    "/odd",
]
RANGES = [("/registry/pods/", "/registry/pods0"), ("/registry/", "/registry0"), ("/registry/pods/a/x", "/registry/pods/a/x\0"),
          ("/", "0"), ("/registry/pods/a/", "/registry/pods/ab/x"), ("/z", "/a")]  # fmt: skip
number = st.integers(0, 9)
step = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(KEYS), st.sampled_from([None, 0, -1, 1, 3]), st.sampled_from([0, 0, 1, 2])),
    st.tuples(st.just("delete"), st.sampled_from(KEYS), st.sampled_from([None, -1, 2]), st.just(0)),
    st.tuples(st.just("get"), st.sampled_from(KEYS), number, st.just(0)),
    st.tuples(st.just("range"), st.sampled_from(RANGES), number, st.integers(0, 3)),
    st.tuples(st.just("watch"), st.sampled_from(RANGES), number, st.just(0)),
    st.tuples(st.sampled_from(["grant", "revoke", "compact"]), st.just(""), st.integers(1, 6), st.just(0)),
    st.tuples(st.just("sleep"), st.just(""), st.sampled_from([1, 30]), st.just(0)),
)  # fmt: skip


async def history_of(store: Store, steps: Sequence[tuple[str, Any, Any, int]]) -> list[Any]:
    """What a store answers to each step; errors by kind, words and number."""
    out: list[Any] = []
    watches: list[Any] = []
    for what, arg, condition, more in steps:
        try:
            match what:
                case "put" | "delete":
                    held = await store.get(arg) if condition == -1 else None
                    expected = (held.mod_revision if held else 0) if condition == -1 else condition
                    if what == "put":
                        answer: Any = await store.put(arg, b"%d" % len(out), expected=expected, lease=more)
                    else:
                        answer = await store.delete(arg, expected=expected)
                case "get":
                    answer = await store.get(arg, condition)
                case "range":
                    answer = await store.range(*arg, revision=condition, limit=more)
                case "watch":
                    watches.append(store.watch(*arg, revision=condition))
                    answer = None
                case "grant":
                    answer = await store.grant(10 * condition)
                case "revoke":
                    answer = await store.revoke(condition)
                case "compact":
                    answer = await store.compact(condition)
                case _:
                    answer = await asyncio.sleep(condition)
        except (StoreError, contract.CompactedError, contract.FutureRevisionError) as error:
            answer = (type(error), str(error), vars(error))
        await store.catch_up()
        out.append((answer, store.revision))
    for watch in watches:
        await asyncio.sleep(1)
        out.append([*watch.take()])
        try:
            await store.put("/registry/pods/a/x", b"last")
            out.append(await asyncio.wait_for(anext(aiter(watch)), 1))
        except TimeoutError:
            out.append("nothing")
        except CompactedError as error:
            out.append(error.compact_revision)
        await watch.close()
    return out


def _play(open_store: Callable[[], Store], steps: Sequence[tuple[str, Any, Any, int]]) -> list[Any]:
    async def main() -> list[Any]:
        store = open_store()
        try:
            return await history_of(store, steps)
        finally:
            await store.close()

    return run_virtual(main())


@given(st.lists(step, max_size=25))
@settings(max_examples=30)
def test_the_store_in_a_file_answers_as_the_one_in_memory(steps: list[tuple[str, Any, Any, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        in_a_file = _play(lambda: SQLiteStore(Path(folder, "s.db")), steps)
    assert in_a_file == _play(MemoryStore, steps)


@given(st.lists(step.filter(lambda one: one[0] not in ("sleep", "grant")), max_size=25))
@settings(max_examples=60)
def test_the_store_behind_a_gateway_answers_as_the_one_in_memory(steps: list[tuple[str, Any, Any, int]]) -> None:
    def behind() -> Store:
        fake = FakeClient()
        return EtcdStore(fake, fake.store.revision)  # type: ignore[arg-type]

    assert _play(behind, steps) == _play(MemoryStore, steps)


class Broken(MemoryStore):
    """Keeps the promises but one."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how, self.behind = how, False

    @property
    def revision(self) -> int:
        return self._revision - (1 if self.behind else 0)

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        if self.how == "the past is now":
            revision = 0
        kv = await super().get(key, revision)
        if kv is None:
            return KeyValue(key, b"", 0, 0, 0) if self.how == "nothing is something" else None
        match self.how:
            case "versions stand still":
                return kv._replace(version=1)
            case "creation moves":
                return kv._replace(create_revision=kv.mod_revision)
            case "values are text":
                return kv._replace(value=kv.value.decode(errors="replace").encode())
            case "leases are forgotten":
                return kv._replace(lease=0)
        return kv

    async def range(self, start: str, end: str, *, revision: int = 0, limit: int = 0) -> RangeResult:
        page = await super().range(start, end, revision=0 if self.how == "ranges are now" else revision, limit=limit)
        match self.how:
            case "no order":
                return replace(page, kvs=page.kvs[::-1])
            case "the end belongs to it":
                last = await self.get(end)
                return replace(page, kvs=[*page.kvs, last] if last else page.kvs)
            case "pages count themselves":
                return replace(page, count=len(page.kvs))
            case "there is always more":
                return replace(page, more=bool(limit) and len(page.kvs) == limit)
            case "ranges are a revision behind":
                return replace(page, revision=page.revision - 1)
            case "values are short":
                return replace(page, kvs=[kv._replace(value=kv.value[:1_000]) for kv in page.kvs])
        return page

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        match self.how:
            case "conditions are not looked at":
                expected = None
            case "zero is any":
                expected = expected or None
            case "sizes are not looked at":
                value = value[:1_000_000]
            case "leases are not looked at" if lease not in self._leased:
                lease = 0
            case "a refusal leaves something" if len(value) > contract.MAX_REQUEST_BYTES:
                await super().put(key, b"y")
            case "writes are refused":
                return None
            case "a refusal takes something" if len(value) > contract.MAX_REQUEST_BYTES:
                await super().delete(key)
            case "old conditions hold" if expected is not None and (held := self._live.get(key)):
                expected = held.mod_revision if expected == held.create_revision else expected
            case "what is gone can be built on" if key not in self._live:
                expected = None
            case "losers do not wait":
                held = self._live.get(key)
                if expected is not None and expected != (held.mod_revision if held else 0):
                    self.behind = True
                    return None
            case "a late refusal costs a revision" if expected and (held := self._live.get(key)) and held.version == 2:
                self._revision += 1
            case "revisions jump":
                self._revision += 1
            case "leases come first":
                self._leases.check(lease)
            case "the first life counts" | "deletions are states" if expected and key not in self._live:
                past = self._versions.get(key)
                if past and (expected == past.newest.mod_revision) == (self.how == "deletions are states"):
                    expected = None
            case "compare, and then swap" if expected is not None:
                held = await self.get(key)
                if expected != (held.mod_revision if held else 0):
                    return None
                await asyncio.sleep(0)
                expected = None
            case "a refusal costs a revision":
                held = await super().get(key)
                if expected is not None and expected != (held.mod_revision if held else 0):
                    self._revision += 1
        answer = await super().put(key, value, expected=expected, lease=lease)
        return None if answer is None else answer + (self.how == "revisions are one too many")

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        if self.how == "deletions are unconditional":
            expected = None
        if self.how == "what is gone is deleted again" and expected and key not in self._live:
            return self.revision
        done = await super().delete(key, expected=expected)
        return self.revision if done is None and self.how == "deletes what is not there" else done

    def watch(self, start: str, end: str, *, revision: int = 0, progress: bool = False) -> EventWatch:
        match self.how:
            case "watches begin now":
                revision = 0
            case "watches begin a revision late" if revision:
                revision += 1
            case "watches tell all":
                start, end = "/", "0"
            case "the future is told early" if revision > self.revision:
                revision = 0
            case "old watches are quiet" if revision and revision <= self._compacted:
                revision = 0
        watch = super().watch(start, end, revision=revision)
        if self.how == "watches tell twice":
            feed = watch.feed
            watch.feed = lambda event: (feed(event), feed(event))[0]  # type: ignore[method-assign]
        if self.how == "of the past only the newest is told":
            newest = {event.kv.key: event for event in watch.take()}
            for event in newest.values():
                watch.feed(event)
        if self.how == "nothing before":
            plain = watch.feed
            watch.feed = lambda event: plain(event._replace(prev=None))  # type: ignore[method-assign]
        if self.how == "closed watches go on":
            watch.close = lambda: asyncio.sleep(0)  # type: ignore[method-assign]
        if self.how == "events come late":
            told = watch.feed
            watch.feed = lambda event: asyncio.get_running_loop().call_soon(told, event)  # type: ignore[assignment,method-assign]
        return watch

    async def revoke(self, lease: int) -> None:
        if self.how == "revoked leases stay":
            return
        if self.how == "leases take all they ever had":
            for key in self._leased[lease]:
                if key in self._live:
                    self._live[key] = self._live[key]._replace(lease=lease)
        await super().revoke(lease)

    async def compact(self, revision: int) -> None:
        match self.how:
            case "compaction forgets nothing":
                return
            case "compaction goes too far":
                revision = self.revision
            case "compaction may go back" if revision <= self._compacted:
                return
            case "the future can be forgotten" if revision > self.revision:
                return
        await super().compact(revision)
        if self.how == "compaction names another line":
            self._compacted -= 1
        if self.how == "compaction ends open watches":
            self._watches.end(CompactedError(revision))

    async def close(self) -> None:
        if self.how != "the end is not told":
            await super().close()


SABOTAGES = {
    "versions stand still": "a_key_keeps_its_history_of_versions",
    "creation moves": "a_key_keeps_its_history_of_versions",
    "revisions are one too many": "a_key_keeps_its_history_of_versions",
    "nothing is something": "a_key_keeps_its_history_of_versions",
    "values are text": "values_are_any_bytes_and_keys_any_text",
    "sizes are not looked at": "a_write_has_a_largest_size",
    "a refusal leaves something": "a_write_has_a_largest_size",
    "leases are forgotten": "a_lease_takes_its_keys_along",
    "leases are not looked at": "a_lease_takes_its_keys_along",
    "revoked leases stay": "a_lease_takes_its_keys_along",
    "leases take all they ever had": "a_lease_takes_its_keys_along",
    "conditions are not looked at": "a_write_happens_only_if_its_condition_holds",
    "zero is any": "a_write_happens_only_if_its_condition_holds",
    "deletions are unconditional": "a_write_happens_only_if_its_condition_holds",
    "deletes what is not there": "a_write_happens_only_if_its_condition_holds",
    "a refusal costs a revision": "a_write_happens_only_if_its_condition_holds",
    "compare, and then swap": "one_of_many_racing_writers_wins",
    "no order": "a_range_is_ordered_and_ends_before_its_end",
    "the end belongs to it": "ranges_may_be_empty_or_a_single_key",
    "ranges are a revision behind": "a_range_is_ordered_and_ends_before_its_end",
    "pages count themselves": "pages_count_what_they_leave_out",
    "there is always more": "pages_count_what_they_leave_out",
    "ranges are now": "pages_of_one_reading_are_one_picture",
    "the past is now": "the_past_stays_as_it_was",
    "the future can be forgotten": "the_future_cannot_be_read",
    "values are short": "many_keys_come_back_whole",
    "watches begin now": "a_watch_from_the_past_has_no_gap",
    "watches begin a revision late": "a_watch_from_the_past_has_no_gap",
    "of the past only the newest is told": "a_watch_from_the_past_has_no_gap",
    "watches tell all": "a_watch_tells_each_change_once_in_order",
    "watches tell twice": "a_watch_tells_each_change_once_in_order",
    "nothing before": "a_watch_tells_each_change_once_in_order",
    "the future is told early": "a_watch_of_the_future_begins_there",
    "events come late": "a_write_is_in_the_watches_when_it_returns",
    "closed watches go on": "an_ended_watch_is_over",
    "the end is not told": "an_ended_watch_is_over",
    "compaction forgets nothing": "compaction_forgets_the_past_and_nothing_else",
    "compaction goes too far": "compaction_forgets_the_past_and_nothing_else",
    "compaction may go back": "compaction_forgets_the_past_and_nothing_else",
    "compaction names another line": "compaction_forgets_the_past_and_nothing_else",
    "old watches are quiet": "a_watch_from_before_the_compaction_fails",
    "compaction ends open watches": "a_watch_from_before_the_compaction_fails",
}  # fmt: skip


@pytest.mark.parametrize("how", SABOTAGES)
def test_a_store_that_breaks_a_promise_is_found_out(how: str) -> None:
    async def store() -> Store:
        return Broken(how)

    with pytest.raises((AssertionError, TimeoutError, CompactedError)):
        run_virtual(run_check(SABOTAGES[how], store))


@pytest.mark.parametrize(
    ("how", "check", "words"),
    [
        ("writes are refused", "a_range_is_ordered_and_ends_before_its_end", "an unconditional write was refused"),
        ("compaction may go back", "compaction_forgets_the_past_and_nothing_else", "no CompactedError"),
        ("a refusal leaves something", "a_write_has_a_largest_size", "a write that was refused has left something"),
        ("a refusal takes something", "a_write_has_a_largest_size", "a write that was refused has taken something away"),
        ("values are text", "values_are_any_bytes_and_keys_any_text", "high"),
        ("zero is any", "a_write_happens_only_if_its_condition_holds", "created twice"),
        ("old conditions hold", "a_write_happens_only_if_its_condition_holds", "an old condition held"),
        ("a late refusal costs a revision", "a_write_happens_only_if_its_condition_holds", "a refused write made a revision"),
        ("what is gone is deleted again", "a_write_happens_only_if_its_condition_holds", "deleted twice"),
        ("what is gone can be built on", "a_write_happens_only_if_its_condition_holds", "wrote over a key that is gone"),
        ("losers do not wait", "one_of_many_racing_writers_wins", "a loser came back before the winner's write could be seen"),
        ("the past is now", "the_past_stays_as_it_was", "0 at "), ("ranges are now", "the_past_stays_as_it_was", "at "),
        ("watches tell twice", "a_watch_tells_each_change_once_in_order", "6 events instead of 3"),
        ("revisions jump", "many_keys_come_back_whole", "revisions are not counted one by one"),
        ("leases come first", "a_lease_takes_its_keys_along", "a write that does not happen needs no lease"),
        ("the first life counts", "what_was_deleted_before_the_line_is_gone_and_begins_anew", "the first life's revision still counts"),
        ("deletions are states", "what_was_deleted_before_the_line_is_gone_and_begins_anew", "a deletion is no state to build on"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_broken_promise(how: str, check: str, words: str) -> None:
    async def store() -> Store:
        return Broken(how)

    with pytest.raises((AssertionError, LeaseNotFoundError)) as caught:
        run_virtual(run_check(check, store))
    if how != "leases come first":  # an error of the store's own comes through
        said = str(caught.value).partition("\n")[0]
        assert said == words or (words.endswith(" ") and said.startswith(words))


def test_a_check_is_kept_under_its_name_in_the_chapter_it_belongs_to() -> None:
    for name, function in CHECKS.items():
        chapter = function.__module__.rpartition(".")[2]
        assert getattr(getattr(conformance, chapter), name) is function
    assert set(conformance.__all__) == {
        "CHECKS", "StoreFactory", "compaction", "kv", "lease", "range", "run_check", "txn", "watch",
    }  # fmt: skip


def test_checks_that_a_broken_store_is_known_for() -> None:
    """The others ask again, in another order, what these ask."""
    assert set(CHECKS) - set(SABOTAGES.values()) == {
        "concurrent_counters_lose_no_step", "what_was_deleted_before_the_line_is_gone_and_begins_anew",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("start", "end"), [("/registry/pods/", "/registry/pods0"), ("/registry/", "/registry0"), ("/", "0"), ("a", "b"),
                       ("/registry/pods/a/", "/registry/pods/a0"), ("/registry/pods/a", "/registry/pods0"),
                       ("/registry/pods/", "/registry/q"), ("", "\U0010ffff")],
)  # fmt: skip
@given(st.lists(st.sampled_from([*KEYS, "/registry/pods/", "/registry/pods0", "a", "/a/b/c"]), max_size=8))
@settings(max_examples=30)
def test_a_watch_hears_of_the_keys_in_its_range_whatever_drawer_it_is_in(start: str, end: str, keys: list[str]) -> None:
    watches = Watches()
    watch, other = EventWatch(watches, start, end), EventWatch(watches, start, end)
    bell = Bell()
    watch.bells = [bell]
    for each in (watch, other):
        watches.add(each)
    watches.remove(other)
    watches.remove(other)
    events = [Event("PUT", KeyValue(key, b"", n, n, 1)) for n, key in enumerate(keys, 1)]
    for event in events:
        watches.tell(event)
    assert watch.take() == [event for event in events if start <= event.kv.key < end]
    assert bell.count() == bell.rung == len([key for key in keys if start <= key < end])
    assert other.take() == []
    watches.end()
    assert watch.ended
    assert not other.ended


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("pods", "/registry/pods/ns/x"), ("nodes", "/registry/minions/x"), ("services", "/registry/services/specs/ns/x"),
        ("endpoints", "/registry/services/endpoints/ns/x"), ("replicationcontrollers", "/registry/controllers/ns/x"),
        ("ingresses.networking.k8s.io", "/registry/ingress/ns/x"),
        ("networkpolicies.networking.k8s.io", "/registry/networkpolicies/ns/x"),
        (
            "customresourcedefinitions.apiextensions.k8s.io",
            "/registry/apiextensions.k8s.io/customresourcedefinitions/x",
        ),
        ("apiservices.apiregistration.k8s.io", "/registry/apiregistration.k8s.io/apiservices/x"),
        ("events", "/registry/events/ns/x"), ("leases.coordination.k8s.io", "/registry/leases/ns/x"),
    ],
)  # fmt: skip
def test_where_a_resource_lives(name: str, key: str) -> None:
    res = resource(name)
    assert registry_key(res, "ns" if res.namespaced else "", "x") == key
    assert key.startswith(resource_prefix(res))
    if not res.namespaced:
        assert registry_key(res, "ns", "x") == key  # a namespace that is said for nothing
    else:
        assert registry_key(res, "", "x") == f"{resource_prefix(res)}x"


def test_a_custom_resource_has_its_group_in_the_key() -> None:
    custom = replace(resource("pods"), group="example.com", plural="tabs")
    assert registry_key(custom, "ns", "x") == "/registry/example.com/tabs/ns/x"


def test_no_two_resources_share_a_prefix() -> None:
    """But for the versions of one resource, and events, which both groups show."""
    prefixes: dict[str, set[str]] = {}
    for res in all_resources():
        prefixes.setdefault(resource_prefix(res), set()).add(res.plural)
    assert {prefix: plurals for prefix, plurals in prefixes.items() if len(plurals) > 1} == {}


@pytest.mark.parametrize(("ttl", "spare"), [(3600, 60), (1200, 60), (1199, 59), (100, 5), (19, 0), (20, 1)])
def test_a_lease_is_asked_for_with_a_twentieth_more_and_at_most_a_minute(ttl: int, spare: int) -> None:
    async def main() -> None:
        granted: list[int] = []

        class Granting(MemoryStore):
            async def grant(self, ttl: int) -> int:
                granted.append(ttl)
                return await super().grant(ttl)

        manager = LeaseManager(Granting())
        first = await manager.get_lease(ttl)
        await asyncio.sleep(max(spare - 0.5, 0))
        second = await manager.get_lease(ttl)
        assert (first == second) == (spare > 0)
        await asyncio.sleep(0.5)
        assert await manager.get_lease(ttl) != first
        assert granted == [ttl + spare] * (2 if spare else 3)

    run_virtual(main())


def test_another_time_to_live_has_another_lease() -> None:
    async def main() -> None:
        manager = LeaseManager(MemoryStore())
        assert len({await manager.get_lease(ttl) for ttl in (3600, 60, 3600)}) == 3
        leases = [await manager.get_lease(3600) for _ in range(1_500)]
        assert [leases.count(each) for each in sorted(set(leases))] == [999, 501]  # a thousand with the one above

    run_virtual(main())


def test_how_much_history_is_kept_if_nobody_says() -> None:
    assert (memory.DEFAULT_HISTORY, sqlite.DEFAULT_HISTORY, sqlite.COMPACT_EVERY) == (20_000, 20_000, 1_000)
    assert sqlite.APPLICATION_ID.to_bytes(4, "big") == b"WHWH"


@pytest.mark.parametrize("history", [1, 3, 10])
def test_twice_the_history_is_the_most_that_is_kept(history: int) -> None:
    async def main() -> None:
        store = MemoryStore(history=history)
        for count in range(1, 8 * history):
            await store.put("/a", b"%d" % count)
            assert history <= len(store._log) or count < 2 * history
            assert len(store._log) <= 2 * history
            kept = await store.get("/a", max(store.revision - history, 2))
            assert kept is not None
        endless = MemoryStore(history=0)
        for count in range(100):
            await endless.put("/a", b"%d" % count)
        first = await endless.get("/a", 2)
        assert first is not None
        assert first.value == b"0"

    run_virtual(main())


@pytest.mark.parametrize(
    ("prefix", "end"), [("/a/", "/a0"), ("a", "b"), ("/registry/pods/", "/registry/pods0"), ("ü", "ý")]
)
def test_where_a_prefix_ends(prefix: str, end: str) -> None:
    assert prefix_end(prefix) == end
