"""What this server wrote is not decoded again when the store tells of it, whoever hears of it first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.rest_storage import new_cachers
from lifecycle.apiserver.storage.cacher import cacher as cacher_module
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Writing
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.etcd.codec import encode_value
from lifecycle.etcd.etcd import EtcdStore
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.memory import MemoryStore
from tests.etcd.fake_client import FakeClient

CONFIG_MAPS = resource("configmaps")
KEY = registry_key(CONFIG_MAPS, "a", "c")


def config_map(word: str, revision: int = 0) -> Object:
    metadata: Object = {"name": "c", "namespace": "a", "uid": "u"}
    if revision:
        metadata["resourceVersion"] = str(revision)
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"word": word}}


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All that a watch cache decodes from now on."""
    values: list[bytes] = []
    decode = cacher_module.decode_value

    def counted(value: bytes, revision: int) -> Any:
        values.append(value)
        return decode(value, revision)

    monkeypatch.setattr(cacher_module, "decode_value", counted)
    return values


async def started(store: MemoryStore) -> Cacher:
    cacher = new_cachers(store)[CONFIG_MAPS.store_key]
    await cacher.start()
    return cacher


def writing(word: str, made: list[int]) -> Writing:
    value = encode_value(config_map(word))

    def at(revision: int) -> Cached:
        made.append(revision)
        return Cached(KEY, config_map(word, revision), revision, value)

    return Writing(KEY, value, at)


@pytest.mark.parametrize("first", ["the watch", "the writer"])
def test_whoever_hears_first_of_a_write_makes_what_both_have(first: str, decoded: list[bytes]) -> None:
    async def main() -> None:
        store, made = MemoryStore(), list[int]()
        cacher = await started(store)
        mine = writing("mine", made)
        cacher.begin_write(mine)
        revision = await store.put(KEY, mine.value)
        if first == "the watch":
            cacher.catch_up()
        written = cacher.end_write(mine, revision)
        cacher.catch_up()
        assert cacher.get(KEY) is written is not None
        assert written.obj == config_map("mine", revision or 0)
        assert (made, decoded) == ([revision], [])
        await cacher.stop()

    run_virtual(main())


def test_what_another_wrote_meanwhile_is_what_it_wrote(decoded: list[bytes]) -> None:
    async def main() -> None:
        store, made = MemoryStore(), list[int]()
        cacher = await started(store)
        mine = writing("mine", made)
        cacher.begin_write(mine)
        for word in ("theirs", "mine"):  # somebody may even write the same
            theirs = await store.put(KEY, encode_value(config_map(word)))
            cacher.catch_up()
            seen = cacher.get(KEY)
            assert seen is not None
            assert (seen.obj, seen.revision) == (config_map(word, theirs or 0), theirs)
        assert cacher.end_write(mine, None) is None
        assert decoded == [encode_value(config_map("theirs"))]
        await store.put(KEY, mine.value)  # it is no longer on its way
        cacher.catch_up()
        assert len(decoded) == 2
        await cacher.stop()

    run_virtual(main())


def test_of_thirty_objects_written_at_once_over_a_remote_store_none_is_decoded(decoded: list[bytes]) -> None:
    """Their events come in a heap, before most of the writers had their turn."""

    async def main() -> None:
        fake = FakeClient()
        store = EtcdStore(fake, fake.store.revision)  # type: ignore[arg-type]
        server = create_server_chain(store)
        await server.start()

        async def create(name: str) -> None:
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"word": name}}
            path = "/api/v1/namespaces/default/configmaps"
            user = UserInfo("admin", ("system:masters",))
            answer = await server.handler(Request("POST", path, obj=obj, accepts_object=True, user=user))
            assert answer.status == 201, answer

        decoded.clear()
        await asyncio.gather(*(create(f"c{number}") for number in range(30)))
        cacher = server.cachers[CONFIG_MAPS.store_key]
        await asyncio.sleep(1)
        assert sum(cached.obj["metadata"]["name"].startswith("c") for cached in cacher.ordered("default")) == 30
        assert decoded == []
        await server.stop()

    run_virtual(main())
