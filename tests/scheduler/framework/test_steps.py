"""A decision stops after every few nodes, and comes to the same whoever drives it."""

from __future__ import annotations

import asyncio

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.steps import NODES, Steps, at_once, in_turns
from tests.scheduler.cluster_model import Model, make_node, make_pod


def counted() -> Steps[str]:
    for _ in range(3):
        yield
    return "done"


def test_steps_come_to_the_same_at_once_and_in_turns() -> None:
    assert at_once(counted()) == asyncio.run(in_turns(counted())) == "done"


def test_others_have_their_turn_between_two_steps_that_take_long() -> None:
    """On a clock of its own that a step moves, since virtual time stands still while somebody computes."""
    seen: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        now = [0.0]
        loop.time = lambda: now[0]  # type: ignore[method-assign]

        def long_steps() -> Steps[None]:
            for number in range(3):
                seen.append(f"step {number}")
                now[0] += 1
                yield
            return

        loop.call_soon(seen.append, "somebody else")
        await in_turns(long_steps())

    asyncio.run(main())
    assert seen.index("somebody else") < seen.index("step 2")


def test_a_decision_about_many_nodes_takes_as_many_steps_as_there_are_handfuls_of_them() -> None:
    model = Model([make_node(f"n{i}") for i in range(4 * NODES)], batch=False)
    model.cache.update_snapshot(model.snapshot)
    decision = model.algorithm.decide(CycleState(), PodInfo(make_pod("p")))
    steps = list(decision)
    assert len(steps) >= 4 + 4  # while filtering, and with each plugin that scores
