"""A priority level at work: seats taken, queued for, handed on and given back."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import MASTERS, Request, RequestInfo, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.bootstrap.policy import bootstrap_objects
from lifecycle.apiserver.filters import priority_level
from lifecycle.apiserver.filters.priority_and_fairness import FlowController, with_priority_and_fairness
from lifecycle.apiserver.filters.priority_level import PriorityLevel
from lifecycle.apiserver.filters.queue_set import Work
from lifecycle.apiserver.filters.shuffle_sharding import deal, hash_flow_id
from lifecycle.apiserver.storage.object_reader import StaticReader

FLOW = ("schema", "jane")


def level(seats: int, queues: int = 4, hand: int = 2, length: int = 2) -> PriorityLevel:
    queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": length}
    response = {"type": "Queue", "queuing": queuing} if queues else {"type": "Reject"}
    spec = {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": response}}
    return PriorityLevel({"metadata": {"name": "l", "uid": "u"}, "spec": spec}, seats)


def test_seats_are_taken_queued_for_and_handed_on() -> None:
    async def main() -> None:
        one = level(seats=1)
        first = one.start(FLOW)
        assert first is not None
        assert first.started == 0
        waiting = [asyncio.ensure_future(one.acquire(FLOW, 10)) for _ in range(3)]
        await asyncio.sleep(0)
        assert (one.executing, one.waiting, one.idle) == (1, 3, False)
        one.release(first)
        for task in waiting:
            await asyncio.wait([task], timeout=1)
            (done,) = [each for each in waiting if each.done() and each not in waiting[: waiting.index(task)]]
            ticket = done.result()
            assert ticket is not None
            one.release(ticket)
        assert (one.executing, one.waiting, one.idle) == (0, 0, True)
        assert one.dispatched == 4

    run_virtual(main())


def test_a_full_queue_turns_away_and_so_does_patience() -> None:
    async def main() -> None:
        one = level(seats=1, queues=2, hand=2, length=1)
        assert one.start(FLOW)
        waiting = [asyncio.ensure_future(one.acquire(FLOW, 5)) for _ in range(3)]
        await asyncio.sleep(0)
        assert [await task for task in waiting] == [None, None, None]  # one at once, two after five seconds
        assert asyncio.get_running_loop().time() == pytest.approx(5)
        assert (one.executing, one.waiting, one.rejected, one.timed_out) == (1, 0, 1, 2)

    run_virtual(main())


def test_a_level_without_queues_turns_away_at_once() -> None:
    async def main() -> None:
        two = level(seats=2, queues=0)
        tickets = [two.start(FLOW) for _ in range(3)]
        assert [ticket is not None for ticket in tickets] == [True, True, False]
        assert tickets[0] is not None
        two.release(tickets[0])
        assert two.start(FLOW) is not None
        none = level(seats=0, queues=0)
        assert none.start(FLOW) is not None, "what is wider than its level runs alone"
        assert none.start(FLOW) is None

    run_virtual(main())


def test_seats_linger_while_watchers_are_told() -> None:
    async def main() -> None:
        four = level(seats=4)
        ticket = four.start(FLOW, Work(1, 3, 0.5))
        assert ticket is not None
        assert four.executing == 3, "both phases are one rectangle"
        four.release(ticket)
        assert four.executing == 3
        late = asyncio.ensure_future(four.acquire(FLOW, 10, Work(2)))
        await asyncio.sleep(0.4)
        assert not late.done()
        await asyncio.sleep(0.2)
        assert late.done()
        assert four.executing == 2

    run_virtual(main())


@given(
    st.integers(1, 3),
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 20), st.integers(1, 9), st.booleans(), st.integers(1, 4)),
        min_size=1,
        max_size=25,
    ),
)
def test_no_seat_is_ever_lost_or_doubled(seats: int, requests: list[tuple[str, int, int, bool, int]]) -> None:
    """Whatever arrives, waits, gives up or is cancelled: no more than `seats` at work (or one that is wider, alone), none left taken."""

    async def main() -> None:
        one = level(seats=seats)
        at_work: list[int] = []

        async def work(flow: str, start: int, length: int, width: int) -> None:
            await asyncio.sleep(start)
            ticket = await one.acquire(("schema", flow), 7, Work(width, width % 3, 0.25 * (width % 2)))
            if ticket is None:
                return
            at_work.append(ticket.work.seats)
            assert sum(at_work) <= seats or len(at_work) == 1
            try:
                await asyncio.sleep(length)
            finally:
                at_work.remove(ticket.work.seats)
                one.release(ticket)

        tasks = [asyncio.ensure_future(work(flow, start, length, width)) for flow, start, length, _, width in requests]
        await asyncio.sleep(10)
        for task, (*_, cancelled, _width) in zip(tasks, requests, strict=True):
            if cancelled:
                task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [end for end in ends if isinstance(end, AssertionError)]
        await asyncio.sleep(1)
        assert (one.executing, one.waiting, one.idle) == (0, 0, True)
        assert all(not queue.waiting and not queue.seats_in_use for queue in one.queues())

    run_virtual(main())


@given(st.text(max_size=10), st.integers(1, 64), st.integers(1, 8))
def test_a_flow_is_always_dealt_the_same_hand(flow: str, deck: int, hand: int) -> None:
    cards = deal(hash_flow_id("schema", flow), deck, hand)
    assert cards == deal(hash_flow_id("schema", flow), deck, hand)
    assert len(set(cards)) == min(hand, deck)
    assert all(0 <= card < deck for card in cards)


def test_each_of_five_thousand_flows_is_dealt_its_hand_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dealt = []

    def counted(value: int, deck: int, hand: int) -> tuple[int, ...]:
        dealt.append(value)
        return deal(value, deck, hand)

    monkeypatch.setattr(priority_level, "deal", counted)

    async def main() -> None:
        one = level(seats=1)
        for _ in range(3):  # in turn, as nodes renew their leases
            for number in range(5000):
                ticket = one.start(("nodes", f"system:node:n{number}"))
                assert ticket is not None
                one.release(ticket)

    run_virtual(main())
    assert len(dealt) == len(set(dealt)) == 5000


def test_hands_are_dealt_as_upstream_deals_them() -> None:
    """Cards by hand: the remainders, each moved up by those drawn before that are not higher."""
    assert deal(0, 128, 9) == tuple(range(9))
    assert deal(5 + 8 * (4 + 7 * 0), 8, 3) == (5, 4, 0)
    assert deal(4 + 8 * (4 + 7 * 4), 8, 3) == (4, 5, 6)
    assert hash_flow_id("a", "bc") != hash_flow_id("ab", "c")


def test_too_much_of_one_kind_is_answered_with_429_and_does_not_stop_the_rest() -> None:
    async def main() -> None:
        flow_control = FlowController(StaticReader(bootstrap_objects()), concurrency=10)
        started = asyncio.Event()

        async def slow(request: Request) -> Response:
            started.set()
            await asyncio.sleep(1000)
            return Response(obj={})

        # less than the ten seconds after which others' seats would be lent
        handler = with_priority_and_fairness(slow, flow_control, wait_limit=5)
        info = RequestInfo(True, "/api/v1/nodes", "list", version="v1", resource="nodes")
        jane = UserInfo("jane", ("system:authenticated",))
        default = flow_control.classify(jane, info)
        assert default is not None
        assert (default.schema, default.level.name) == ("global-default", "global-default")
        assert default.level.seats == 1  # 10 seats, 20 of 245 shares, rounded up
        first = asyncio.ensure_future(handler(Request("GET", "/api/v1/nodes", user=jane, info=info)))
        await started.wait()
        second = await handler(Request("GET", "/api/v1/nodes", user=jane, info=info))
        assert (second.status, second.headers["Retry-After"]) == (429, "1")
        assert second.body == b"Too many requests, please try again later.\n"
        assert second.headers["X-Kubernetes-Pf-Flowschema-Uid"] == default.schema_uid
        assert second.headers["X-Kubernetes-Pf-Prioritylevel-Uid"] == default.level.uid
        boss = asyncio.ensure_future(
            handler(Request("GET", "/api/v1/nodes", user=UserInfo("r", (MASTERS,)), info=info))
        )
        await asyncio.sleep(1)
        assert not boss.done()  # at work, not waiting: its level is exempt
        assert flow_control.levels["exempt"].executing == 1
        for task in (first, boss):
            task.cancel()
        await asyncio.gather(first, boss, return_exceptions=True)
        assert default.level.executing == 0
        assert flow_control.levels["exempt"].idle

    run_virtual(main())


@given(st.integers(0, 2**64 - 1), st.integers(1, 40), st.integers(1, 12))
def test_a_hand_is_what_a_deck_that_is_laid_out_gives(value: int, deck: int, hand: int) -> None:
    laid_out, rest, cards = value, list(range(deck)), []
    for _ in range(min(hand, deck)):
        laid_out, card = divmod(laid_out, len(rest))
        cards.append(rest.pop(card))
    assert deal(value, deck, hand) == tuple(cards)


def test_the_deck_of_ten_million_queues_is_never_laid_out() -> None:
    """The most that a level may have, and more than any memory has room for."""
    assert len(set(deal(2**64 - 1, 10_000_000, 2))) == 2
    assert deal(5 + 10**15 * 7, 10**15, 2) == (5, 8)


def test_of_a_level_with_ten_million_queues_those_in_use_are_shown() -> None:
    async def main() -> None:
        vast = level(1, queues=10_000_000)
        for flow in ("a", "b"):
            assert vast.start(("schema", flow)) is not None
        shown = vast.queues()
        assert [queue.index for queue in shown] == sorted(queue.index for queue in shown)
        assert 1 <= len(shown) <= 2
        assert sum(len(queue.waiting) for queue in shown) == 1
        assert len(level(1, queues=10_000).queues()) == 10_000

    run_virtual(main())
