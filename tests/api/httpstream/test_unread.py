"""Pieces for somebody who may be slow: in order, up to their end, and no more of them than there is room for."""

from __future__ import annotations

import asyncio

from lifecycle.api.httpstream.unread import PIECE as OVERHEAD
from lifecycle.api.httpstream.unread import UNREAD, Room, Unread
from lifecycle.api.loop.clock import run_virtual

PIECE = bytes(UNREAD // 4 - OVERHEAD)


def test_whoever_brings_more_than_there_is_room_for_waits() -> None:
    async def main() -> None:
        unread, brought = Unread(), 0

        async def bring() -> None:
            nonlocal brought
            for _ in range(12):
                await unread.feed(PIECE)
                brought += 1
            unread.end()

        bringing = asyncio.ensure_future(bring())
        await asyncio.sleep(1)
        assert brought == 4
        reading = aiter(unread)
        for taken in range(1, 4):
            assert await anext(reading) == PIECE
            await asyncio.sleep(1)
            assert brought == 4 + taken
        assert len([piece async for piece in reading]) == 9
        await bringing

    run_virtual(main())


def test_a_piece_that_is_larger_than_all_room_goes_by_itself() -> None:
    async def main() -> None:
        unread = Unread()
        feeding = asyncio.ensure_future(unread.feed(bytes(3 * UNREAD)))
        assert len(await anext(aiter(unread))) == 3 * UNREAD
        async with asyncio.timeout(1):
            await feeding

    run_virtual(main())


def test_small_pieces_count_for_what_they_take() -> None:
    async def main() -> None:
        unread, brought = Unread(), 0
        try:
            async with asyncio.timeout(1):
                while True:
                    await unread.feed(b"ab")
                    brought += 1
        except TimeoutError:
            assert brought == UNREAD // (2 + OVERHEAD)

    run_virtual(main())


def test_what_is_discarded_gives_its_room_to_others() -> None:
    async def main() -> None:
        room = Room()
        full, other = Unread(room), Unread(room)
        feeding = [asyncio.ensure_future(each.feed(bytes(UNREAD))) for each in (full, other)]
        await asyncio.sleep(1)
        assert [task.done() for task in feeding] == [False, False]
        full.discard()
        assert [piece async for piece in full] == []
        assert len(await anext(aiter(other))) == UNREAD
        await asyncio.sleep(1)
        assert [task.done() for task in feeding] == [True, True]
        assert room.taken == 0
        for _ in range(3):  # what comes later is not kept either
            async with asyncio.timeout(1):
                await full.feed(bytes(UNREAD))
        assert room.taken == 0

    run_virtual(main())
