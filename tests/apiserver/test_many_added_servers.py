"""Hundreds of added servers are looked after in turns, and what is known of them is put in order once for each change."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Response
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.apiserver.aggregation import aggregator as module
from lifecycle.apiserver.aggregation.aggregator import Aggregator
from lifecycle.apiserver.aggregation.discovery import Discovered

MANY = 200


def service(number: int) -> Object:
    spec = {"group": f"g{number}.example", "version": "v1", "service": {"namespace": "n", "name": "s", "port": 443}}
    return {"metadata": {"name": f"v1.g{number}.example"}, "spec": spec}


class Reader:
    """What the server has stored: APIServices, and nothing else."""

    def __init__(self) -> None:
        self.services = {each["metadata"]["name"]: each for each in map(service, range(MANY))}
        self.version = self.listed = 0

    def changes(self, rows: Any) -> Any:
        return lambda: self.version

    def list(self, row: Any, *more: Any) -> list[Object]:
        self.listed += 1
        return list(self.services.values())

    def get(self, row: Any, namespace: str, name: str) -> Object | None:
        return self.services.get(name)


class Counted:
    """Turns that are asked for."""

    asked = 0

    async def pause(self) -> None:
        Counted.asked += 1


def test_who_asks_an_added_server_puts_them_all_in_order_only_if_one_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, written = Reader(), list[Object]()

    async def write_status(changed: Object) -> None:
        written.append(changed)
        reader.services[changed["metadata"]["name"]] = changed

    async def nothing(*_: Any) -> Any:
        return Discovered({}, fresh=False)

    async def main() -> list[int]:
        made = Aggregator(_delegate, reader, Clock(), Proxy(), write_status)  # type: ignore[arg-type]
        counts = []
        made.look()
        await made.synced()
        counts.append(reader.listed)
        reader.version += 1
        made.look()
        await asyncio.sleep(1)
        counts.append(reader.listed)
        await made.stop()
        return counts

    monkeypatch.setattr(module, "discover", nothing)
    monkeypatch.setattr(module, "Pauses", Counted)
    assert run_virtual(main()) == [1, 2]
    assert len(written) == MANY
    assert Counted.asked >= 2 * MANY, "each has a turn of its own, each time"


async def _delegate(_request: Any) -> Response:
    return Response(404)


class Proxy:
    """The certificate that added servers are shown."""

    certificate = (b"", b"")
