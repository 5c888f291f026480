"""A hollow node takes as long as it is told to: not at all, about so long, or as recorded nodes did."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.step_times import RECORDED, SLOW, StepTimes, recorded_times

STEPS = {"sandbox", "pull", "create", "start", "probe", "listen", "stop", "release"}


def test_every_step_was_seen_more_than_once_and_in_order() -> None:
    times = recorded_times()
    assert set(times) == STEPS
    for seen in times.values():
        assert len(seen) > 1
        assert list(seen) == sorted(seen)
        assert seen[0] > 0


def drawn(latency: float | str, seed: str, cidr: str) -> list[float]:
    times = StepTimes(latency, seed)  # type: ignore[arg-type]
    times.use(cidr)
    return [times.draw("stop") for _ in range(20)]


def test_recorded_times_are_drawn_from_those_that_were_seen_and_alike_for_one_seed_and_node() -> None:
    mine = drawn(RECORDED, "1", "10.244.1.0/24")
    assert set(mine) <= set(recorded_times()["stop"])
    assert len(set(mine)) > 5
    assert mine == drawn(RECORDED, "1", "10.244.1.0/24")
    assert mine != drawn(RECORDED, "2", "10.244.1.0/24")
    assert mine != drawn(RECORDED, "1", "10.244.2.0/24")


@pytest.mark.parametrize("step", sorted(STEPS))
def test_a_number_of_seconds_is_for_the_steps_of_a_start(step: str) -> None:
    times = [StepTimes(2.0).draw(step) for _ in range(3)]
    assert all(1.0 <= seconds <= 3.0 for seconds in times) is (step in SLOW)
    assert StepTimes().draw(step) == 0.0


def test_volumes_are_released_after_the_time_it_takes() -> None:
    async def main() -> float:
        began = asyncio.get_running_loop().time()
        await HollowRuntime(clock=Clock(), latency=RECORDED).volumes.withdraw("uid")
        return asyncio.get_running_loop().time() - began

    assert round(run_virtual(main()), 3) in recorded_times()["release"]
