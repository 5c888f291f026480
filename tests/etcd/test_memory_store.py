"""The store keeps its promises: one history, consistent pictures of the past, conditional writes, watches that miss nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.past_versions import PastVersions
from lifecycle.etcd.store import CompactedError, Event, FutureRevisionError, prefix_end

KEYS = [
    f"/registry/{kind}/{ns}/{name}" for kind in ("pods", "configmaps") for ns in ("a", "ab", "b") for name in ("x", "y")
]
PODS = "/registry/pods/"


@dataclass
class Model:
    """What the store should be: every state that ever was, by revision."""

    states: dict[int, dict[str, tuple[bytes, int, int, int]]] = field(default_factory=lambda: {1: {}})
    events: list[tuple[str, str, bytes, int]] = field(default_factory=list)
    revision: int = 1

    def put(self, key: str, value: bytes, expected: int | None) -> int | None:
        now = self.states[self.revision]
        held = now.get(key)
        if expected is not None and expected != (held[2] if held else 0):
            return None
        self.revision += 1
        created, version = (held[1], held[3] + 1) if held else (self.revision, 1)
        self.states[self.revision] = {**now, key: (value, created, self.revision, version)}
        self.events.append(("PUT", key, value, self.revision))
        return self.revision

    def delete(self, key: str, expected: int | None) -> int | None:
        now = self.states[self.revision]
        if key not in now or (expected is not None and expected != now[key][2]):
            return None
        self.revision += 1
        self.states[self.revision] = {k: v for k, v in now.items() if k != key}
        self.events.append(("DELETE", key, b"", self.revision))
        return self.revision


keys = st.sampled_from(KEYS)
conditions = st.one_of(st.none(), st.just(0), st.just(-1), st.integers(1, 12))  # -1: the right one
operations = st.lists(
    st.one_of(
        st.tuples(st.just("put"), keys, st.binary(max_size=3), conditions),
        st.tuples(st.just("delete"), keys, st.just(b""), conditions),
        st.tuples(
            st.just("watch"),
            st.sampled_from(["/registry/", PODS, PODS + "a/", PODS + "a/x"]),
            st.just(b""),
            st.integers(0, 12),
        ),
    ),
    max_size=40,
)


def expected_revision(model: Model, key: str, condition: int | None) -> int | None:
    held = model.states[model.revision].get(key)
    return (held[2] if held else 0) if condition == -1 else condition


def flat(event: Event) -> tuple[str, str, bytes, int]:
    return event.type, event.kv.key, event.kv.value, event.kv.mod_revision


@settings(max_examples=150, deadline=None)
@given(operations)
def test_every_read_of_every_revision_agrees_with_a_simple_model(
    steps: list[tuple[str, str, bytes, int | None]],
) -> None:
    async def main() -> None:
        store, model = MemoryStore(), Model()
        watches = []
        for action, key, value, condition in steps:
            if action == "watch":
                start = min(condition or 0, model.revision + 1)
                watches.append((key, start or model.revision + 1, store.watch(key, prefix_end(key), revision=start)))
                continue
            expected = expected_revision(model, key, condition)
            if action == "put":
                assert await store.put(key, value, expected=expected) == model.put(key, value, expected)
            else:
                assert await store.delete(key, expected=expected) == model.delete(key, expected)
            assert store.revision == model.revision
        for revision, state in model.states.items():
            page = await store.range("/registry/", "/registry0", revision=revision)
            assert [(kv.key, (kv.value, kv.create_revision, kv.mod_revision, kv.version)) for kv in page.kvs] == sorted(
                state.items()
            )
            for key in KEYS:
                kv = await store.get(key, revision)
                assert (kv and kv.value) == (state[key][0] if key in state else None)
        for prefix, start, watch in watches:
            seen = [flat(event) for event in watch.take()]
            assert seen == [e for e in model.events if e[1].startswith(prefix) and e[3] >= start]

    run_virtual(main())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(keys, st.booleans()), min_size=1, max_size=30), st.data())
def test_compaction_forgets_the_past_and_nothing_else(writes: list[tuple[str, bool]], data: st.DataObject) -> None:
    async def main() -> None:
        store, model = MemoryStore(), Model()
        for key, delete in writes:
            if delete:
                await store.delete(key)
                model.delete(key, None)
            else:
                await store.put(key, b"v")
                model.put(key, b"v", None)
        line = data.draw(st.integers(1, model.revision))
        await store.compact(line)
        for revision, state in model.states.items():
            if revision < line:
                with pytest.raises(CompactedError) as caught:
                    await store.range("/registry/", "/registry0", revision=revision)
                assert caught.value.compact_revision == line
            else:
                page = await store.range("/registry/", "/registry0", revision=revision)
                assert {kv.key for kv in page.kvs} == set(state)
        with pytest.raises(CompactedError):
            await store.compact(line)
        late = store.watch("/registry/", "/registry0", revision=line)
        with pytest.raises(CompactedError):
            await anext(aiter(late))
        in_time = store.watch("/registry/", "/registry0", revision=line + 1)
        assert [flat(event) for event in in_time.take()] == [e for e in model.events if e[3] > line]

    run_virtual(main())


def test_a_watch_sees_each_change_once_in_order_with_what_was_before() -> None:
    async def main() -> None:
        store = MemoryStore()
        seen: list[tuple[str, str, bytes | None]] = []

        async def follow() -> None:
            async for batch in store.watch(PODS, prefix_end(PODS)):
                seen.extend((event.type, event.kv.key, event.prev.value if event.prev else None) for event in batch)

        task = asyncio.create_task(follow())
        await asyncio.sleep(0)
        await store.put(PODS + "a/x", b"1")
        await store.put("/registry/configmaps/a/x", b"other")
        await asyncio.sleep(0.1)
        await store.put(PODS + "a/x", b"2")
        await store.delete(PODS + "a/x")
        await asyncio.sleep(0.1)
        await store.close()
        await task
        assert seen == [("PUT", PODS + "a/x", None), ("PUT", PODS + "a/x", b"1"), ("DELETE", PODS + "a/x", b"2")]

    run_virtual(main())


def test_only_one_of_many_racing_writers_wins() -> None:
    async def main() -> None:
        store = MemoryStore()
        first = await store.put("/registry/leases/a/x", b"0", expected=0)
        assert first is not None
        won = await asyncio.gather(*(store.put("/registry/leases/a/x", b"%d" % i, expected=first) for i in range(20)))
        assert len([revision for revision in won if revision is not None]) == 1

    run_virtual(main())


def test_pages_of_a_range_count_what_they_leave_out() -> None:
    async def main() -> None:
        store = MemoryStore()
        for i in range(10):
            await store.put(f"{PODS}a/{i}", b"")
        page = await store.range(PODS, prefix_end(PODS), limit=3)
        assert ([kv.key[-1] for kv in page.kvs], page.count, page.more) == (["0", "1", "2"], 10, True)
        past = await store.range(PODS, prefix_end(PODS), limit=3, revision=5)
        assert ([kv.key[-1] for kv in past.kvs], past.count, past.more) == (["0", "1", "2"], 4, True)
        rest = await store.range(page.kvs[-1].key + "\0", prefix_end(PODS))
        assert len(rest.kvs) == 7
        assert not rest.more

    run_virtual(main())


class Unwalked(dict[str, PastVersions]):
    """May be asked for one after the other, by key."""

    asked = 0

    def __getitem__(self, key: str) -> PastVersions:
        self.asked += 1
        return super().__getitem__(key)

    def walk(self) -> Any:
        raise AssertionError("every kind has its keys in here")

    __iter__ = items = keys = values = walk


def test_a_page_of_the_past_costs_what_is_on_it_and_what_has_changed_since() -> None:
    async def main() -> None:
        store = MemoryStore()
        store._versions = versions = Unwalked()
        for i in range(100):
            await store.put(f"{PODS}a/{i * 37 % 100:02}", b"")
            await store.put(f"/registry/configmaps/a/{i}", b"")
        past = store.revision
        await store.delete(f"{PODS}a/01")
        await store.put(f"{PODS}a/02", b"later")
        await store.put(f"{PODS}a/02x", b"")
        await store.put("/registry/configmaps/a/0", b"later")
        versions.asked = 0
        page = await store.range(PODS, prefix_end(PODS), limit=4, revision=past)
        assert ([kv.key[-2:] for kv in page.kvs], page.count) == (["00", "01", "02", "03"], 100)
        assert [kv.value for kv in page.kvs] == [b""] * 4
        assert versions.asked == 3 + 4
        rest = await store.range(page.kvs[-1].key + "\0", prefix_end(PODS), limit=4, revision=past)
        assert ([kv.key[-2:] for kv in rest.kvs], rest.count) == (["04", "05", "06", "07"], 96)
        assert versions.asked == 3 + 4 + 4
        nothing = await store.range(prefix_end(PODS), PODS, limit=4, revision=past)
        assert (nothing.kvs, nothing.count) == ([], 0)

    run_virtual(main())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(keys, st.booleans()), min_size=1, max_size=30), st.integers(0, 20), st.data())
def test_pages_of_the_past_are_pieces_of_all_of_it(
    writes: list[tuple[str, bool]], line: int, data: st.DataObject
) -> None:
    async def main() -> None:
        store = MemoryStore()
        for key, delete in writes:
            await (store.delete(key) if delete else store.put(key, b"v"))
        if 1 <= line < store.revision:
            await store.compact(line)
        past = data.draw(st.integers(max(line if line < store.revision else 1, 1), store.revision))
        start, end = data.draw(
            st.sampled_from([("/registry/", "/registry0"), (PODS, prefix_end(PODS)), (KEYS[1], KEYS[-2])])
        )
        everything = await store.range(start, end, revision=past)
        assert everything.count == len(everything.kvs)
        seen, limit = [], data.draw(st.integers(1, 4))
        while True:
            page = await store.range(start, end, revision=past, limit=limit)
            seen += page.kvs
            assert page.count == len(everything.kvs) - len(seen) + len(page.kvs)
            if not page.more:
                break
            assert len(page.kvs) == limit
            start = page.kvs[-1].key + "\0"
        assert seen == everything.kvs

    run_virtual(main())


def test_the_future_cannot_be_read() -> None:
    async def main() -> None:
        store = MemoryStore()
        with pytest.raises(FutureRevisionError) as caught:
            await store.get("/registry/pods/a/x", 99)
        assert caught.value.current == 1
        with pytest.raises(FutureRevisionError):
            await store.compact(99)

    run_virtual(main())


def test_history_is_bounded_without_anybody_asking() -> None:
    async def main() -> None:
        store = MemoryStore(history=10)
        for i in range(100):
            await store.put(PODS + "a/x", b"%d" % i)
        with pytest.raises(CompactedError):
            await store.get(PODS + "a/x", 50)
        kept = await store.get(PODS + "a/x", 95)
        assert kept is not None
        assert kept.value == b"93"  # the first write made revision 2

    run_virtual(main())


def test_a_closed_watch_is_forgotten() -> None:
    async def main() -> None:
        store = MemoryStore()
        watch = store.watch(PODS, prefix_end(PODS))
        wide = store.watch("/registry/", "/registry0")
        for each in (watch, wide):
            await each.close()
        await store.put(PODS + "a/x", b"")
        assert [batch async for batch in watch] == []
        assert wide.take() == []

    run_virtual(main())
