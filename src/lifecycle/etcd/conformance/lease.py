"""Leases, and the keys under them."""

from __future__ import annotations

from lifecycle.etcd.conformance.check import check, next_events, refusal, write
from lifecycle.etcd.store import LeaseNotFoundError, Store, prefix_end


@check
async def a_lease_takes_its_keys_along(store: Store, prefix: str) -> None:
    """Revoked, it deletes what was written under it and is not under another now;
    watches are told.
    """
    lease, other = await store.grant(600), await store.grant(600)
    for name in ("a", "b", "c", "d"):
        assert await store.put(prefix + name, b"", lease=lease)
    await write(store, prefix + "b", b"free")
    assert await store.put(prefix + "c", b"", lease=other)
    await store.delete(prefix + "d")
    kv = await store.get(prefix + "a")
    assert kv is not None
    assert kv.lease == lease
    watch = store.watch(prefix, prefix_end(prefix))
    await store.revoke(lease)
    assert [(event.type, event.kv.key) for event in await next_events(watch, 1)] == [
        ("DELETE", prefix + "a")
    ]
    assert [kv.key for kv in (await store.range(prefix, prefix_end(prefix))).kvs] == [
        prefix + "b",
        prefix + "c",
    ]
    await refusal(store.revoke(lease), LeaseNotFoundError)
    await refusal(store.put(prefix + "e", b"", lease=lease), LeaseNotFoundError)
    assert await store.put(prefix + "b", b"", expected=0, lease=lease) is None, (
        "a write that does not happen needs no lease"
    )
    await store.revoke(other)
    await watch.close()
