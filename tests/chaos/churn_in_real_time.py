"""Half an hour of comings and goings on the machine's own clock and twenty nodes: what the process holds, minute by minute.

What virtual time leaves out is here: timers that are late, answers that wait for each other, memory that an allocator does
not give back. Twenty names come and go, something every second; at the end of each minute everything is deleted. Events
are kept for three minutes (`--event-ttl=3m0s`), not for an hour: an hour's are more after thirty minutes than after five,
as they should be, and would hide what should not.

`python -m tests.chaos.churn_in_real_time --minutes 30` (`make churn REAL=30`).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from lifecycle.apiserver.registry import event_stores
from tests.chaos.churn import NAMES, Pace, Sample, come_and_go

PACE = Pace(length=60.0, step=1.0, outage=5.0, nodes=20, names=tuple(f"{name}-{i}" for name in NAMES for i in range(5)))
EVENT_TTL = 180
WARM = 5
"""Minutes after which memory counts as full."""
SHARE = 0.10
"""So much more at the end is allowed."""


def growth(samples: list[Sample]) -> float:
    """By what share memory is more at the end than it was when it was full."""
    return samples[-1].kilobytes / samples[WARM - 1].kilobytes - 1


def main(arguments: list[str] | None = None) -> int:
    """0: memory ends within a tenth of what it was after five minutes; 1: it does not."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.churn_in_real_time", description=__doc__)
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.minutes <= WARM:
        parser.error(f"--minutes must be more than {WARM}")
    event_stores.CoreEventStore.ttl = EVENT_TTL
    began, computed = time.monotonic(), time.process_time()

    def report(sample: Sample) -> None:
        print(
            f"{sample}  {time.monotonic() - began:6.0f} s, {time.process_time() - computed:6.0f} s of a processor",
            flush=True,
        )

    grown = growth(asyncio.run(come_and_go(options.minutes, options.seed, report, pace=PACE)))
    print(f"memory at the end against minute {WARM}: {grown:+.1%}")
    return 1 if grown > SHARE else 0


if __name__ == "__main__":
    sys.exit(main())
