"""A priority level: its part of the server's concurrency, in seats, and queues for
those that find none free.

Each level owns a share of the seats. A request that finds some free runs. Otherwise it
queues – or is turned away at once, if the level does not queue, or if its queue is
full. Who waits too long is turned away too.

Upstream: `apiserver/pkg/util/flowcontrol/apf_controller.go` (`priorityLevelState`),
`fairqueuing/queueset/queueset.go` (`request.wait`), v1.36.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.filters.dropped_requests import DroppedRequests
from lifecycle.apiserver.filters.queue_set import (
    ONE_SEAT,
    Queue,
    QueueSet,
    Ticket,
    Work,
)
from lifecycle.apiserver.filters.seat_borrowing import SeatDemand
from lifecycle.apiserver.filters.shuffle_sharding import deal, hash_flow_id
from lifecycle.apiserver.filters.work_estimate import max_seats

KNOWN_HANDS = 8192
"""Flows whose queues are remembered: each of five thousand nodes is one."""

MANY_QUEUES = 10_000
"""Up to so many, a table of all is worked out for whoever wants to see them."""


class PriorityLevel:
    """One `PriorityLevelConfiguration` at work. `seats` is its part of the server's
    concurrency, `total` all of that.

    `seats` changes when seats are lent; `nominal`, `least` and `most` are what the
    configuration says.
    """

    def __init__(self, configuration: Object, seats: int, total: int = 0) -> None:
        spec = configuration["spec"]
        self.name: str = configuration["metadata"]["name"]
        self.uid: str = configuration["metadata"].get("uid", "")
        self.exempt = spec.get("type") == "Exempt"
        limits = (spec.get("exempt") if self.exempt else spec.get("limited")) or {}
        response = limits.get("limitResponse") or {}
        queuing = response.get("queuing") or {}
        self.nominal = seats
        self.least = seats - round(
            seats * int(limits.get("lendablePercent") or 0) / 100
        )
        borrowed = limits.get("borrowingLimitPercent")
        self.most = seats + (
            max(total, seats)
            if borrowed is None
            else round(seats * int(borrowed) / 100)
        )
        self.dropped = DroppedRequests()
        self.demand: SeatDemand | None = None
        self.dispatched = self.rejected = self.timed_out = self.cancelled = 0
        count = int(queuing.get("queues", 64)) if response.get("type") == "Queue" else 0
        hand_size = int(queuing.get("handSize", 8)) if count else 0
        length = int(queuing.get("queueLengthLimit", 50))
        self.max_seats = max_seats(seats, hand_size)
        self._queuing = count, hand_size, length
        self._set = QueueSet(seats, count, length)
        self.queueless: set[Ticket] = set()
        """Requests at work that stood in no queue: those of an exempt level, and of one
        that does not queue.
        """
        self._exempt_seats = 0
        self._hands: BoundedCache[tuple[str, str], tuple[int, ...]] = BoundedCache(
            KNOWN_HANDS
        )

    @property
    def shape(self) -> tuple[object, ...]:
        """What makes a level another one: a change of anything else leaves it alone."""
        return self.uid, self.exempt, self.nominal, self.least, self.most, self._queuing

    @property
    def seats(self) -> int:
        """How many seats it has now."""
        return self._set.seats

    @seats.setter
    def seats(self, seats: int) -> None:
        self._set.seats = seats

    @property
    def executing(self) -> int:
        """How many seats are taken."""
        return self._exempt_seats if self.exempt else self._set.seats_in_use

    @property
    def waiting(self) -> int:
        """How many requests stand in the level's queues."""
        return self._set.waiting

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return not self.waiting and not self._set.executing and not self.queueless

    def queues(self) -> list[Queue]:
        """The queues, in order. Those that nobody uses are as new, and of a level with
        more than `MANY_QUEUES`, which upstream lists whole, they are left out.
        """
        used, number = self._set.queues, self._queuing[0]
        if number > MANY_QUEUES:
            return [used[index] for index in sorted(used) if index < number]
        return [used.get(index) or Queue(index, 0) for index in range(number)]

    def start(self, flow: tuple[str, str], work: Work = ONE_SEAT) -> Ticket | None:
        """A ticket for a request of a flow (schema, distinguisher): let in, or to be
        waited with (`wait`). None: turned away.
        """
        now = asyncio.get_running_loop().time()
        if self.exempt:
            self._exempt_seats += work.seats
            self.dispatched += 1
            ticket = Ticket(flow, work, now, 0, None)
            ticket.started = now
            self.queueless.add(ticket)
            return ticket
        request = self._set.start(flow, self._hand(flow), work, now)
        if request is None:
            self._turn_away(now)
        elif request.started is not None:
            self.dispatched += 1
            if request.queue is None:
                self.queueless.add(request)
        self._note(now)
        return request

    def _hand(self, flow: tuple[str, str]) -> tuple[int, ...]:
        """The queues that a flow may use; none if the level has none."""
        hand = self._hands.get(flow)
        if hand is None:
            queues, hand_size, _ = self._queuing
            hand = deal(hash_flow_id(*flow), queues, hand_size)
            self._hands.put(flow, hand)
        return hand

    async def wait(self, ticket: Ticket, limit: float) -> bool:
        """Wait to be let in, for at most `limit` seconds. False: turned away."""
        if ticket.started is not None:
            return True
        loop = asyncio.get_running_loop()
        place: asyncio.Future[None] = loop.create_future()
        ticket.let_in = lambda: None if place.done() else place.set_result(None)
        try:
            async with asyncio.timeout(limit):
                await place
        except (TimeoutError, asyncio.CancelledError) as error:
            if (
                ticket.started is not None
            ):  # the seats came in the same moment: pass them on
                self.release(ticket)
            else:
                self._set.cancel(ticket, loop.time())
                self._note(loop.time())
            if isinstance(error, TimeoutError):
                self.timed_out += 1
                self.dropped.record(int(loop.time()))
                return False
            self.cancelled += 1
            raise
        self.dispatched += 1
        return True

    async def acquire(
        self, flow: tuple[str, str], limit: float, work: Work = ONE_SEAT
    ) -> Ticket | None:
        """`start`, and `wait` if need be."""
        ticket = self.start(flow, work)
        return ticket if ticket is not None and await self.wait(ticket, limit) else None

    def release(self, ticket: Ticket) -> None:
        """Give the seats back, at once or after the request's additional time;
        whoever's turn it is gets them.
        """
        self.queueless.discard(ticket)
        if self.exempt:
            self._exempt_seats -= ticket.work.seats
            return
        loop = asyncio.get_running_loop()
        if lingering := self._set.finish(ticket, loop.time()):
            loop.call_later(lingering, self._linger_out, ticket)
        self._note(loop.time())

    def _linger_out(self, ticket: Ticket) -> None:
        now = asyncio.get_running_loop().time()
        self._set.linger_out(ticket, now)
        self._note(now)

    def dispatch(self) -> None:
        """Let in who may come in: after seats were lent."""
        self._set.dispatch(asyncio.get_running_loop().time())

    def _turn_away(self, now: float) -> None:
        self.rejected += 1
        self.dropped.record(int(now))

    def _note(self, now: float) -> None:
        if self.demand is None:
            self.demand = SeatDemand(now)
        self.demand.set(self._set.seats_in_use + self._set.seats_waiting, now)
