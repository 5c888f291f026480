"""What runs beside a component ends with it; and the names and addresses that nobody else looks at."""

from __future__ import annotations

import asyncio

from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.real_fifo import ADDED, DELETED, REPLACED, UPDATED
from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport


def test_tasks_end_by_themselves_or_when_they_are_stopped() -> None:
    async def main() -> list[str]:
        log: list[str] = []

        async def work(name: str, seconds: float) -> None:
            try:
                await asyncio.sleep(seconds)
                log.append(f"{name} done")
            except asyncio.CancelledError:
                log.append(f"{name} ended")
                raise

        tasks = BackgroundTasks()
        tasks.start(work("short", 1), "short work")
        tasks.start(work("long", 100))
        assert "short work" in {task.get_name() for task in asyncio.all_tasks()}
        await asyncio.sleep(2)
        assert len(tasks._tasks) == 1
        await tasks.stop()
        await tasks.stop()
        assert asyncio.get_running_loop().time() < 100
        return log

    assert run_virtual(main()) == ["short done", "long ended"]


def test_deltas_have_client_gos_names() -> None:
    assert (ADDED, UPDATED, DELETED, REPLACED) == ("Added", "Updated", "Deleted", "Replaced")


def test_only_slashes_at_the_end_of_an_address_are_dropped() -> None:
    async def main() -> str:
        transport = HTTPSTransport(ConnectionConfig("http://127.0.0.1:1/prefix/x//"))
        await transport.close()
        return transport._base

    assert asyncio.run(main()) == "http://127.0.0.1:1/prefix/x"
