"""The components as tasks: started one by one, ended in reverse, and heard of when one
dies.

Upstream: the kubelet does this for a control plane in static pods, systemd for the
kubelet. Left out: starting again what died.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any


class Supervisor:
    """Made inside the loop that the components run in."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Raises what the first component to die has raised."""

    def run(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Start a component as a task of that name."""

        async def supervised() -> None:
            try:
                await run()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                error.add_note(f"in {name}")
                if not self.failed.done():
                    self.failed.set_exception(error)
                raise

        self.tasks.append(asyncio.create_task(supervised(), name=name))

    async def stop(self) -> None:
        """End all, in reverse order."""
        for task in reversed(self.tasks):
            task.cancel()
        for task in self.tasks:
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        self.tasks.clear()

    async def stop_component(self, name: str) -> None:
        """End one of them and nothing else, as if it had crashed. Raises KeyError if no
        such thing runs.
        """
        task = {task.get_name(): task for task in self.tasks}[name]
        self.tasks.remove(task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def failure(self) -> None:
        """Wait for ever; raises when a component dies."""
        await asyncio.shield(self.failed)

    async def wait_for(self, awaited: Awaitable[object]) -> None:
        """Wait for something that the components bring about; raises when one of them
        dies first.
        """
        waiting = asyncio.ensure_future(awaited)
        try:
            either: list[asyncio.Future[Any]] = [waiting, self.failed]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if self.failed.done():
                await self.failed
            await waiting
        finally:
            waiting.cancel()
