"""A selector is read when it is new, not with every version of its object, and forgotten with it."""

from __future__ import annotations

import asyncio

import pytest
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_label_selector
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client import kept_selectors
from lifecycle.client.kept_selectors import KeptSelectors
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory

BUDGETS = resource("poddisruptionbudgets.policy")


def budget(name: str, value: str) -> Object:
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": {"selector": {"matchLabels": {"a": value}}}}


def test_it_is_read_when_the_object_comes_and_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    def noted(obj: Object | None) -> Selector:
        read.append(obj)
        return selector_from_label_selector(obj)

    monkeypatch.setattr(kept_selectors, "selector_from_label_selector", noted)

    async def main() -> None:
        client = Client(FakeAPI(), "test")
        informers = SharedInformerFactory(client)
        informer = informers.informer(BUDGETS)
        kept = KeptSelectors(informer)
        informers.start()
        await informer.wait_for_sync()
        created = await client.create(BUDGETS, budget("x", "1"), "shop")
        await client.create(BUDGETS, budget("y", "2"), "shop")
        await asyncio.sleep(1)
        for _ in range(3):
            matching = [kept.of(obj).matches({"a": "1"}) for obj in informer.indexer.list()]
            assert sorted(matching) == [False, True]
        assert len(read) == 2
        labelled = {"metadata": {**created["metadata"], "labels": {"b": "c"}}}
        created = await client.update(BUDGETS, budget("x", "1") | labelled)
        await asyncio.sleep(1)
        assert [kept.of(obj).matches({"a": "1"}) for obj in informer.indexer.list()].count(True) == 1
        assert len(read) == 2, "the selector is what it was"
        await client.update(BUDGETS, budget("x", "3") | {"metadata": created["metadata"]})
        await asyncio.sleep(1)
        assert [kept.of(obj).matches({"a": "3"}) for obj in informer.indexer.list()].count(True) == 1
        assert len(read) == 3
        await client.delete(BUDGETS, "x", "shop")
        await asyncio.sleep(1)
        assert list(kept._read) == ["shop/y"]
        await informers.stop()

    run_virtual(main())
