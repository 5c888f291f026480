"""Our side of a remote store, message by message and on virtual time: what is asked, when again, and what is told."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd import follower
from lifecycle.etcd.conformance import CHECKS, run_check
from lifecycle.etcd.etcd import PAGE, EtcdStore
from lifecycle.etcd.messages import Message
from lifecycle.etcd.store import (
    CompactedError,
    FutureRevisionError,
    LeaseNotFoundError,
    RequestTooLargeError,
    Store,
    StoreError,
    UnavailableError,
)
from tests.etcd.fake_client import AWAY, FakeClient, Fields

PODS = "/registry/pods/"
END = "/registry/pods0"


def opened(fake: FakeClient) -> EtcdStore:
    return EtcdStore(fake, fake.store.revision)  # type: ignore[arg-type]


def play(main: Callable[[FakeClient, EtcdStore], Awaitable[None]]) -> None:
    async def whole() -> None:
        fake = FakeClient()
        store = opened(fake)
        await main(fake, store)
        await store.close()
        assert fake.closed
        assert {task.get_name() for task in asyncio.all_tasks()} & {
            "etcd watch",
            "etcd revision",
            "etcd history",
        } == set()

    run_virtual(whole())


@pytest.mark.parametrize("how", ["plain", "fragments", "late"])
@pytest.mark.parametrize("check", [name for name in CHECKS if name != "many_keys_come_back_whole"])
def test_a_store_over_messages_keeps_the_promises_of_all(check: str, how: str) -> None:
    async def store() -> Store:
        fake = FakeClient()
        fake.fragments, fake.delay = how == "fragments", 0.01 if how == "late" else 0.0
        return opened(fake)

    run_virtual(run_check(check, store))


@pytest.mark.parametrize(
    ("call", "name", "fields"),
    [
        (lambda s: s.get("/a"), "Range", {"key": b"/a", "revision": 0}),
        (lambda s: s.get("/a", 1), "Range", {"key": b"/a", "revision": 1}),
        (lambda s: s.range("/a", "/b"), "Range", {"key": b"/a", "range_end": b"/b", "revision": 0, "limit": 1000}),
        (
            lambda s: s.range("/a", "/b", revision=1, limit=7), "Range",
            {"key": b"/a", "range_end": b"/b", "revision": 1, "limit": 7},
        ),
        (
            lambda s: s.put("/a", b"v"), "Txn",
            {"success": [{"request_put": {"key": b"/a", "value": b"v", "lease": 0}}]},
        ),
        (
            lambda s: s.delete("/a", expected=7), "Txn",
            {
                "success": [{"request_delete_range": {"key": b"/a"}}],
                "compare": [{"key": b"/a", "target": "MOD", "mod_revision": 7, "result": "EQUAL"}],
            },
        ),
        (lambda s: s.grant(60), "LeaseGrant", {"TTL": 60}),
        (lambda s: s.catch_up(), "Range", {"key": b"/registry/", "count_only": True}),
        (lambda s: s.compact(1), "Compact", {"revision": 1, "physical": True}),
    ],
)  # fmt: skip
def test_what_etcd_is_asked(call: Callable[[EtcdStore], Awaitable[Any]], name: str, fields: dict[str, Any]) -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await call(store)
        assert fake.asked[0] == (name, fields)

    play(main)


def test_the_watch_is_on_all_keys_and_goes_on_where_it_was() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await store.put("/a", b"1")
        fake.interrupt({"events": []})  # ended, with nothing said
        await asyncio.sleep(1)
        await store.put("/a", b"2")
        everything = {"key": b"\0", "range_end": b"\0", "prev_kv": True, "fragment": True}
        assert fake.streams == [everything | {"start_revision": revision} for revision in (2, 3)]

    play(main)


def test_a_broken_watch_is_opened_again_soon_and_then_once_a_second() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await asyncio.sleep(1)
        assert store.problem == ""
        fake.fail = AWAY
        fake.interrupt(AWAY)
        await asyncio.sleep(10)
        assert store.problem == str(AWAY)
        pauses = [after - before for before, after in itertools.pairwise(fake.times[1:])]
        assert pauses[:7] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0])
        assert fake.times[1] == pytest.approx(1.05)
        fake.fail = None
        await asyncio.sleep(1.5)
        assert store.problem == ""
        await store.put("/a", b"")
        again = len(fake.times)
        fake.fail = AWAY
        fake.interrupt(AWAY)
        begin = asyncio.get_running_loop().time()
        await asyncio.sleep(0.3)
        assert fake.times[again:] == pytest.approx([begin + 0.05, begin + 0.15])  # an event since: from the start

    play(main)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"events": []}, "etcdserver: watch ended"),
        ({"canceled": True, "cancel_reason": "no leader"}, "etcdserver: watch canceled: no leader"),
        ({"canceled": True}, "etcdserver: watch canceled: "),
        (StoreError("etcdserver: odd"), "etcdserver: odd"),
    ],
)
def test_why_nothing_comes_by_is_said(how: Any, problem: str) -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await asyncio.sleep(1)
        fake.interrupt(how)
        await asyncio.sleep(0.01)
        assert store.problem == problem
        await asyncio.sleep(1)
        assert store.problem == ""

    play(main)


def test_history_lost_ends_every_watch_and_it_goes_on_from_now() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await store.put(PODS + "a", b"1")
        watch = store.watch(PODS, END)
        fake.fail = AWAY
        fake.interrupt(AWAY)
        await asyncio.sleep(2)
        for number in range(5):
            await fake.store.put(PODS + "a", b"%d" % number)
        await fake.store.compact(6)
        caught_up = asyncio.ensure_future(store._follower.until(7))
        fake.fail = None
        with pytest.raises(CompactedError) as error:
            await anext(aiter(watch))
        assert error.value.compact_revision == 6
        assert store.revision == 7
        await caught_up
        fresh = store.watch(PODS, END)
        assert await store.put(PODS + "a", b"x") == 8
        assert [event.kv.mod_revision for event in fresh.take()] == [8]

    play(main)


@pytest.mark.parametrize("first", [2, 3, 4, 5])
def test_a_watch_from_before_the_log_is_fetched_and_joins_without_a_gap(first: int) -> None:
    """What this process has seen is kept; what is further back, etcd is asked."""

    async def main() -> None:
        fake = FakeClient()
        for number in range(3):
            await fake.store.put(PODS + "a", b"%d" % number)  # 2, 3, 4: before we came
        store = opened(fake)
        await store.put(PODS + "a", b"3")
        asked = len(fake.streams)
        watch = store.watch(PODS, END, revision=first)
        await store.put(PODS + "a", b"4")
        await fake.store.put(PODS + "a", b"5")
        fake._ring()
        await asyncio.sleep(1)
        assert len(fake.streams) - asked == (1 if first <= 4 else 0)
        assert [event.kv.mod_revision for event in watch.take()] == list(range(first, 8))
        await store.put(PODS + "a", b"6")
        assert [event.kv.mod_revision for event in watch.take()] == [8]
        assert store._follower._replays == {}
        await store.close()

    run_virtual(main())


def test_a_thousand_events_are_kept_and_compaction_forgets_them() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        log = store._follower._log
        for _ in range(1_003):
            await store.put(PODS + "a", b"")
        assert (len(log), log[0].kv.mod_revision) == (1_000, 5)
        assert store._follower._log_start == 4
        for revision, streams in ((5, 1), (4, 2)):  # the second is asked for
            watch = store.watch(PODS, END, revision=revision)
            await asyncio.sleep(1)
            assert len(fake.streams) == streams
            assert len(watch.take()) == 1_005 - revision
        await store.compact(1_000)
        assert (len(log), store._follower._log_start) == (4, 1_000)
        late = store.watch(PODS, END, revision=1_000)
        with pytest.raises(CompactedError) as caught:
            await anext(aiter(late))
        assert caught.value.compact_revision == 1_000

    assert follower.LOG == 1_000
    play(main)


def test_writers_hear_before_watches_and_a_refused_one_waits_for_what_beat_him() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        told: list[str] = []
        inner = fake.call

        async def slow(name: str, fields: Fields) -> Message:
            answer = await inner(name, fields)
            await asyncio.sleep(1)  # the watch is told long before the writer
            return answer

        fake.call = slow  # type: ignore[method-assign]
        watch = store.watch(PODS, END)

        async def write(key: str, expected: int | None = None) -> None:
            revision = await store.put(PODS + key, b"", expected=expected)
            told.append(f"{key} {revision} {[e.kv.mod_revision for e in watch.take()]}")

        await asyncio.gather(write("a"), write("a", expected=0))
        assert told == ["a 2 [2]", "a None []"]
        assert store._follower._under_way == {}

    play(main)


def test_many_who_catch_up_share_a_question_and_a_failure_is_everybodys() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await asyncio.gather(*(store.catch_up() for _ in range(20)))
        assert len(fake.asked) == 1
        fake.fail = AWAY
        failed = await asyncio.gather(*(store.catch_up() for _ in range(3)), return_exceptions=True)
        assert failed == [AWAY] * 3
        fake.fail = None
        fake.delay = 5.0
        await fake.store.put("/a", b"")
        fake._ring()
        begin = asyncio.get_running_loop().time()
        await store.catch_up()
        assert asyncio.get_running_loop().time() - begin == pytest.approx(5.0)

    play(main)


@pytest.mark.parametrize(
    ("largest", "limits"), [(1_000, [1_000, 1_000]), (999, [1_000, 250, 250]), (1, [1_000, 250, 62, 15, 3, 1, 1])]
)
def test_a_range_too_large_for_one_answer_is_asked_for_in_quarters(largest: int, limits: list[int]) -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        for number in range(1_200):
            await fake.store.put(f"{PODS}{number:04}", b"")
        fake.largest = largest
        page = await store.range(PODS, END)
        asked = [fields["limit"] for _, fields in fake.asked]
        assert asked[: len(limits)] == limits
        assert min(asked) >= 1
        assert [kv.key for kv in page.kvs] == [f"{PODS}{number:04}" for number in range(1_200)]
        assert (page.count, page.more, page.revision) == (1_200, False, 1_201)
        assert {fields["revision"] for _, fields in fake.asked[len(limits) :]} <= {1201}  # one picture
        if largest > 1:
            some = await store.range(PODS, END, limit=1_100)
            assert (len(some.kvs), some.count, some.more) == (1_100, 1_200, True)

    assert PAGE == 1_000
    play(main)


def test_an_answer_that_is_too_large_for_one_key_is_an_error() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        await fake.store.put(PODS + "a", b"")
        fake.largest = 0
        with pytest.raises(StoreError, match=r"rpc error: received message larger than max \(5 vs\. 4\)$"):
            await store.range(PODS, END)
        assert [fields["limit"] for _, fields in fake.asked] == [1_000, 250, 62, 15, 3, 1]

    play(main)


def test_etcds_refusals_become_ours() -> None:
    async def main(fake: FakeClient, store: EtcdStore) -> None:
        for number in range(4):
            await store.put(PODS + "a", b"%d" % number)
        await store.compact(4)
        with pytest.raises(CompactedError) as gone:
            await store.get(PODS + "a", 3)
        assert gone.value.compact_revision == 4
        with pytest.raises(FutureRevisionError) as ahead:
            await store.get(PODS + "a", 99)
        assert ahead.value.current == store.revision == 5
        with pytest.raises(LeaseNotFoundError):
            await store.put(PODS + "a", b"", lease=9)
        fake.fail = StoreError("rpc error: trying to send message larger than max (2 vs. 1)")
        with pytest.raises(RequestTooLargeError):
            await store.put(PODS + "a", b"")
        fake.fail = StoreError("etcdserver: odd")
        for call in (store.get("/a"), store.put("/a", b""), store.range("/a", "/b"), store.compact(5)):
            with pytest.raises(StoreError, match=r"^etcdserver: odd$"):
                await call

    play(main)


@pytest.mark.parametrize(
    ("version", "refused"), [("3.4.0", False), ("3.6.1", False), ("4.0.0", False), ("3.3.27", True), ("2.3.8", True)]
)
def test_which_versions_of_etcd_will_do(version: str, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        fake = FakeClient()
        await fake.store.put("/a", b"")

        async def said() -> str:
            return version

        fake.version = said  # type: ignore[method-assign]
        monkeypatch.setattr("lifecycle.etcd.etcd.Client", lambda url: fake)
        if refused:
            with pytest.raises(StoreError, match=f"^etcd {version} is too old: 3.4 or later$"):
                await EtcdStore.open("http://x")
            assert fake.closed
            return
        store = await EtcdStore.open("http://x")
        assert (store.revision, store.remote, fake.closed) == (2, True, False)
        await store.close()

    run_virtual(main())


def test_an_etcd_that_does_not_answer_is_left_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        fake = FakeClient()
        fake.fail = AWAY
        monkeypatch.setattr("lifecycle.etcd.etcd.Client", lambda url: fake)
        with pytest.raises(UnavailableError):
            await EtcdStore.open("http://x")
        assert fake.closed

    run_virtual(main())


def test_the_end_of_a_store_is_the_end_of_whoever_waits() -> None:
    async def main() -> None:
        fake = FakeClient()
        for number in range(3):
            await fake.store.put(PODS + "a", b"%d" % number)
        store = opened(fake)
        fake.fail = AWAY
        await asyncio.sleep(1)
        fake.fail, fake.delay = None, 50.0
        old, new = store.watch(PODS, END, revision=2), store.watch(PODS, END)
        waiting = asyncio.ensure_future(store._follower.until(99))
        catching = asyncio.ensure_future(store.catch_up())
        await asyncio.sleep(1)
        await store.close()
        assert [batch async for batch in old] == []
        assert [batch async for batch in new] == []
        ends = await asyncio.gather(waiting, catching, return_exceptions=True)
        assert isinstance(ends[0], asyncio.CancelledError)

    run_virtual(main())
