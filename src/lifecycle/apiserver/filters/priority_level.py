"""A priority level: seats, and fair queues for those that find none free.

Each level owns a share of the server's concurrency, counted in seats. A request that finds a seat free runs. Otherwise it queues
– or is turned away at once, if the level does not queue.

One noisy flow must not hold up the others. With many queues, each flow is dealt a small hand of them, always the same (shuffle
sharding), and joins the shortest: a flood fills its own hand, and it is unlikely that another flow was dealt the same one. A free
seat goes to the queues in turn.

Upstream: `apiserver/pkg/util/flowcontrol/fairqueuing/queueset/queueset.go`, `shufflesharding/dealer.go`, v1.36. Left out: virtual
time (our queues take turns), seats wider than one, lending seats between levels.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque

from lifecycle.api.wire import Object


def deal(flow: str, deck: int, hand: int) -> list[int]:
    """The hand of queues that a flow is dealt: `hand` different numbers below `deck`, always the same for the flow.

    Upstream: `shufflesharding.Dealer.Deal`.
    """
    value = int.from_bytes(hashlib.sha256(flow.encode()).digest()[:8], "little")
    rest = list(range(deck))
    cards = []
    for _ in range(min(hand, deck)):
        value, card = divmod(value, len(rest))
        cards.append(rest.pop(card))
    return cards


class PriorityLevel:
    """One `PriorityLevelConfiguration` at work. `seats` is its part of the server's concurrency."""

    def __init__(self, configuration: Object, seats: int) -> None:
        spec = configuration["spec"]
        self.name: str = configuration["metadata"]["name"]
        self.uid: str = configuration["metadata"].get("uid", "")
        self.exempt = spec.get("type") == "Exempt"
        response = (spec.get("limited") or {}).get("limitResponse") or {}
        queuing = response.get("queuing") or {}
        self.seats = seats
        self.executing = 0
        self._queue_count = int(queuing.get("queues", 64)) if response.get("type") == "Queue" else 0
        self._hand_size = int(queuing.get("handSize", 8))
        self._length_limit = int(queuing.get("queueLengthLimit", 50))
        self._queues: dict[int, deque[asyncio.Future[None]]] = {}
        self._turn = -1

    @property
    def shape(self) -> tuple[object, ...]:
        """What makes a level another one: a change of anything else leaves it alone."""
        return self.uid, self.exempt, self.seats, self._queue_count, self._hand_size, self._length_limit

    @property
    def waiting(self) -> int:
        """How many requests stand in the level's queues."""
        return sum(len(queue) for queue in self._queues.values())

    def try_acquire(self) -> bool:
        """Take a seat if one is free and nobody stands before us."""
        if self.exempt or (self.executing < self.seats and not self._queues):
            self.executing += 1
            return True
        return False

    async def acquire(self, flow: str, wait_limit: float) -> bool:
        """Take a seat, queueing for at most `wait_limit` seconds. False: turned away."""
        if self.try_acquire():
            return True
        if not self._queue_count:
            return False
        hand = deal(flow, self._queue_count, self._hand_size)
        index = min(hand, key=lambda i: len(self._queues.get(i, ())))
        queue = self._queues.get(index)
        if queue is not None and len(queue) >= self._length_limit:
            return False
        if queue is None:
            queue = self._queues[index] = deque()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            async with asyncio.timeout(wait_limit):
                await place
        except (TimeoutError, asyncio.CancelledError) as error:
            if place.done() and not place.cancelled():  # the seat came in the same moment: pass it on
                self.release()
            else:
                self._leave(index, place)
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def release(self) -> None:
        """Give the seat back; whoever's turn it is gets it."""
        self.executing -= 1
        while self._queues and (self.exempt or self.executing < self.seats):
            indexes = sorted(self._queues)
            self._turn = next((i for i in indexes if i > self._turn), indexes[0])
            queue = self._queues[self._turn]
            place = queue.popleft()
            if not queue:
                del self._queues[self._turn]
            if not place.done():
                self.executing += 1
                place.set_result(None)

    def _leave(self, index: int, place: asyncio.Future[None]) -> None:
        queue = self._queues.get(index)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._queues[index]
