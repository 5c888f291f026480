"""A priority level: seats, and fair queues for those that find none free.

Each level owns a share of the server's concurrency, counted in seats. A request that finds a seat free runs. Otherwise it queues
– or is turned away at once, if the level does not queue.

One noisy flow must not hold up the others. With many queues, each flow is dealt a small hand of them, always the same (shuffle
sharding), and joins the shortest: a flood fills its own hand, and it is unlikely that another flow was dealt the same one. A free
seat goes to the queues in turn.

Upstream: `apiserver/pkg/util/flowcontrol/fairqueuing/queueset/queueset.go`, `shufflesharding/dealer.go`, v1.36. Left out: virtual
time (our queues take turns), seats that stay taken for a while after a write.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from lifecycle.api.wire import Object
from lifecycle.apiserver.filters.seat_borrowing import SeatDemand


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


class Waiting(NamedTuple):
    """A request in a queue: its place, its flow (`schema/distinguisher`), since when (the loop's seconds), and how many seats it takes."""

    place: asyncio.Future[None]
    flow: str
    arrived: float
    width: int


class PriorityLevel:
    """One `PriorityLevelConfiguration` at work. `seats` is its part of the server's concurrency, `total` all of that.

    `seats` changes when seats are lent; `nominal`, `least` and `most` are what the configuration says.
    """

    def __init__(self, configuration: Object, seats: int, total: int = 0) -> None:
        spec = configuration["spec"]
        self.name: str = configuration["metadata"]["name"]
        self.uid: str = configuration["metadata"].get("uid", "")
        self.exempt = spec.get("type") == "Exempt"
        limits = (spec.get("exempt") if self.exempt else spec.get("limited")) or {}
        response = limits.get("limitResponse") or {}
        queuing = response.get("queuing") or {}
        self.seats = self.nominal = seats
        self.least = seats - round(seats * int(limits.get("lendablePercent") or 0) / 100)
        borrowed = limits.get("borrowingLimitPercent")
        self.most = seats + (max(total, seats) if borrowed is None else round(seats * int(borrowed) / 100))
        self.executing = 0
        self.demand: SeatDemand | None = None
        self._time: Callable[[], float] = float
        self.dispatched = self.rejected = self.timed_out = self.cancelled = 0
        self._queue_count = int(queuing.get("queues", 64)) if response.get("type") == "Queue" else 0
        self._hand_size = int(queuing.get("handSize", 8))
        self._length_limit = int(queuing.get("queueLengthLimit", 50))
        self._queues: dict[int, deque[Waiting]] = {}
        self._turn = -1

    @property
    def shape(self) -> tuple[object, ...]:
        """What makes a level another one: a change of anything else leaves it alone."""
        limits = self.nominal, self.least, self.most
        return self.uid, self.exempt, *limits, self._queue_count, self._hand_size, self._length_limit

    @property
    def waiting(self) -> int:
        """How many requests stand in the level's queues."""
        return sum(len(queue) for queue in self._queues.values())

    def queued(self) -> list[tuple[int, list[Waiting]]]:
        """The queues that are not empty: index, and who stands there."""
        return [(index, list(queue)) for index, queue in sorted(self._queues.items())]

    def fits(self, width: int) -> bool:
        """Whether so many seats are free. A request that is wider than the whole level runs when it has the level to itself."""
        return self.exempt or self.executing + width <= self.seats or (not self.executing and self.seats > 0)

    def try_acquire(self, width: int = 1) -> bool:
        """Take seats if they are free and nobody stands before us."""
        if self.exempt or (not self._queues and self.fits(width)):
            self._take(width)
            return True
        return False

    def _take(self, width: int) -> None:
        self.executing += width
        self.dispatched += 1
        self._note()

    def _note(self) -> None:
        if not self.exempt:
            if self.demand is None:
                self._time = asyncio.get_running_loop().time
                self.demand = SeatDemand(self._time())
            now = self._time()
            wanted = self.executing
            if self._queues:
                wanted += sum(each.width for queue in self._queues.values() for each in queue)
            self.demand.set(wanted, now)

    async def acquire(self, flow: str, wait_limit: float, width: int = 1) -> bool:
        """Take seats, queueing for at most `wait_limit` seconds. False: turned away."""
        if self.try_acquire(width):
            return True
        if not self._queue_count:
            self.rejected += 1
            return False
        hand = deal(flow, self._queue_count, self._hand_size)
        index = min(hand, key=lambda i: len(self._queues.get(i, ())))
        queue = self._queues.get(index)
        if queue is not None and len(queue) >= self._length_limit:
            self.rejected += 1
            return False
        if queue is None:
            queue = self._queues[index] = deque()
        loop = asyncio.get_running_loop()
        waiting = Waiting(loop.create_future(), flow, loop.time(), width)
        queue.append(waiting)
        self._note()
        try:
            async with asyncio.timeout(wait_limit):
                await waiting.place
        except (TimeoutError, asyncio.CancelledError) as error:
            place = waiting.place
            if place.done() and not place.cancelled():  # the seat came in the same moment: pass it on
                self.release(width)
            else:
                self._leave(index, waiting)
            if isinstance(error, TimeoutError):
                self.timed_out += 1
                return False
            self.cancelled += 1
            raise
        return True

    def release(self, width: int = 1) -> None:
        """Give the seats back; whoever's turn it is gets them."""
        self.executing -= width
        self.dispatch()
        self._note()

    def dispatch(self) -> None:
        """Let in who may come in: after seats were given back, or lent."""
        while self._queues:
            indexes = sorted(self._queues)
            turn = next((i for i in indexes if i > self._turn), indexes[0])
            queue = self._queues[turn]
            first = queue[0]
            if not first.place.done() and not self.fits(first.width):
                return  # it waits for the seats it needs: narrower ones behind it must not overtake for ever
            self._turn = turn
            queue.popleft()
            if not queue:
                del self._queues[turn]
            if not first.place.done():
                self._take(first.width)
                first.place.set_result(None)

    def _leave(self, index: int, waiting: Waiting) -> None:
        queue = self._queues.get(index)
        if queue is not None and waiting in queue:
            queue.remove(waiting)
            if not queue:
                del self._queues[index]
            self._note()
