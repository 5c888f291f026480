"""Those who would work without ever waiting share one turn of each round of the loop."""

from __future__ import annotations

import asyncio
from unittest.mock import patch

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.pauses import TURN, Pauses


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


MANY = [chr(0x100 + number) for number in range(64)]


def test_where_each_has_little_to_do_many_who_waited_go_on_at_once() -> None:
    turns = Rounds(TURN / 40).turns(**dict.fromkeys(MANY, 2))
    assert [len(turn) for turn in turns] == [40, 2, 4, 8, 16, 32, 26]


class Heavier(Rounds):
    """At first each piece is short, and then long."""

    @property
    def seconds(self) -> float:  # type: ignore[override]
        return TURN / 40 if len("".join(self.worked)) < 500 else 2 * TURN

    @seconds.setter
    def seconds(self, _: float) -> None:
        pass


def test_who_goes_on_with_others_waits_again_if_one_of_them_takes_all_of_the_turn() -> None:
    turns = Heavier(0).turns(**dict.fromkeys(MANY, 10))
    short = [turn for number, turn in enumerate(turns) if len("".join(turns[:number])) < 500]
    assert max(map(len, short)) > 30
    assert [len(turn) for turn in turns[len(short) :]] == [1] * (640 - len("".join(short)))
    assert sorted("".join(turns)) == sorted("".join(MANY) * 10)
