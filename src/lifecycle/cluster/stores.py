"""Which store a cluster stands on: the value of `--store`. And where it keeps its keys,
if it keeps them.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import Store, StoreError

KINDS = "memory, sqlite:PATH, etcd:URL"


def check_address(address: str) -> None:
    """Raises ValueError, in one line, for an address that names no store."""
    kind, _, place = address.partition(":")
    if kind not in ("memory", "sqlite", "etcd") or (
        kind == "memory" and address != "memory"
    ):
        raise ValueError(f"--store knows {KINDS}; not {address}")
    if kind == "sqlite" and not place:
        raise ValueError(
            "--store sqlite: wants the path of a file, as in sqlite:cluster.db"
        )
    if kind == "etcd":
        url = urlsplit(place)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(
                "--store etcd: wants a URL, as in etcd:http://127.0.0.1:2379; not"
                f" {place}"
            )


async def open_store(address: str) -> Store:
    """The store behind `memory`, `sqlite:PATH` or `etcd:URL`. Raises ValueError, in one
    line, if it cannot be had.
    """
    check_address(address)
    kind, _, place = address.partition(":")
    try:
        if kind == "sqlite":
            from lifecycle.etcd.sqlite import SQLiteStore

            return SQLiteStore(place)
        if kind == "etcd":
            from lifecycle.etcd.etcd import EtcdStore

            return await EtcdStore.open(place)
    except (OSError, ValueError, StoreError) as error:
        raise ValueError(f"--store {address}: {error}") from None
    return MemoryStore()


def authority_folder(address: str) -> Path | None:
    """Where the keys of a cluster on this store are kept: beside an sqlite file, in
    `PATH.pki`. None: they end with the process.

    What an etcd holds is not on this machine, and others read it: keys do not belong
    there. `--cert-dir` names a folder for them.
    """
    kind, _, place = address.partition(":")
    return Path(f"{place}.pki") if kind == "sqlite" else None
