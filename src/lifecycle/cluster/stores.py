"""Which store a cluster stands on: the value of `--store`."""

from __future__ import annotations

from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import Store


async def open_store(address: str) -> Store:
    """The store behind `memory`. Raises ValueError for an address nobody serves."""
    if address == "memory":
        return MemoryStore()
    raise ValueError(f"--store knows memory; not {address}")
