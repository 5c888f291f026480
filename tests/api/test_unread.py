"""Pieces for somebody who may be slow: in order, up to their end, and no more of them than there is room for."""

from __future__ import annotations

import asyncio

from lifecycle.api.clock import run_virtual
from lifecycle.api.unread import UNREAD, Unread

PIECE = bytes(UNREAD // 4)


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
