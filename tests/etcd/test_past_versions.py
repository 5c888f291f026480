"""Older values are differences to newer ones, and nobody notices."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd import memory
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.past_versions import LARGEST, WHOLE, Difference, PastVersions
from lifecycle.etcd.store import CompactedError, Event, KeyValue, prefix_end

PODS = "/registry/pods/"
KEYS = tuple(PODS + name for name in ("a", "b", "c"))


def _pod(number: int, size: int = 2_400) -> bytes:
    """A value that says nearly what its neighbours say, and does not repeat itself."""
    noise = random.Random(7).randbytes(size).hex()[:size]
    return noise.encode() + b'"resourceVersion":"%d"' % number


def _written(count: int, size: int = 2_400) -> PastVersions:
    versions = PastVersions()
    for number in range(1, count + 1):
        versions.append(KeyValue("k", _pod(number, size), 10, 10 * number, number))
    return versions


def _held(versions: PastVersions) -> int:
    return sum(len(kv.value) for kv in versions._kvs)


def test_what_is_packed_is_read_as_it_was() -> None:
    versions = _written(3 * WHOLE)
    for number in range(2, 3 * WHOLE + 1):
        versions.pack_before(10 * number)
    for number in range(1, 3 * WHOLE + 1):
        for revision in (10 * number, 10 * number + 9):
            assert versions.at(revision) == KeyValue("k", _pod(number), 10, 10 * number, number)
    assert versions.at(9) is None


def test_a_version_costs_a_twentieth_and_every_sixteenth_is_whole() -> None:
    versions = _written(WHOLE + 1)
    before = _held(versions)
    saved = [versions.pack_before(10 * number) for number in range(2, WHOLE + 2)]
    assert saved[-1] == 0  # the version before it is the sixteenth
    assert min(saved[:-1]) > 0.95 * len(_pod(1))
    assert before - _held(versions) == sum(saved)


def test_a_second_time_saves_nothing() -> None:
    versions = _written(3)
    assert versions.pack_before(20) > 0
    assert versions.pack_before(20) == 0
    assert versions.pack_before(10) == 0  # there is none before the first
    assert versions.at(10) == KeyValue("k", _pod(1), 10, 10, 1)


@pytest.mark.parametrize(("size", "packed"), [(7_000, True), (9_000, True), (LARGEST - 30, True), (LARGEST + 1, False)])
def test_what_zlib_cannot_see_from_end_to_end_stays_whole(size: int, packed: bool) -> None:
    versions = _written(2, size)
    assert (versions.pack_before(20) > 0.95 * size) is packed
    assert versions.at(10) == KeyValue("k", _pod(1, size), 10, 10, 1)


def test_what_is_all_different_stays_whole() -> None:
    versions = PastVersions()
    for number in (1, 2):
        versions.append(KeyValue("k", random.Random(number).randbytes(500), 10, 10 * number, number))
    assert versions.pack_before(20) == 0


def test_the_last_version_before_a_deletion_stays_whole() -> None:
    versions = _written(2)
    versions.append(KeyValue("k", b"", 0, 30, 0))
    versions.append(KeyValue("k", _pod(1), 40, 40, 1))
    assert [versions.pack_before(revision) > 0 for revision in (20, 30, 40)] == [True, False, False]
    assert versions.event(30) == Event("DELETE", KeyValue("k", b"", 0, 30, 0), KeyValue("k", _pod(2), 10, 20, 2))
    assert versions.event(20) == Event("PUT", KeyValue("k", _pod(2), 10, 20, 2), KeyValue("k", _pod(1), 10, 10, 1))
    assert versions.at(30) is None


def test_what_is_forgotten_is_counted_as_it_is_held() -> None:
    versions = _written(4)
    versions.pack_before(20)
    before = _held(versions)
    assert versions.forget_before(35) == before - _held(versions) > 0
    assert [kv.mod_revision for kv in versions._kvs] == [30, 40]
    versions.append(KeyValue("k", b"", 0, 50, 0))
    assert versions.forget_before(49) == len(_pod(3))
    versions.forget_before(50)
    assert not versions


ACTIONS = st.lists(
    st.tuples(st.sampled_from(KEYS), st.sampled_from(("put", "put", "put", "delete", "compact"))),
    min_size=20,
    max_size=80,
)


@settings(max_examples=40, deadline=None)
@given(ACTIONS)
def test_a_store_that_packs_tells_the_past_like_one_that_does_not(actions: list[tuple[str, str]]) -> None:
    """The same writes; every key, range and watch at every revision."""

    async def history(whole_bytes: int) -> list[object]:
        memory.WHOLE_BYTES = whole_bytes
        store, told = MemoryStore(), list[object]()
        for number, (key, action) in enumerate(actions):
            if action == "put":
                await store.put(key, _pod(number, 300))
            elif action == "delete":
                await store.delete(key)
            elif store.revision > 6:
                try:
                    await store.compact(store.revision - 5)
                except CompactedError as error:
                    told.append(str(error))
        for revision in range(1, store.revision + 1):
            try:
                page = await store.range(PODS, prefix_end(PODS), revision=revision, limit=2)
                told.append((page, [await store.get(key, revision) for key in KEYS]))
            except CompactedError as error:
                told.append(str(error))
            told.append(store.watch(PODS, KEYS[-1], revision=revision).take())
        return told

    try:
        assert run_virtual(history(whole_bytes=0)) == run_virtual(history(whole_bytes=32 * 1024 * 1024))
    finally:
        memory.WHOLE_BYTES = 32 * 1024 * 1024


def test_the_past_of_large_values_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_PAST_BYTES", 10_000_000)

    async def main() -> None:
        store = MemoryStore()
        await store.put(PODS + "quiet", b"stays")
        for number in range(100):
            await store.put(PODS + "loud", _pod(number, 1_000_000))
            held = sum(_held(versions) for versions in store._versions.values())
            assert held <= 10_000_000 + 2 * 1_000_100
        newest = await store.get(PODS + "loud")
        recent = await store.get(PODS + "loud", store.revision - 3)
        assert newest is not None
        assert recent is not None
        assert (newest.value, recent.value) == (_pod(99, 1_000_000), _pod(96, 1_000_000))
        assert (await store.get(PODS + "quiet", store.revision - 3)) is not None
        with pytest.raises(CompactedError):
            await store.get(PODS + "loud", 50)

    run_virtual(main())


@pytest.mark.parametrize("whole", [0, 100_000, 300_000])
def test_what_the_store_counts_is_what_it_holds(whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Superseded values, packed or not, after any number of writes, deletions and compactions."""
    monkeypatch.setattr(memory, "WHOLE_BYTES", whole)

    async def main() -> None:
        store, rng = MemoryStore(history=1_500), random.Random(3)
        for number in range(4_000):
            key = rng.choice(KEYS)
            if rng.random() < 0.1:
                await store.delete(key)
            else:
                await store.put(key, _pod(number, 300))
        live = sum(len(kv.value) for kv in store._live.values())
        assert store._past_bytes == sum(_held(versions) for versions in store._versions.values()) - live
        assert 0 < store._past_bytes < 0.3 * 2_000 * len(_pod(1, 300)) + whole
        assert store._whole_bytes == sum(size for *_, size in store._superseded) <= whole

    run_virtual(main())


def test_the_newest_of_the_past_stay_whole_as_far_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "WHOLE_BYTES", 10 * len(_pod(1)))

    async def main() -> None:
        store = MemoryStore()
        for number in range(40):
            await store.put(KEYS[0], _pod(number % 10))
        packed = [type(kv.value) is Difference for kv in store._versions[KEYS[0]]._kvs]
        past = packed[:-1]
        assert not packed[-1]
        assert past[-10:] == [False] * 10
        assert past[-11] is True
        assert [at + 1 for at, is_packed in enumerate(past[:-10]) if not is_packed] == [16]  # WHOLE

    run_virtual(main())


def test_one_write_packs_few_values_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "WHOLE_BYTES", 1_000_000)

    async def main() -> None:
        store = MemoryStore()
        for number in range(100):
            await store.put(KEYS[0], _pod(number))
        for number in range(3):
            await store.put(KEYS[1], _pod(number, 1_500_000))
        packed = sum(type(kv.value) is Difference for kv in store._versions[KEYS[0]]._kvs)
        assert 0 < packed <= 2 * memory.AT_ONCE

    run_virtual(main())
