"""What ours says to requests whose answers by the real server are kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from lifecycle.api.http.wire import MASTERS
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import PanicError
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.differential.answers import differences
from tests.differential.case import Step
from tests.differential.definitions import define
from tests.differential.kept import Kept
from tests.differential.player import Player
from tests.furnished import restored

T = TypeVar("T")
ADMINISTRATOR = ("kubernetes-admin", (MASTERS,))


def ask_ours(questions: Callable[[HandlerTarget], Awaitable[T]]) -> T:
    """What comes of asking a server of ours that nobody has asked anything before."""

    async def main() -> T:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            return await questions(HandlerTarget(server, ADMINISTRATOR))
        finally:
            await server.stop()

    return run_virtual(main())


async def disagreements(*cases: Kept, definitions: Sequence[Any] = ()) -> list[str]:
    """Where a new server of ours, asked for one case after the other, says something else. `definitions` of custom kinds it has first."""
    server = create_server_chain(MemoryStore())
    await server.start(restored)
    try:
        target = HandlerTarget(server, ADMINISTRATOR)
        if definitions:
            await define(target, definitions)
        found = []
        for count, (steps, answers) in enumerate(cases):
            player = Player(target, f"replayed-{count}")
            await player.begin()
            for step, real in zip(steps, answers, strict=True):
                ours = await _answered(player, step)
                if real is not None:
                    asked = f"{step.method} {step.path} {step.body}"
                    found += [f"{asked[:600]}: {line}" for line in differences(real, ours)]
            if count + 1 < len(cases):
                await player.end()
        return found
    finally:
        await server.stop()


async def _answered(player: Player, step: Step) -> Any:
    try:
        return await player.answer(step)
    except PanicError:
        return {"status": 0}


def found_otherwise(*cases: Kept, definitions: Sequence[Any] = ()) -> list[str]:
    """The same, on a loop of its own that nobody waits for."""
    return run_virtual(disagreements(*cases, definitions=definitions))
