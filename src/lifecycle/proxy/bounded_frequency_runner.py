"""Work that is asked for often and must not run too often.

A rollout changes an EndpointSlice several times a second, and each change asks for new
rules. The runner lets the first request through at once, then leaves at least
`min_interval` seconds between the end of a run and the next one; requests in between
are answered together. If nobody asks, it runs `max_interval` after the last run anyway.

Upstream: `pkg/proxy/runner/bounded_frequency_runner.go` (`BoundedFrequencyRunner`),
v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class BoundedFrequencyRunner:
    """`run()` asks for a run of `work`; `loop()` does them until cancelled. Intervals
    in seconds.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[None]],
        *,
        min_interval: float,
        max_interval: float,
    ) -> None:
        self._work = work
        self._min_interval = min_interval
        self._max_interval = max_interval
        self._run_requested = asyncio.Event()
        self._retry: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Ask for a run, as soon as allowed."""
        self._run_requested.set()

    def retry_after(self, seconds: float) -> None:
        """Ask for a run after a while, unless one comes before."""
        if self._retry is not None:
            self._retry.cancel()
        self._retry = asyncio.get_running_loop().call_later(
            seconds, self._run_requested.set
        )

    async def loop(self) -> None:
        """Run `work` when asked, and now and then."""
        loop = asyncio.get_running_loop()
        next_run = loop.time() + self._max_interval
        try:
            while True:
                try:
                    async with asyncio.timeout_at(next_run):
                        await self._run_requested.wait()
                except TimeoutError:
                    pass
                self._run_requested.clear()
                if self._retry is not None:
                    self._retry.cancel()
                await self._work()
                next_run = loop.time() + self._max_interval
                await asyncio.sleep(self._min_interval)
        finally:
            if self._retry is not None:
                self._retry.cancel()
