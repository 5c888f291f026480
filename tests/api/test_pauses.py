"""Those who would work without ever waiting share one turn of each round of the loop."""

from __future__ import annotations

import asyncio
from unittest.mock import patch

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.api.pauses import TURN, Pauses


class Rounds:
    """Who worked in which round of a real loop. A piece of work takes so many seconds of the loop's time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0
        self.worked: list[str] = [""]

    def _next_round(self) -> None:
        self.worked.append("")
        asyncio.get_running_loop().call_soon(self._next_round)

    async def work(self, name: str, pieces: int) -> None:
        pauses = Pauses()
        for _ in range(pieces):
            await pauses.pause()
            self.worked[-1] += name
            self.now += self.seconds

    async def play(self, **pieces: int) -> list[asyncio.Task[None]]:
        loop = asyncio.get_running_loop()
        with patch.object(loop, "time", lambda: self.now):
            tasks = [loop.create_task(self.work(name, count), name=name) for name, count in pieces.items()]
            loop.call_soon(self._next_round)
            await asyncio.wait(tasks)
        return tasks

    def turns(self, **pieces: int) -> list[str]:
        """What was done in each round in which anything was."""
        asyncio.run(self.play(**pieces))
        return [each for each in self.worked if each]


@pytest.mark.parametrize(
    ("seconds", "turns"), [(TURN / 3.5, ["aaaa", "aaaa", "aa"]), (TURN * 2, ["a"] * 10), (0.0, ["a" * 10])]
)
def test_who_works_alone_pauses_when_a_turn_is_over(seconds: float, turns: list[str]) -> None:
    assert Rounds(seconds).turns(a=10) == turns


def test_together_they_have_one_turn_in_each_round_and_stand_in_line_for_the_next() -> None:
    turns = Rounds(TURN / 3.5).turns(a=8, b=8, c=8)
    assert max(map(len, turns)) == 4
    assert turns == ["aaaa", "aaaa", "bbbb", "cccc", "bbbb", "cccc"]  # first in the line is who paused first


def test_who_gives_up_in_the_line_keeps_nobody_waiting() -> None:
    rounds = Rounds(TURN * 2)

    async def scene() -> list[bool]:
        tasks = asyncio.create_task(rounds.play(a=3, b=3, c=3))
        for _ in range(3):
            await asyncio.sleep(0)
        assert rounds.worked[0] == "a"
        next(each for each in asyncio.all_tasks() if each.get_name() == "b").cancel()
        return [each.cancelled() for each in await tasks]

    assert asyncio.run(scene()) == [False, True, False]
    assert sorted("".join(rounds.worked)) == [*"aaaccc"]


def test_a_line_is_longer_than_a_round_and_everybody_gets_on() -> None:
    assert sorted("".join(Rounds(TURN * 2).turns(**dict.fromkeys("abcdefghij", 3)))) == sorted("abcdefghij" * 3)


def test_on_virtual_time_which_stands_still_nobody_waits() -> None:
    rounds = Rounds(TURN * 2)
    run_virtual(rounds.work("a", 10))
    assert rounds.worked == ["a" * 10]
