"""Many large answers at once leave room for a small one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.apiserver.server.large_answers import IN_A_ROUND, PIECE, LargeAnswers


class Incoming:
    """A request whose client reads everything at once; keeps what was written to it, and in which round of the loop."""

    def __init__(self, rounds: list[int]) -> None:
        self._rounds = rounds
        self.transport: Incoming | None = self
        self.writer = self
        self.pieces: list[bytes] = []
        self.at: list[int] = []

    def is_closing(self) -> bool:
        return False

    def write(self, piece: bytes | memoryview) -> None:
        self.pieces.append(bytes(piece))
        self.at.append(len(self._rounds))

    async def drain(self) -> None:
        """Nothing is left."""


def test_a_few_pieces_go_out_in_one_round_and_small_answers_do_not_wait() -> None:
    async def scene() -> None:
        answers, rounds = LargeAnswers(), list[int]()
        large: list[Any] = [Incoming(rounds) for _ in range(3 * IN_A_ROUND)]
        small: Any = Incoming(rounds)
        text = b"".join(b"%07d\n" % number for number in range(PIECE // 8 * 3 // 2))
        writing = [asyncio.ensure_future(answers.write(each, text)) for each in large]
        writing.append(asyncio.ensure_future(answers.write(small, b"ok")))
        while not all(each.done() for each in writing):
            await asyncio.sleep(0)
            rounds.append(len(rounds))
        await asyncio.gather(*writing)
        assert small.pieces == [b"ok"]
        assert small.at == [0]
        assert all(b"".join(each.pieces) == text for each in large)
        assert {len(piece) for each in large for piece in each.pieces} == {PIECE, PIECE // 2}
        in_each = [sum(each.at.count(number) for each in large) for number in range(len(rounds))]
        assert max(in_each) == IN_A_ROUND

    asyncio.run(scene())


def test_who_has_gone_gets_nothing_more_and_keeps_nobodys_turn() -> None:
    async def scene() -> None:
        answers = LargeAnswers()
        for _ in range(2 * IN_A_ROUND):
            gone: Any = Incoming([])
            gone.transport = None
            with pytest.raises(ConnectionAbortedError):
                await answers.write(gone, b"x" * (PIECE + 1))
        there: Any = Incoming([])
        await answers.write(there, b"x" * (PIECE + 1))
        assert b"".join(there.pieces) == b"x" * (PIECE + 1)

    asyncio.run(scene())


def test_for_a_client_that_reads_everything_no_clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    set_for: list[float] = []
    timeout_at = asyncio.timeout_at

    def counted(when: float) -> asyncio.Timeout:
        set_for.append(when)
        return timeout_at(when)

    monkeypatch.setattr(asyncio, "timeout_at", counted)

    class Slow(Incoming):
        async def drain(self) -> None:
            await asyncio.sleep(0)

    async def scene() -> None:
        incoming: Any
        for incoming, clocks in ((Incoming([]), 0), (Slow([]), 3)):
            await LargeAnswers().write(incoming, b"x" * 3 * PIECE)
            assert len(set_for) == clocks

    asyncio.run(scene())
