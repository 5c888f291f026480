"""Whose turn it is where two requests would be done at the same time."""

from __future__ import annotations

from lifecycle.apiserver.filters.queue_set import QueueSet, Work


def served(queues: int, each: int, *, first: int = 0) -> list[int]:
    """In which order the queues of a level with a single seat are served, each of which
    has so many equal requests waiting, while a request out of the queue `first` is at
    work.
    """
    level, order = QueueSet(1, queues, 50), list[int]()
    blocking = level.start(("level", "first"), (first,), Work(), 0.0)
    assert blocking is not None
    tickets = [blocking]
    for _ in range(each):
        for index in range(queues):
            ticket = level.start(("level", str(index)), (index,), Work(), 0.0)
            assert ticket is not None

            def let_in(index: int = index, ticket: object = ticket) -> None:
                order.append(index)
                tickets.append(ticket)  # type: ignore[arg-type]

            ticket.let_in = let_in
    for queue in level.queues.values():  # as if the first had cost its queue nothing
        queue.next_dispatch = 0
    for now in range(queues * each):
        level.finish(tickets[-1], float(now))
        level.dispatch(float(now))
    return order


def test_equal_queues_are_served_in_turn_beginning_after_the_last_that_was() -> None:
    assert served(3, 1) == [1, 2, 0]
    assert served(3, 1, first=1) == [2, 0, 1]
    assert served(4, 1, first=3) == [0, 1, 2, 3]


def test_and_none_a_second_time_before_all_were() -> None:
    order = served(3, 3)
    assert [sorted(order[turn : turn + 3]) for turn in (0, 3, 6)] == [[0, 1, 2]] * 3


def test_what_would_be_done_sooner_goes_first_though_it_came_later() -> None:
    """Two queues have used as much so far; what waits in one takes five seats, and in the other one. Upstream's
    `findDispatchQueueToBoundLocked` compares when the first request of each would be *done*, in virtual time.
    """
    level, order = QueueSet(5, 3, 50), list[str]()
    blocking = level.start(("level", "first"), (0,), Work(5), 0.0)
    assert blocking is not None
    for index, (name, seats) in enumerate({"wide": 5, "narrow": 1}.items(), 1):
        ticket = level.start(("level", name), (index,), Work(seats), 0.0)
        assert ticket is not None
        ticket.let_in = lambda name=name: order.append(name)  # type: ignore[misc]
    level.finish(blocking, 1.0)
    level.dispatch(1.0)
    assert order == ["narrow"]
