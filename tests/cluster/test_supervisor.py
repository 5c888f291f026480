"""Components as tasks: what dies is heard of, what ends is ended in the right order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cluster.supervisor import Supervisor


class Played:
    """Components that note what happens to them."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def living(self, name: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            self.notes.append(f"{name} begins")
            try:
                await asyncio.Event().wait()
            finally:
                self.notes.append(f"{name} ends")

        return run

    def dying(self, name: str, after: float) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await asyncio.sleep(after)
            raise RuntimeError(f"{name} is out of memory")

        return run


def played(scene: Callable[[Supervisor, Played], Awaitable[Any]]) -> Played:
    async def main() -> Played:
        supervisor, components = Supervisor(), Played()
        try:
            await scene(supervisor, components)
        finally:
            await supervisor.stop()
        return components

    return run_virtual(main())


def test_components_end_in_the_reverse_order_of_their_start() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        supervisor.run("first", components.living("first"))
        supervisor.run("second", components.living("second"))
        await asyncio.sleep(1)
        assert [task.get_name() for task in supervisor.tasks] == ["first", "second"]
        await supervisor.stop()
        assert supervisor.tasks == []

    assert played(scene).notes == ["first begins", "second begins", "second ends", "first ends"]


def test_the_first_death_is_told_with_the_name_of_the_component() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        supervisor.run("late", components.dying("late", 2))
        supervisor.run("early", components.dying("early", 1))
        with pytest.raises(RuntimeError, match="early is out of memory") as died:
            await supervisor.failure()
        assert died.value.__notes__ == ["in early"]
        await asyncio.sleep(5)
        assert str(supervisor.failed.exception()) == "early is out of memory"

    played(scene)


def test_who_is_ended_has_not_died() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        supervisor.run("one", components.living("one"))
        await asyncio.sleep(1)
        await supervisor.stop()
        assert not supervisor.failed.done()

    played(scene)


def test_the_end_waits_for_those_that_take_their_time_and_for_those_that_fail_at_it() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        async def slow() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(3)
                components.notes.append("tidied up")
                raise OSError("the disk is full")

        supervisor.run("slow", slow)
        await asyncio.sleep(1)
        await supervisor.stop()
        assert str(supervisor.failed.exception()) == "the disk is full"

    assert played(scene).notes == ["tidied up"]


def test_one_component_is_ended_as_if_it_had_crashed_and_the_others_go_on() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        supervisor.run("one", components.living("one"))
        supervisor.run("other", components.living("other"))
        await asyncio.sleep(1)
        await supervisor.stop_component("one")
        assert components.notes[-1] == "one ends"
        assert [task.get_name() for task in supervisor.tasks] == ["other"]
        assert not supervisor.failed.done()
        with pytest.raises(KeyError, match="one"):
            await supervisor.stop_component("one")

    played(scene)


def test_what_is_waited_for_is_over_when_it_has_come() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        supervisor.run("one", components.living("one"))
        begun = asyncio.get_running_loop().time()
        await supervisor.wait_for(asyncio.sleep(7))
        assert asyncio.get_running_loop().time() - begun == 7

    played(scene)


def test_what_was_waited_for_may_fail() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        with pytest.raises(RuntimeError, match=r"the wait is out of memory$"):
            await supervisor.wait_for(components.dying("the wait", 1)())

    played(scene)


def test_a_death_ends_the_waiting_and_what_was_waited_for() -> None:
    async def scene(supervisor: Supervisor, components: Played) -> None:
        supervisor.run("one", components.dying("one", 2))
        begun = asyncio.get_running_loop().time()
        with pytest.raises(RuntimeError, match="one is out of memory"):
            await supervisor.wait_for(components.living("the wait")())
        assert asyncio.get_running_loop().time() - begun == 2
        await asyncio.sleep(0)
        assert components.notes == ["the wait begins", "the wait ends"]

    played(scene)
