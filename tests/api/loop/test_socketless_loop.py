"""A loop that runs in the middle of another's step."""

from __future__ import annotations

import asyncio

from lifecycle.api.loop.socketless_loop import run_within


def test_the_outer_task_is_nobodys_while_another_loop_runs_and_the_running_one_afterwards() -> None:
    async def inner(outer: asyncio.AbstractEventLoop) -> tuple[bool, object]:
        return asyncio.get_running_loop() is outer, asyncio.current_task(outer)

    async def main() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert run_within(inner(loop), asyncio.new_event_loop) == (False, None)
        assert asyncio.get_running_loop() is loop
        assert asyncio.current_task() is task is not None
        await asyncio.sleep(0)  # it can be left in the usual way, too

    asyncio.run(main())
