"""A definition that changes: what its old self held is freed before the new one holds as much."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.apiserver.storage.cacher import cacher
from tests.apiserver.asked_server import MERGE, Asked, asked
from tests.apiserver.custom_server import DEFINITIONS, definition

PATH = "/apis/stable.example.com/v1/namespaces/default/crontabs"


def test_it_is_served_anew_when_its_old_objects_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    freed = list[asyncio.Future[None]]()

    def let_go(things: list[Any], size: int) -> asyncio.Future[None]:
        freed.append(asyncio.get_running_loop().create_future())
        return freed[-1]

    monkeypatch.setattr(cacher, "let_go", let_go)

    async def play(ask: Asked) -> None:
        made = definition()
        assert (await ask("POST", DEFINITIONS, made))[0] == 201
        await asyncio.sleep(5)
        assert (await ask("GET", PATH))[0] == 200
        names = {"spec": {"names": {"shortNames": ["other"]}}}
        assert (await ask("PATCH", f"{DEFINITIONS}/{made['metadata']['name']}", names, **MERGE))[0] == 200
        getting = asyncio.ensure_future(ask("GET", PATH))
        await asyncio.sleep(5)
        assert freed
        assert not getting.done()
        for each in freed:
            each.set_result(None)
        assert (await getting)[0] == 200

    asked(play)
