"""All back ends keep the same promises."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.etcd.conformance import CHECKS, run_check
from lifecycle.etcd.etcd import EtcdStore
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import Store
from tests.etcd.real_etcd import real_etcd


@pytest.mark.parametrize("check", CHECKS)
def test_memory(check: str) -> None:
    async def store() -> Store:
        return MemoryStore()

    asyncio.run(run_check(check, store))


@pytest.mark.parametrize("check", CHECKS)
def test_sqlite(check: str, tmp_path: Path) -> None:
    async def store() -> Store:
        return SQLiteStore(tmp_path / "store.db")

    asyncio.run(run_check(check, store))
    asyncio.run(run_check(check, store))  # and once more on what the first run left behind


@pytest.fixture(scope="module")
def etcd_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_etcd(tmp_path_factory.mktemp("etcd")) as etcd:
        yield etcd.url


@pytest.mark.real
@pytest.mark.parametrize("check", CHECKS)
def test_etcd(check: str, etcd_url: str) -> None:
    async def store() -> Store:
        return await EtcdStore.open(etcd_url)

    asyncio.run(run_check(check, store))
