"""A list that was joined for somebody else is handed out as it lies: its rows are neither weighed nor joined again."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.registry.listing import Page
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.etcd.memory import MemoryStore

PATH = "/api/v1/namespaces/default/configmaps"
ADMIN = UserInfo("admin", ("system:masters",))


def test_rows_are_weighed_and_joined_once_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[int] = []
    asked: list[str] = []
    size, json = Page.size, Cached.json
    assert isinstance(size, property)
    assert isinstance(json, property)

    def counted_size(page: Page) -> Any:
        weighed.append(len(page.rows))
        return size.__get__(page)

    def counted_json(cached: Cached) -> Any:
        asked.append(cached.key)
        return json.__get__(cached)

    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()

        async def create(name: str) -> None:
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            answer = await server.handler(Request("POST", PATH, obj=obj, accepts_object=True, user=ADMIN))
            assert answer.status == 201

        async def listed() -> list[str]:
            answer = await server.handler(Request("GET", PATH, headers={"accept": "application/json"}, user=ADMIN))
            assert answer.body
            names = [item["metadata"]["name"] for item in fast_json.loads(answer.body)["items"]]
            return [name for name in names if name.startswith("c")]

        monkeypatch.setattr(Page, "size", property(counted_size))
        monkeypatch.setattr(Cached, "json", property(counted_json))
        for names in (["c1"], ["c1", "c2"]):
            weighed.clear()
            asked.clear()
            await create(names[-1])
            assert [await listed() for _ in range(3)] == [names] * 3
            assert len(weighed) == 1
            assert len(asked) == weighed[0]
        await server.stop()

    run_virtual(main())
