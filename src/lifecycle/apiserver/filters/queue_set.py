"""Fair queues: whose turn is it, when requests are of different length and width?

Taking turns would be fair if all requests were alike. They are not: a flow of long
requests would get more of the server than one of short ones. So each queue gets a share
of *work*, in seconds times seats. A virtual clock counts the work that every busy queue
should have got by now; it runs the slower, the more queues share the seats. Each queue
knows at which virtual time its next request starts, and the request that would be
finished first is let in. How long it will take nobody knows, so 3 ms are assumed and
set right when it is done.

A queue that was empty starts now, not when it was last used: nobody saves up turns.

Upstream: `apiserver/pkg/util/flowcontrol/fairqueuing/queueset/queueset.go`
(`StartRequest`, `findDispatchQueueToBoundLocked`, `finishRequestLocked`,
`getVirtualTimeRatioLocked`), v1.36. Queues that nobody uses are not kept here: they
have no state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

SERVICE_TIME = 0.003
"""Seconds a request is assumed to take. Upstream: `estimatedServiceDuration`."""


SCALE = 10**8
"""Work and virtual time are counted in whole parts of a second of one seat, so that
equal work is equal. Upstream: `ssScale`.
"""


def seat_seconds(seats: float, seconds: float) -> int:
    """Work. Upstream: `request/seat_seconds.go` (`SeatsTimesDuration`)."""
    return round(seats * seconds * SCALE)


class Work(NamedTuple):
    """What a request will need: seats while it runs, and afterwards others for some
    seconds more (watchers have to be told).
    """

    initial: int = 1
    final: int = 0
    latency: float = 0.0

    @property
    def seats(self) -> int:
        """The seats it holds all the time: both phases are one rectangle to the
        queues.
        """
        return max(self.initial, self.final)

    @property
    def total(self) -> int:
        """As `seat_seconds`."""
        return seat_seconds(self.initial, SERVICE_TIME) + seat_seconds(
            self.final, self.latency
        )


ONE_SEAT = Work()
ONE_SEAT_TOTAL = ONE_SEAT.total


class Queue:
    """A queue that is in use. `next_dispatch` is the virtual time at which its next
    request starts.
    """

    __slots__ = (
        "executing",
        "index",
        "next_dispatch",
        "seats_in_use",
        "waiting",
        "work_waiting",
    )

    def __init__(self, index: int, now: int) -> None:
        self.index, self.next_dispatch = index, now
        self.waiting: deque[Ticket] = deque()
        self.executing: set[Ticket] = set()
        self.seats_in_use = 0
        self.work_waiting = 0

    def bound(self) -> None:
        """No request starts before it came."""
        if self.waiting and self.next_dispatch < self.waiting[0].arrival:
            self.next_dispatch = self.waiting[0].arrival


class Ticket:
    """One request: what it needs, where it stands, when it came (real and virtual) and
    when it was let in (None: it waits).
    """

    __slots__ = (
        "arrival",
        "arrived",
        "flow",
        "let_in",
        "queue",
        "seats",
        "started",
        "total",
        "work",
    )

    def __init__(
        self,
        flow: tuple[str, str],
        work: Work,
        arrived: float,
        arrival: int,
        queue: Queue | None,
    ) -> None:
        self.flow, self.work, self.arrived, self.arrival, self.queue = (
            flow,
            work,
            arrived,
            arrival,
            queue,
        )
        self.seats, self.total = (
            (1, ONE_SEAT_TOTAL) if work is ONE_SEAT else (work.seats, work.total)
        )
        self.started: float | None = None
        self.let_in: Callable[[], None] | None = None


class QueueSet:
    """The queues of one priority level. `queues=0`: who finds no seat is turned away.
    Times are in seconds, never less than before.
    """

    def __init__(self, seats: int, queues: int, length_limit: int) -> None:
        self.seats = seats
        self._queue_count, self._length_limit = queues, length_limit
        self.queues: dict[int, Queue] = {}
        """Those in use, by index."""
        self.virtual_time = 0
        self._synced: float | None = None
        self._enqueued = 0
        self._robin = -1
        self.waiting = self.executing = self.seats_in_use = self.seats_waiting = 0
        """Requests that wait, requests at work; seats taken, seats waited for."""

    def _sync(self, now: float) -> None:
        """Let the virtual clock run until now."""
        if now == self._synced:
            return
        if self._synced is not None and self.queues:
            seat_demand = min(self.seats_in_use + self.seats_waiting, self.seats)
            self.virtual_time += seat_seconds(
                seat_demand / len(self.queues), now - self._synced
            )
        self._synced = now

    def start(
        self, flow: tuple[str, str], hand: Sequence[int], work: Work, now: float
    ) -> Ticket | None:
        """A ticket, let in or waiting in one of the flow's queues; None: turned
        away.
        """
        self._sync(now)
        if not self._queue_count:
            if not self._fits(work.seats):
                return None
            ticket = Ticket(flow, work, now, self.virtual_time, None)
            self._execute(ticket, now)
            return ticket
        queue = self._shortest(hand)
        if self.seats_in_use >= self.seats and len(queue.waiting) >= self._length_limit:
            return None
        self.queues[queue.index] = queue
        ticket = Ticket(flow, work, now, self.virtual_time, queue)
        if (
            not self.waiting
            and self.seats_in_use < self.seats
            and self._fits(ticket.seats)
        ):
            self._let_in(ticket, queue, now)  # as if it had waited for no time at all
            return ticket
        queue.waiting.append(ticket)
        queue.work_waiting += ticket.total
        self.waiting += 1
        self.seats_waiting += ticket.seats
        queue.bound()
        self.dispatch(now)
        return ticket

    def _shortest(self, hand: Sequence[int]) -> Queue:
        """The queue of a hand with the least work waiting. Which is asked first goes
        round, so that equal ones are used in turn.
        """
        offset = self._enqueued % len(hand)
        self._enqueued += 1
        best: Queue | None = None
        for i in range(len(hand)):
            index = hand[(offset + i) % len(hand)]
            queue = self.queues.get(index)
            if queue is None:
                return Queue(index, self.virtual_time)
            if not queue.work_waiting:
                return queue
            if best is None or queue.work_waiting < best.work_waiting:
                best = queue
        assert best is not None, "a hand has cards"
        return best

    def _fits(self, seats: int) -> bool:
        """Whether so many are free. A request that is wider than the whole level runs
        when it has the level to itself.
        """
        if seats > self.seats:
            return not self.executing
        return self.seats_in_use + seats <= self.seats

    def dispatch(self, now: float) -> None:
        """Let in who may come in. To be called when there are more seats than
        before.
        """
        self._sync(now)
        while self.waiting and self.seats_in_use < self.seats:
            queue = self._next()
            ticket = queue.waiting[0]
            if not self._fits(ticket.seats):
                return  # it waits for the seats it needs: nobody overtakes it
            self._leave(ticket, queue)
            self._let_in(ticket, queue, now)
            queue.bound()

    def _let_in(self, ticket: Ticket, queue: Queue, now: float) -> None:
        self._robin = queue.index
        if ticket.work.final > self.seats:  # as much work, in a shape that fits
            latency = ticket.work.latency * ticket.work.final / self.seats
            ticket.work = Work(ticket.work.initial, self.seats, latency)
            ticket.seats = ticket.work.seats
        queue.executing.add(ticket)
        queue.seats_in_use += ticket.seats
        queue.next_dispatch += ticket.total
        self._execute(ticket, now)

    def _next(self) -> Queue:
        """The queue whose first request would be done first in virtual time; of equal
        ones the next after the last that was served.
        """
        waiting = [queue for queue in self.queues.values() if queue.waiting]
        if len(waiting) == 1:
            return waiting[0]
        return min(
            waiting,
            key=lambda queue: (
                queue.next_dispatch + queue.waiting[0].total,
                (queue.index - self._robin - 1) % self._queue_count,
            ),
        )

    def _leave(self, ticket: Ticket, queue: Queue) -> None:
        queue.waiting.remove(ticket)
        queue.work_waiting -= ticket.total
        self.waiting -= 1
        self.seats_waiting -= ticket.seats

    def _execute(self, ticket: Ticket, now: float) -> None:
        ticket.started = now
        self.executing += 1
        self.seats_in_use += ticket.seats
        if ticket.let_in is not None:
            ticket.let_in()

    def cancel(self, ticket: Ticket, now: float) -> None:
        """Give up waiting."""
        assert ticket.queue is not None
        self._sync(now)
        self._leave(ticket, ticket.queue)
        ticket.queue.bound()
        self._forget(ticket.queue)

    def finish(self, ticket: Ticket, now: float) -> float:
        """The request is done. Its seats are free, unless it needs them for so many
        seconds more: then `linger_out` frees them.
        """
        self._sync(now)
        self.executing -= 1
        queue = ticket.queue
        if queue is not None:
            assert ticket.started is not None
            queue.executing.discard(ticket)
            if queue.waiting or queue.executing:
                queue.next_dispatch -= seat_seconds(
                    ticket.work.initial, SERVICE_TIME - (now - ticket.started)
                )
                queue.bound()
        if ticket.work.latency > 0:
            if queue is not None:
                self._forget(queue)
            return ticket.work.latency
        self.linger_out(ticket, now)
        return 0.0

    def linger_out(self, ticket: Ticket, now: float) -> None:
        """Free the seats of a request that is done."""
        self._sync(now)
        self.seats_in_use -= ticket.seats
        if ticket.queue is not None:
            ticket.queue.seats_in_use -= ticket.seats
            self._forget(ticket.queue)
        self.dispatch(now)

    def _forget(self, queue: Queue) -> None:
        if (
            not queue.waiting
            and not queue.executing
            and self.queues.get(queue.index) is queue
        ):
            del self.queues[queue.index]
