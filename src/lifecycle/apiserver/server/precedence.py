"""Requests from outside go first.

In a real cluster the control loops are other processes, and each client limits itself
(20 to 50 requests a second), so a burst of users' requests is never starved by them.
Here all share one event loop, and a control loop that never has to wait for a socket
could keep everybody else waiting. So, while requests come in from outside, those from
within take turns: one for each round of the loop. And while nobody seems to ask, those
from within make way after a while all the same (`api.pauses`): as long as the loop does
not go round, nobody outside can be heard.

Upstream: `client-go/rest/config.go` (`DefaultQPS`), the QPS settings of
kube-controller-manager, kube-scheduler and kubelet, v1.36. Left out: any limit while
nobody outside is asking; there is nobody to be fair to.
"""

from __future__ import annotations

import asyncio
from collections import deque

from lifecycle.api.loop.pauses import Pauses

ATTENTION = 0.005
"""Seconds for which a request from outside is remembered."""


class Precedence:
    """Told of every request from outside; asked for a turn by every request from
    within.
    """

    def __init__(self) -> None:
        self._last_outside = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._scheduled = False

    def outside(self) -> None:
        """A request came in from outside."""
        self._last_outside = asyncio.get_running_loop().time()

    async def turn(self) -> None:
        """Go on at once if nobody outside is asking and could be heard, else when it is
        this request's turn.
        """
        loop = asyncio.get_running_loop()
        quiet = loop.time() - self._last_outside > ATTENTION
        if self._waiting or not quiet:
            mine: asyncio.Future[None] = loop.create_future()
            self._waiting.append(mine)
            if not self._scheduled:
                self._scheduled = True
                loop.call_soon(self._next_round, loop)
            await mine
        await Pauses().pause()

    def _next_round(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let one go; all, if it has become quiet outside."""
        quiet = loop.time() - self._last_outside > ATTENTION
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():  # a cancelled request takes no turn
                waiter.set_result(None)
                if not quiet:
                    break
        self._scheduled = bool(self._waiting)
        if self._scheduled:
            loop.call_soon(self._next_round, loop)
