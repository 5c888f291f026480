"""Every kept case, replayed against our server: it must answer what the real one answered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.api.wire import MASTERS
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.differential.answers import differences
from tests.differential.case import CASES, Case, load
from tests.differential.player import Player

KEPT = sorted(CASES.glob("*.yaml"))


async def _disagreements(case: Case) -> list[str]:
    server = create_server_chain(MemoryStore())
    await server.start()
    try:
        player = Player(HandlerTarget(server, ("kubernetes-admin", (MASTERS,))), "replayed")
        await player.begin()
        found = []
        for step, real in zip(case.steps, case.answers, strict=True):
            ours: Any = await _answered(player, step)
            found += [f"{step.method} {step.path}: {line}" for line in differences(real, ours)]
        return found
    finally:
        await server.stop()


async def _answered(player: Player, step: Any) -> Any:
    from lifecycle.api.status import PanicError

    try:
        return await player.answer(step)
    except PanicError:
        return {"status": 0}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_ours_answers_as_the_real_server_did(path: Any) -> None:
    case = load(path)
    found = run_virtual(_disagreements(case))
    if case.known:
        assert found, f"{path.name} agrees now: take out `known: {case.known}`"
    else:
        assert not found, "\n".join(found)


def test_there_are_cases() -> None:
    assert len(KEPT) >= 20
    assert asyncio.iscoroutinefunction(_disagreements)
