"""A real etcd as our store: others write to it, it goes away and comes back, and no change is missed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from aiohttp import web

from lifecycle.etcd.etcd import EtcdStore
from lifecycle.etcd.messages import Message
from lifecycle.etcd.store import CompactedError, StoreError, UnavailableError, Watch, prefix_end
from tests.etcd.real_etcd import RealEtcd, real_etcd

PODS = "/registry/pods/"

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealEtcd]:
    with real_etcd(tmp_path_factory.mktemp("etcd")) as running:
        yield running


async def revisions(watch: Watch, last: int) -> list[int]:
    """All revisions that a watch tells of, up to one."""
    seen: list[int] = []
    async for batch in watch:
        seen += [event.kv.mod_revision for event in batch]
        if seen[-1] >= last:
            break
    return seen


def test_what_another_wrote_is_there_after_catching_up(etcd: RealEtcd) -> None:
    async def main() -> None:
        ours, theirs = await EtcdStore.open(etcd.url), await EtcdStore.open(etcd.url)
        watch = ours.watch(PODS, prefix_end(PODS))
        for i in range(50):
            await theirs.put(PODS + "a", b"%d" % i)
            await ours.catch_up()
            assert [event.kv.value for event in watch.take()][-1:] == [b"%d" % i]
        await theirs.put("/elsewhere/entirely", b"")  # no watch here hears of it, and still we know how far we are
        await ours.catch_up()
        assert ours.revision == theirs.revision
        await ours.close()
        await theirs.close()

    asyncio.run(main())


def test_many_who_want_to_catch_up_share_few_questions(etcd: RealEtcd) -> None:
    async def main() -> None:
        store = await EtcdStore.open(etcd.url)
        asked = []
        call = store._client.call

        async def counting(name: str, fields: Mapping[str, object]) -> Message:
            asked.append(name)
            return await call(name, fields)

        store._client.call = counting  # type: ignore[method-assign]
        await asyncio.gather(*(store.catch_up() for _ in range(200)))
        assert 1 <= len(asked) <= 3
        await store.close()

    asyncio.run(main())


def test_a_range_larger_than_one_answer_comes_in_pages(etcd: RealEtcd) -> None:
    async def main() -> None:
        store = await EtcdStore.open(etcd.url)
        prefix = "/registry/configmaps/large/"
        for i in range(30):
            await store.put(f"{prefix}{i:02}", b"%02d" % i * 200_000)
        page = await store.range(prefix, prefix_end(prefix))
        assert [(kv.value[:2], len(kv.value)) for kv in page.kvs] == [(b"%02d" % i, 400_000) for i in range(30)]
        assert (page.count, page.more, page.revision) == (30, False, store.revision)
        with pytest.raises(StoreError, match=r"etcdserver: request is too large$"):
            await store.put(prefix + "more", b"x" * 2_000_000)
        await store.close()

    asyncio.run(main())


def test_etcd_gone_and_back(tmp_path: Path) -> None:
    async def main(etcd: RealEtcd) -> None:
        store = await EtcdStore.open(etcd.url)
        watch = store.watch(PODS, prefix_end(PODS))
        first = await store.put(PODS + "a", b"0")
        assert first is not None
        assert store.problem == ""
        await asyncio.to_thread(etcd.kill)
        for attempt in (store.put(PODS + "a", b"1"), store.get(PODS + "a"), store.catch_up()):
            with pytest.raises(UnavailableError, match="code = Unavailable"):
                await attempt
        assert "Unavailable" in store.problem or "ended" in store.problem
        etcd.launch()
        await asyncio.to_thread(etcd.wait)
        other = await EtcdStore.open(etcd.url)
        for i in range(20):
            await other.put(PODS + "a", b"%d" % i)
        last = await store.put(PODS + "a", b"last", expected=other.revision)
        assert last == other.revision or last == other.revision + 1
        assert await revisions(watch, last) == list(range(first, last + 1))
        assert store.problem == ""
        await store.close()
        await other.close()

    with real_etcd(tmp_path) as etcd:
        asyncio.run(main(etcd))


def test_history_lost_while_away_is_said_to_every_watch(etcd: RealEtcd) -> None:
    async def main() -> None:
        store, other = await EtcdStore.open(etcd.url), await EtcdStore.open(etcd.url)
        watch = store.watch(PODS, prefix_end(PODS))
        follower = store._follower
        follower._task.cancel()  # as if the connection broke
        await asyncio.wait([follower._task])
        for i in range(5):
            await other.put(PODS + "a", b"%d" % i)
        await other.compact(other.revision)
        follower._task = asyncio.create_task(follower._follow())
        with pytest.raises(CompactedError) as caught:
            await anext(aiter(watch))
        assert caught.value.compact_revision == other.revision == store.revision
        fresh = store.watch(PODS, prefix_end(PODS))
        revision = await store.put(PODS + "a", b"5")
        assert [event.kv.mod_revision for event in fresh.take()] == [revision]
        await store.close()
        await other.close()

    asyncio.run(main())


def test_what_is_not_an_etcd_is_said() -> None:
    async def main() -> None:
        async def hello(_: web.Request) -> web.Response:
            return web.Response(text="hello")

        app = web.Application()
        app.router.add_get("/version", hello)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        with pytest.raises(StoreError, match=r"http://127\.0\.0\.1:\d+ is not an etcd$"):
            await EtcdStore.open(f"http://127.0.0.1:{port}")
        await runner.cleanup()
        with pytest.raises(UnavailableError, match="Unavailable"):
            await EtcdStore.open(f"http://127.0.0.1:{port}")

    asyncio.run(main())
