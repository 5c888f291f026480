"""`make chaos`: scenarios played until there were enough, the time is up, or Ctrl-C; what fails is shrunk."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter

from tests.chaos.play import judge
from tests.chaos.scenario import Scenario
from tests.chaos.shrink import kinds, shrink

SHOWN = 12


def main(arguments: list[str] | None = None) -> int:
    """0: nothing is wrong; 1: something is; 2: it cannot be played."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--n", type=int, default=1000, help="how many seeds")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--keep", nargs="*", default=[], metavar="PART", help="only these parts of the first: a0 a3 f1")
    parser.add_argument("--seconds", type=float, default=3600, help="how long at most")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false", help="print scenarios as they were found")
    options = parser.parse_args(arguments)
    began, failed, faults, played = time.monotonic(), 0, Counter[str](), 0
    try:
        for seed in range(options.seed, options.seed + options.n):
            if time.monotonic() - began > options.seconds:
                print(f"the time of {options.seconds:g} s is up", file=sys.stderr)
                break
            scenario = Scenario.draw(seed)
            if options.keep:
                scenario = scenario.keeping(options.keep)
            _show_progress(played, failed, options.n, seed)
            problems = judge(scenario)
            played += 1
            faults.update(fault.kind for _, fault in scenario.faults)
            if problems:
                failed += 1
                if options.shrink:
                    scenario = shrink(scenario, judge, problems)
                    problems = judge(scenario)
                _report(scenario, problems)
            if options.keep:
                break
    except ValueError as error:
        print(f"chaos: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
    told = ", ".join(f"{count} × {kind}" for kind, count in faults.most_common())
    print(f"\r{played} seeds in {time.monotonic() - began:.0f} s, {failed} failed; faults: {told or 'none'}".ljust(80))
    return 1 if failed else 0


def _show_progress(played: int, failed: int, total: int, seed: int) -> None:
    if sys.stderr.isatty():
        done = 40 * played // max(total, 1)
        bar = "█" * done + "·" * (40 - done)
        print(f"\r{bar} {played}/{total} seeds, {failed} failed, now {seed} ", end="", file=sys.stderr, flush=True)


def _report(scenario: Scenario, problems: list[str]) -> None:
    print(f"\r{scenario}".ljust(80))
    for problem in problems[:SHOWN]:
        print(f"    {problem}")
    if len(problems) > SHOWN:
        print(f"    and {len(problems) - SHOWN} more, of {len(kinds(problems))} kinds")
    print(f"    again: {scenario.command()}", flush=True)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is chance, too
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.chaos", *sys.argv[1:]])
    sys.exit(main())
