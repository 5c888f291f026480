"""Queues that are fair by virtual time: the scenarios of upstream's `queueset_test.go`, on a clock of their own.

Each client has threads that call, are served for a while, think, and call again. Over the time of a scenario each client should get the
seats that a fair allocation gives it: nobody more than asked for, and nobody less than others who want more.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import pytest

from lifecycle.apiserver.filters.dropped_requests import DroppedRequests
from lifecycle.apiserver.filters.queue_set import ONE_SEAT, SERVICE_TIME, QueueSet, Ticket, Work, seat_seconds
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.apiserver.filters.shuffle_sharding import deal
from lifecycle.apiserver.filters.work_estimate import WorkEstimator, max_seats
from lifecycle.apiserver.storage.stats import Stats

NANO = 1e-9


@dataclass(slots=True, frozen=True)
class Client:
    """`threads` that call so many times each. `split`: half of them only in the second half of the scenario."""

    value: int
    threads: int
    calls: int
    served: float
    thinks: float
    work: Work = ONE_SEAT
    split: bool = False

    def wanted(self, *, last: bool) -> float:
        """How many seats it would have on average if nobody else wanted any."""
        threads = self.threads // 2 if self.split and not last else self.threads
        return threads * self.work.initial * self.served / (self.served + self.thinks)


class Scenario:
    """Runs clients against a set of queues, and measures what each gets."""

    def __init__(self, seats: int, queues: int, length: int, hand: int, clients: list[Client], duration: float) -> None:
        self.set = QueueSet(seats, queues, length)
        self._deck, self._hand, self._clients, self._duration = queues, hand, clients, duration
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self.now = 0.0
        self.failed = 0
        self._seats = [0] * len(clients)
        self._areas = [0.0] * len(clients)
        for i, client in enumerate(clients):
            for j in range(client.threads):
                late = client.split and j >= client.threads // 2
                calls = client.calls // 2 if late else client.calls
                delay = (90 * j + 20 * i) * NANO + (duration / 2 if late else 0)
                self._at(delay, lambda i=i, calls=calls: self._call(i, calls))  # type: ignore[misc]

    def _at(self, delay: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + delay, next(self._order), event))

    def _call(self, i: int, left: int) -> None:
        if not left:
            return
        client = self._clients[i]
        hand = deal(client.value, self._deck, self._hand) if self._deck else ()
        ticket = self.set.start(("schema", str(i)), hand, client.work, self.now)
        if ticket is None:
            self.failed += 1
            return
        ticket.let_in = lambda: self._serve(i, left, ticket)
        if ticket.started is not None:
            self._serve(i, left, ticket)

    def _serve(self, i: int, left: int, ticket: Ticket) -> None:
        client = self._clients[i]
        self._seats[i] += client.work.initial
        self._at(client.served, lambda: self._done(i, ticket))
        self._at(client.served + client.thinks, lambda: self._call(i, left - 1))

    def _done(self, i: int, ticket: Ticket) -> None:
        self._seats[i] -= self._clients[i].work.initial
        if lingering := self.set.finish(ticket, self.now):
            self._at(lingering, lambda: self.set.linger_out(ticket, self.now))

    def averages(self, end: float) -> list[float]:
        """The seats each client had on average from where it was until then."""
        since, areas = self.now, [0.0] * len(self._clients)

        def pass_to(moment: float) -> None:
            for i, seats in enumerate(self._seats):
                areas[i] += seats * (moment - self.now)
            self.now = moment

        while self._events and self._events[0][0] <= end:
            moment, _, event = heapq.heappop(self._events)
            pass_to(moment)
            event()
        pass_to(end)
        return [area / (end - since) for area in areas]


def fair(wanted: list[float], seats: float) -> list[float]:
    """Everybody gets what they want, or the same as all who want more."""
    given, left = [0.0] * len(wanted), seats
    for place, (want, i) in enumerate(sorted((want, i) for i, want in enumerate(wanted))):
        given[i] = min(want, left / (len(wanted) - place))
        left -= given[i]
    return given


def check(scenario: Scenario, clients: list[Client], *, margins: list[float], duration: float, seats: int) -> None:
    for half, margin in enumerate(margins, start=1):
        last = half == len(margins)
        expected = fair([client.wanted(last=last) for client in clients], seats)
        got = scenario.averages(duration * half / len(margins))
        assert got == pytest.approx(expected, rel=margin), (half, got, expected)


FIRST, SECOND = 1001001001, 2002002002
BUSY = 1.0 - NANO


@pytest.mark.parametrize(
    ("seats", "queues", "length", "hand", "clients", "duration", "margins"),
    [
        (1, 9, 8, 3, [Client(FIRST, 1, 21, 1, 0)], 20, [0.001]),
        (4, 9, 8, 1, [Client(FIRST, 8, 20, 1, BUSY), Client(SECOND, 8, 20, 1, BUSY)], 50, [0.01]),
        (4, 8, 16, 3, [Client(400900100100, 8, 30, 1, BUSY), Client(300900200200, 8, 30, 1, BUSY)], 60, [0.03]),
        (4, 9, 8, 1, [Client(FIRST, 8, 20, 1, 1), Client(SECOND, 7, 30, 1, 0.5)], 40, [0.01]),
        (3, 9, 6, 1, [Client(FIRST, 4, 20, 1, BUSY), Client(SECOND, 2, 20, 1, BUSY)], 20, [0.01]),
        (
            6,
            64,
            13,
            7,
            [Client(10010010010010, 13, 10, 1, BUSY), Client(20020020020020, 7, 10, 1, BUSY, Work(2, 1))],
            20,
            [0.155],
        ),
        (
            6,
            64,
            35,
            7,
            [
                *(Client(value * 10010010010010, 15, 21, 1, BUSY, Work(2, 1)) for value in (4, 5, 6, 7)),
                Client(90090090090090, 15, 21, 1, BUSY, Work(7, 1)),
            ],
            225,
            [0.33],
        ),
        (3, 9, 6, 1, [Client(FIRST, 2, 40, 1, -NANO), Client(SECOND, 2, 40, 1, -NANO, split=True)], 40, [0.01, 0.26]),
    ],
    ids=["baseline", "hand-1", "hand-3", "equal", "unequal", "widths", "too-wide", "windup"],
)
def test_everybody_gets_a_fair_share(
    seats: int, queues: int, length: int, hand: int, clients: list[Client], duration: float, margins: list[float]
) -> None:
    scenario = Scenario(seats, queues, length, hand, clients, duration)
    check(scenario, clients, margins=margins, duration=duration, seats=seats)
    scenario.averages(1e6)
    assert scenario.failed == 0, "nobody is turned away"
    assert (scenario.set.waiting, scenario.set.executing, scenario.set.seats_in_use) == (0, 0, 0)
    assert scenario.set.queues == {}


@pytest.mark.parametrize(
    ("thinks", "lingers", "final", "seats", "clients", "expected"),
    [
        (1, 0, 1, 1, 1, None),
        (1, 0, 2, 2, 2, None),
        (0, 1, 1, 1, 1, [0.5]),
        (0, 1, 1, 2, 1, None),
        (0, 1, 2, 2, 1, [0.5]),
        (0, 1, 1, 1, 2, [0.25, 0.25]),
        (0, 1, 1, 2, 2, [0.5, 0.5]),
        (0, 1, 2, 2, 2, [0.25, 0.25]),
        (1, 0.5, 1, 1, 2, [1 / 3, 1 / 3]),
        (1, 0.5, 1, 2, 2, None),
        (1, 0.5, 2, 2, 2, [1 / 3, 1 / 3]),
        (0.5, 1, 1, 1, 1, [0.5]),
        (0.5, 1, 1, 2, 1, None),
        (0.5, 1, 2, 2, 2, [0.25, 0.25]),
    ],
)
def test_seats_that_linger_are_paid_for(
    thinks: float, lingers: float, final: int, seats: int, clients: int, expected: list[float] | None
) -> None:
    both = [Client(value, 1, 25, 1, thinks, Work(1, final, lingers)) for value in (FIRST, SECOND)][:clients]
    got = Scenario(seats, 9, 8, 3, both, 24).averages(24)
    wanted = [client.wanted(last=True) for client in both]
    assert got == pytest.approx(fair(wanted, seats) if expected is None else expected, rel=1e-6)


def test_without_queues_there_are_refusals_and_no_fairness() -> None:
    clients = [Client(FIRST, 6, 10, 1, 57 / 100), Client(SECOND, 4, 15, 1, 37 / 100)]
    scenario = Scenario(4, 0, 0, 0, clients, 12)
    got = scenario.averages(12)
    assert scenario.failed > 0
    assert sum(got) <= 4


def queued(seats: int, *rows: tuple[float, Work], in_use: int = 0) -> QueueSet:
    """A set in which each queue has one request waiting, to start at some virtual time."""
    one = QueueSet(seats, len(rows), 50)
    one.seats, blocking = 1, one.start(("s", ""), (0,), ONE_SEAT, 0)
    assert blocking is not None
    for index, (starts, work) in enumerate(rows):
        assert one.start(("s", str(index)), (index,), work, 0) is not None
        one.queues[index].next_dispatch = seat_seconds(1, starts)
    one.seats, one.seats_in_use = seats, in_use
    return one


@pytest.mark.parametrize(
    ("seats", "in_use", "rows", "served"),
    [
        (1, 0, [(200, ONE_SEAT), (100, ONE_SEAT)], [1]),
        (1, 1, [(200, ONE_SEAT)], []),
        (50, 25, [(200, Work(50)), (100, Work(25))], [1]),
        (50, 26, [(200, Work(10)), (100, Work(25))], []),
        (50, 0, [(100, Work(10)), (100, Work(10)), (100, Work(40))], [1, 0]),
        (50, 0, [(100, Work(40)), (100, Work(10)), (99, Work(40))], [2, 1]),
    ],
)
def test_the_request_that_would_be_done_first_is_let_in(
    seats: int, in_use: int, rows: list[tuple[float, Work]], served: list[int]
) -> None:
    """As in upstream's `TestFindDispatchQueueLocked`: equal ones go round, and what does not fit holds up the rest."""
    one = queued(seats, *rows, in_use=in_use)
    let_in: list[int] = []
    for queue in list(one.queues.values()):
        for ticket in queue.waiting:
            ticket.let_in = lambda index=queue.index: let_in.append(index)  # type: ignore[misc]
    one.dispatch(0)
    assert let_in == served


def test_virtual_time_runs_by_what_the_busy_queues_get() -> None:
    two = QueueSet(2, 8, 50)
    two.start(("s", "a"), (0,), ONE_SEAT, 10)
    two.start(("s", "b"), (1,), ONE_SEAT, 10)
    assert two.virtual_time == 0
    two.dispatch(11)
    assert two.virtual_time == seat_seconds(1, 1)  # one seat each
    waits = two.start(("s", "b"), (1,), Work(3), 11)
    two.dispatch(12)
    assert two.virtual_time == seat_seconds(2, 1), "more is wanted than there is"
    assert waits is not None
    two.cancel(waits, 12)
    for queue in list(two.queues.values()):
        for ticket in list(queue.executing):
            two.finish(ticket, 12)
    two.dispatch(100)
    assert two.virtual_time == seat_seconds(2, 1), "nobody is busy"


def test_a_guess_is_set_right_when_the_request_is_done() -> None:
    one = QueueSet(1, 1, 50)
    ticket = one.start(("s", ""), (0,), Work(1, 1, 0.5), 0)
    later = one.start(("s", ""), (0,), ONE_SEAT, 0)
    assert ticket is not None
    assert later is not None
    queue = one.queues[0]
    assert queue.next_dispatch == seat_seconds(1, SERVICE_TIME + 0.5)
    assert one.finish(ticket, 2) == 0.5
    assert queue.next_dispatch == seat_seconds(1, 2 + 0.5)
    assert later.started is None
    one.linger_out(ticket, 2.5)
    assert later.started == 2.5


# -- turned away, and how much a request is -------------------------------------------------------------------------------


def test_the_more_is_turned_away_the_later_one_should_come_again() -> None:
    """The steps of upstream's `dropped_requests_tracker_test.go`: seconds, how many are dropped, and what is then said."""
    dropped = DroppedRequests()
    start = 1_700_000_000
    for seconds, requests, expected in (
        (0, 5, 1),
        (1, 11, 2),
        (2, 1, 2),
        (3, 11, 4),
        (4, 1, 4),
        (7, 1, 8),
        (11, 1, 8),
        (15, 1, 7),
        (17, 1, 6),
        (21, 14, 5),
        (22, 1, 10),
    ):
        for _ in range(requests):
            dropped.record(start + seconds)
        assert dropped.retry_after == expected, seconds


def estimated(path: str, stats: Stats | None, limit: int = 100, watchers: int = 0) -> Work:
    path, _, text = path.partition("?")
    query = {key: [value] for key, _, value in (pair.partition("=") for pair in text.split("&") if pair)}
    method = query.pop("method", ["GET"])[0]
    info = RequestInfoFactory().new_request_info(method, f"/apis/foo.bar/v1/{path}", query)
    return WorkEstimator(lambda group, plural: stats, lambda info: watchers).estimate(info, query, limit)


SOME, FEW = Stats(699, 10_000), Stats(69, 10_000)


@pytest.mark.parametrize(
    ("path", "stats", "limit", "seats"),
    [
        ("namespaces/n/events/e", SOME, 10, 1),
        ("events?limit=invalid", SOME, 100, 100),
        ("events?limit=399&resourceVersion=1", SOME, 100, 40),
        ("events?resourceVersion=1", SOME, 100, 10),
        ("events?resourceVersion=1", FEW, 100, 7),
        ("events?limit=399", SOME, 100, 10),
        ("events", None, 100, 1),
        ("events?continue=token&limit=399", SOME, 100, 40),
        ("events?limit=299&resourceVersion=0", SOME, 100, 10),
        ("events?continue=token&limit=5&labelSelector=a", SOME, 100, 35),
        ("events?continue=token&limit=399", SOME, 6, 6),
        ("events?fieldSelector=metadata.name=x", SOME, 100, 1),
        ("events", Stats(0, 0), 100, 1),
        ("events?resourceVersion=1&limit=5", Stats(7, 0), 100, 75),
        ("events?resourceVersion=1&limit=5", Stats(7, 0), 0, 75),
        ("events?watch=true", FEW, 100, 7),
        ("events?watch=true&resourceVersion=5", FEW, 100, 1),
        ("events?watch=true&resourceVersion=5&sendInitialEvents=true", FEW, 100, 7),
    ],
)
def test_a_list_takes_seats_by_the_memory_it_needs(path: str, stats: Stats | None, limit: int, seats: int) -> None:
    """As in upstream's `width_test.go`, where a list of the newest comes from the cache, as it does with an etcd of today."""
    assert estimated(path, stats, limit) == Work(seats)


@pytest.mark.parametrize(
    ("method", "path", "watchers", "limit", "work"),
    [
        ("POST", "namespaces/n/foos", 5, 10, ONE_SEAT),
        ("POST", "namespaces/n/foos", 29, 10, Work(1, 3, 0.005)),
        ("PUT", "namespaces/n/foos/x", 29, 10, Work(1, 3, 0.005)),
        ("PATCH", "namespaces/n/foos/x", 29, 2, Work(1, 2, 0.0075)),
        ("DELETE", "namespaces/n/foos/x", 199, 10, Work(1, 10, 0.01)),
        ("DELETE", "namespaces/n/foos/x", 199, 0, Work(1, 10, 0.01)),
        ("DELETE", "namespaces/n/foos", 199, 10, ONE_SEAT),
        ("POST", "namespaces/n/serviceaccounts/x/token", 199, 10, ONE_SEAT),
        ("GET", "namespaces/n/foos/x", 199, 10, ONE_SEAT),
    ],
)
def test_a_write_takes_seats_for_those_who_hear_of_it(
    method: str, path: str, watchers: int, limit: int, work: Work
) -> None:
    got = estimated(f"{path}?method={method}", None, limit, watchers)
    assert got._replace(latency=round(got.latency, 9)) == work


def test_no_request_may_take_more_than_a_part_of_its_level() -> None:
    assert [max_seats(*row) for row in ((100, 6), (10, 6), (3, 6), (245, 8), (50, 0))] == [15, 1, 1, 30, 0]


def test_what_is_wider_than_its_level_changes_its_shape_and_not_its_work() -> None:
    two = QueueSet(2, 1, 50)
    wide = two.start(("s", ""), (0,), Work(1, 8, 0.01), 0)
    assert wide is not None
    assert wide.work == Work(1, 2, 0.04)
    assert replace(Client(1, 1, 1, 1, 1), work=wide.work).work.total == Work(1, 8, 0.01).total


def test_a_queue_whose_seats_only_linger_is_not_in_use() -> None:
    """Its seats are taken for a while yet, but nobody in it has a turn: virtual time does not run for it, and who comes to it
    next begins where everybody is."""
    queues = QueueSet(2, 4, 10)
    done = queues.start(("s", "a"), (0,), Work(1, 1, 3.0), 0.0)
    assert done is not None
    assert queues.finish(done, 0.5) == 3.0
    assert (queues.queues, queues.executing, queues.seats_in_use) == ({}, 0, 1)
    stood = queues.virtual_time
    after = queues.start(("s", "a"), (0,), ONE_SEAT, 2.5)
    assert after is not None
    assert (queues.virtual_time, list(queues.queues), queues.seats_in_use) == (stood, [0], 2)
    assert queues.queues[0].next_dispatch == stood + after.total
    queues.linger_out(done, 3.5)
    assert (list(queues.queues), queues.seats_in_use) == ([0], 1), "another queue of the same index stays"
    assert queues.finish(after, 4.0) == 0.0
    assert (queues.queues, queues.seats_in_use) == ({}, 0)
