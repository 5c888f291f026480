"""Writes one after the other: who gets through, and what is counted. What etcd 3 makes of the same writes stands in `ETCDS`."""

from __future__ import annotations

import tracemalloc

import pytest

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd.codec import JSON, PROTOBUF, decode_value, encode_value
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import LeaseNotFoundError, RequestTooLargeError, Store

WRITES: list[tuple[str, str, int | None]] = [  # key, value (none: delete it), expected revision after the beginning
    ("a", "1", None),
    ("a", "2", 0),  # it is there
    ("a", "2", 1),
    ("b", "1", 0),  # it is not there
    ("a", "3", 1),  # somebody was faster
    ("b", "", 2),
    ("b", "", 3),
    ("b", "", None),  # it is not there any more
    ("b", "1", 3),
    ("b", "2", 0),
    ("a", "3", None),
    ("b", "2", None),  # the same once more is a write, too
]
ETCDS = [  # revision, or nothing; then value, created, modified, version of what is there
    (1, ("1", 1, 1, 1)),
    (None, ("1", 1, 1, 1)),
    (2, ("2", 1, 2, 2)),
    (3, ("1", 3, 3, 1)),
    (None, ("2", 1, 2, 2)),
    (None, ("1", 3, 3, 1)),
    (4, None),
    (None, None),
    (None, None),
    (5, ("2", 5, 5, 1)),
    (6, ("3", 1, 6, 3)),
    (7, ("2", 5, 7, 2)),
]
Counted = list[tuple[int | None, tuple[str, int, int, int] | None]]


async def counted(store: Store) -> Counted:
    """For each write its revision, and what is under the key then; revisions as from the beginning."""
    begun = await store.put("/other", b"")
    assert begun is not None
    answers: Counted = []
    for name, value, expected in WRITES:
        key = f"/counted/{name}"
        if expected:
            expected += begun
        if value:
            revision = await store.put(key, value.encode(), expected=expected)
        else:
            revision = await store.delete(key, expected=expected)
        kv = await store.get(key)
        there = None
        if kv is not None:
            there = kv.value.decode(), kv.create_revision - begun, kv.mod_revision - begun, kv.version
        answers.append((revision and revision - begun, there))
    return answers


def test_what_is_counted_is_what_etcd_counts() -> None:
    assert on_virtual_time(counted(MemoryStore())) == ETCDS


def test_nothing_is_written_under_a_lease_that_is_not_there() -> None:
    async def main() -> None:
        store = MemoryStore()
        before = store.revision
        with pytest.raises(LeaseNotFoundError):
            await store.put("/a", b"1", lease=7)
        assert (store.revision, await store.get("/a")) == (before, None)
        lease = await store.grant(60)
        await store.put("/a", b"1", lease=lease)
        kv = await store.get("/a")
        assert kv is not None
        assert kv.lease == lease

    on_virtual_time(main())


def test_what_is_too_large_is_not_written() -> None:
    async def main() -> None:
        store = MemoryStore()
        before = store.revision
        with pytest.raises(RequestTooLargeError):
            await store.put("/a", b"x" * 1536 * 1024)
        assert store.revision == before
        assert await store.put("/a", b"x" * 1024 * 1024) == before + 1

    on_virtual_time(main())


def test_a_value_takes_no_more_room_than_it_needs() -> None:
    """A store is full of them."""
    tracemalloc.start()
    try:
        values = [encode_value(MAP) for _ in range(100)]
        room = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert room < 4 * sum(len(value) for value in values)


MAP = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m", "resourceVersion": "5"}, "data": {"k": "v"}}
OWN = {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w", "resourceVersion": "5"}, "spec": {}}


@pytest.mark.parametrize("size", [0, 10_000_000], ids=["small", "large"])
@pytest.mark.parametrize(
    ("obj", "media_type", "begins"),
    [(MAP, JSON, b'{"'), (MAP, PROTOBUF, b"k8s\0"), (OWN, JSON, b'{"'), (OWN, PROTOBUF, b'{"')],
)
def test_a_value_does_not_say_its_own_version(
    obj: dict[str, object], media_type: str, begins: bytes, size: int
) -> None:
    """It is the revision under which it is found. What has no protobuf form is JSON everywhere (upstream: custom resources)."""
    value = encode_value(obj, media_type, size)
    assert value.startswith(begins)
    assert b"resourceVersion" not in value
    metadata = obj["metadata"]
    assert isinstance(metadata, dict)
    assert metadata["resourceVersion"] == "5", "whoever hands it in keeps its own"
    assert decode_value(value, 9) == {**obj, "metadata": {**metadata, "resourceVersion": "9"}}
