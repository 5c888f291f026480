"""Work that would go on without ever waiting takes turns on the event loop.

A thousand objects to be deleted, in a store that answers at once; three thousand
webhooks that might want to see one of them; a queue full of keys. Whoever works through
such a thing lets others go on after a while, as Go makes a goroutine do.

Twenty may be at it at once, and twenty short turns make a long one. So all of them
together have one turn in each round of the loop, between two looks at its sockets;
those for whom it is over stand in a line, and the next one goes on in the next round.
Where each has so little to do that a round is short, more of them go on at once.

Upstream: Go's runtime, which interrupts a goroutine after 10 ms and queues it behind
all others (`runtime/proc.go`, `forcePreemptNS`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

from lifecycle.api.loop.clock import VirtualTimeLoop

TURN = 0.01
"""Seconds of a round for all that take turns."""

MOST_AT_ONCE = 32
"""Of those who stand in line, so many go on in one round, if rounds are short."""


class Pauses:
    """What one of those who take turns has in hand while it works.

    On virtual time, which stands still meanwhile, nobody ever waits.
    """

    __slots__ = ("_rounds", "_time")

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._time = loop.time
        self._rounds: _Rounds | None = None
        if not isinstance(loop, VirtualTimeLoop):
            self._rounds = _of_loops.get(loop)
            if self._rounds is None:
                self._rounds = _of_loops[loop] = _Rounds()

    async def pause(self) -> None:
        """Between two pieces: go on if this round's turn is not over, else wait."""
        rounds = self._rounds
        if rounds is None:
            return
        now = self._time()
        if now - rounds.began(now) <= TURN:
            return
        await rounds.wait()
        # several go on at once, and one of the others may have taken all of the turn
        while (now := self._time()) - rounds.began(now) > TURN:
            await rounds.wait(again=True)


class _Rounds:
    """The rounds of one loop, as far as anybody takes turns in them."""

    __slots__ = ("_at_once", "_began", "_line", "_over_soon")

    def __init__(self) -> None:
        self._at_once = 1
        self._began: float | None = None
        self._line: deque[asyncio.Future[None]] = deque()
        self._over_soon = False

    def began(self, now: float) -> float:
        """When the first turn of this round began: now, if this is the first."""
        if self._began is None:
            self._began = now
            self._end_soon()
        return self._began

    async def wait(self, *, again: bool = False) -> None:
        """Until it is one's turn. Who has waited already is not the last again."""
        turn = asyncio.get_running_loop().create_future()
        if again:
            self._line.appendleft(turn)
        else:
            self._line.append(turn)
        self._end_soon()
        await turn

    def _end_soon(self) -> None:
        if not self._over_soon:
            self._over_soon = True
            asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        """A round is over when what was queued during it is done. The next in the line
        go on; who has been cancelled meanwhile is passed over.
        """
        if self._began is not None:
            lasted = asyncio.get_running_loop().time() - self._began
            if lasted > TURN:
                self._at_once = max(1, self._at_once // 2)
            elif lasted < TURN / 2:
                self._at_once = min(MOST_AT_ONCE, self._at_once * 2)
        self._began, self._over_soon = None, False
        going_on = 0
        while self._line and going_on < self._at_once:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                going_on += 1
        if self._line:
            self._end_soon()


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Rounds] = WeakKeyDictionary()
