"""What a webhook converts: in portions, beside the loop, and not for whoever is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.apiextensions import converting_cacher
from lifecycle.apiserver.apiextensions.conversion_webhook import ConversionError
from lifecycle.apiserver.apiextensions.converting_cacher import REVIEW, SELDOM, ConvertingCacher
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Writing
from lifecycle.etcd.codec import encode_value
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.memory import MemoryStore

CRDS: Resource = resource("configmaps")


class Converter:
    """Somebody who converts, if he is let."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.may = asyncio.Event()
        self.may.set()
        self.fails = False

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        self.asked.append([obj["metadata"]["name"] for obj in objects])
        await self.may.wait()
        if self.fails:
            raise ConversionError("no")
        return [{**obj, "apiVersion": api_version} for obj in objects]


async def filled(sizes: Sequence[int]) -> MemoryStore:
    store = MemoryStore()
    for number, size in enumerate(sizes):
        await put(store, f"o{number}", "x" * size)
    return store


async def put(store: MemoryStore, name: str, data: str = "") -> None:
    metadata = {"name": name, "namespace": "n", "uid": name}
    obj: Object = {"apiVersion": "v0", "kind": "ConfigMap", "metadata": metadata, "data": {"a": data}}
    await store.put(registry_key(CRDS, "n", name), encode_value(obj))


def cacher(store: MemoryStore, converter: Converter) -> ConvertingCacher:
    return ConvertingCacher(store, CRDS, lambda _: {}, lambda obj: obj, converter)  # type: ignore[arg-type]


def test_much_is_converted_in_several_reviews_and_what_was_answered_is_kept() -> None:
    async def main() -> None:
        third = REVIEW // 3
        store, converter = await filled([third, third, third, REVIEW + third, 10]), Converter()
        made = cacher(store, converter)
        await made.settle()
        assert converter.asked == [["o0", "o1"], ["o2"], ["o3"], ["o4"]]
        assert [cached.obj["apiVersion"] for cached in made.ordered()] == [CRDS.api_version] * 5
        converter.asked.clear()
        page = await store.range(made.prefix, made.prefix + "~")
        assert len(await made.decode_past(page.kvs)) == 5
        assert len(converter.asked) == 4
        assert not made._converted
        await made.stop()

    run_virtual(main())


def test_what_its_own_version_wrote_before_anybody_read_is_converted_like_everything_else() -> None:
    async def main() -> None:
        store, converter = await filled([1, 1]), Converter()
        made = cacher(store, converter)
        (last,) = (await store.range(made.prefix, made.prefix + "~")).kvs[1:]
        writing = Writing(last.key, b"", lambda revision: Cached(last.key, {"metadata": {}}, revision, size=1))
        made.begin_write(writing)
        made.end_write(writing, last.mod_revision)
        await made.settle()
        assert converter.asked == [["o0", "o1"]]
        assert [cached.obj["apiVersion"] for cached in made.ordered()] == [CRDS.api_version] * 2
        await made.stop()

    run_virtual(main())


def test_who_is_stopped_while_the_webhook_is_asked_follows_nothing_afterwards() -> None:
    async def main() -> None:
        store, converter = await filled([10]), Converter()
        converter.may.clear()
        made = cacher(store, converter)
        asking = asyncio.create_task(made.settle())
        await asyncio.sleep(1)
        await made.stop()
        converter.may.set()
        await asking
        assert len(made) == 1, "whoever asked is answered"
        converter.asked.clear()
        await put(store, "later")
        await asyncio.sleep(60)
        assert converter.asked == []
        assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("cacher")]

    run_virtual(main())


def test_a_webhook_that_goes_on_failing_is_asked_less_and_less_often() -> None:
    async def main() -> None:
        store, converter = await filled([10]), Converter()
        made = cacher(store, converter)
        await made.settle()
        converter.fails = True
        converter.asked.clear()
        await put(store, "later")
        await asyncio.sleep(600)
        assert 600 / SELDOM <= len(converter.asked) < 600 / SELDOM + 10
        converter.fails = False
        await asyncio.sleep(SELDOM)
        assert len(made) == 2
        await made.stop()

    run_virtual(main())


def test_what_is_read_and_shown_is_no_work_for_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        given: list[int] = []

        async def beside(size: int, work: object, *args: object) -> object:
            given.append(size)
            return work(*args)  # type: ignore[operator]

        monkeypatch.setattr(converting_cacher, "beside", beside)
        store, converter = await filled([100_000]), Converter()
        made = cacher(store, converter)
        await made.settle()
        assert len(given) == 2
        assert min(given) > 100_000
        await made.stop()

    run_virtual(main())
