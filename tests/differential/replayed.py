"""What ours says to requests whose answers by the real server are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.api.clock import run_virtual
from lifecycle.api.status import PanicError
from lifecycle.api.wire import MASTERS
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.differential.answers import differences
from tests.differential.case import Step
from tests.differential.player import Player


async def disagreements(steps: Iterable[Step], answers: Iterable[Any]) -> list[str]:
    """Where a new server of ours says something else; an answer of None is not compared."""
    server = create_server_chain(MemoryStore())
    await server.start()
    try:
        player = Player(HandlerTarget(server, ("kubernetes-admin", (MASTERS,))), "replayed")
        await player.begin()
        found = []
        for step, real in zip(steps, answers, strict=True):
            try:
                ours: Any = await player.answer(step)
            except PanicError:
                ours = {"status": 0}
            if real is not None:
                asked = f"{step.method} {step.path} {step.body}"
                found += [f"{asked[:600]}: {line}" for line in differences(real, ours)]
        return found
    finally:
        await server.stop()


def found_otherwise(steps: Iterable[Step], answers: Iterable[Any]) -> list[str]:
    """The same, on a loop of its own that nobody waits for."""
    return run_virtual(disagreements(steps, answers))
