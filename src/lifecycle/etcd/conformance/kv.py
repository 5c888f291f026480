"""Keys: versions, values, sizes."""

from __future__ import annotations

from lifecycle.etcd.conformance.check import check, refusal, write
from lifecycle.etcd.store import (
    MAX_REQUEST_BYTES,
    KeyValue,
    RequestTooLargeError,
    Store,
)


@check
async def a_key_keeps_its_history_of_versions(store: Store, prefix: str) -> None:
    """create_revision stays, mod_revision and version move; deleted and made again, it
    starts anew.
    """
    key = prefix + "a"
    base = store.revision
    assert await store.get(key) is None
    assert await write(store, key, b"1") == base + 1
    assert await write(store, key, b"2") == base + 2
    assert await store.get(key) == KeyValue(key, b"2", base + 1, base + 2, 2)
    assert await store.delete(key) == base + 3
    assert await store.get(key) is None
    assert await write(store, key, b"") == base + 4
    assert await store.get(key) == KeyValue(key, b"", base + 4, base + 4, 1)
    assert store.revision == base + 4


@check
async def values_are_any_bytes_and_keys_any_text(store: Store, prefix: str) -> None:
    """Zero bytes, bytes that are no UTF-8, long values; keys with other letters."""
    for name, value in (
        ("zero", b"k8s\x00\x00"),
        ("high", bytes(range(256))),
        ("große-Straße", "ü".encode()),
        ("long", b"x" * 300_000),
    ):
        await write(store, prefix + name, value)
        kv = await store.get(prefix + name)
        assert kv is not None
        assert kv.value == value, name


@check
async def a_write_has_a_largest_size(store: Store, prefix: str) -> None:
    """Up to 1.5 MB is taken. More is refused, and nothing is written."""
    key = prefix + "large"
    await write(store, key, b"x" * (MAX_REQUEST_BYTES - 2048))
    for size in (MAX_REQUEST_BYTES, 2 * MAX_REQUEST_BYTES):
        await refusal(store.put(key, b"y" * size), RequestTooLargeError)
    kept = await store.get(key)
    assert kept is not None, "a write that was refused has taken something away"
    assert kept.value[:1] == b"x", "a write that was refused has left something"
