"""`make fuzz`: random cases sent to both servers, until there were enough, the time is up, or Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.differential.answers import differences
from tests.differential.case import CASES, Case
from tests.differential.definitions import define
from tests.differential.fields import Fields
from tests.differential.freedoms import explained
from tests.differential.player import Player, Target, play
from tests.differential.published import published
from tests.differential.scenes import Scenes
from tests.differential.servers import HTTPTarget, NotAvailableError, our_server, ready, real_server
from tests.differential.shrink import shrink

ASKED_AGAIN = 24
"""A Go map of two begins with its second item once in eight times: fewer would call too much of that no chance."""


@dataclass
class Tally:
    """What came of it."""

    cases: int = 0
    answers: int = 0
    statuses: int = 0
    equal: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    disagreements: list[tuple[Case, Any]] = field(default_factory=list)

    def line(self) -> str:
        """One line for the end."""
        share = [100 * part / max(self.answers, 1) for part in (self.statuses, self.equal)]
        reasons = "".join(f", {count} × {name}" for name, count in self.explained.most_common())
        return (
            f"{self.cases} cases, {self.answers} answers: status {share[0]:.2f} % equal, whole answer {share[1]:.2f} % equal{reasons},"
            f" {len(self.disagreements)} cases unexplained"
        )


class Comparison:
    """Plays cases on both."""

    def __init__(self, real: Target, ours: Target, run: str) -> None:
        self._real, self._ours = real, ours
        self._run, self._count = run, 0

    def _namespace(self) -> str:
        self._count += 1
        return f"fuzz-{self._run}-{self._count}"

    async def first_disagreement(self, case: Case, tally: Tally | None = None) -> tuple[Case, Any, Any] | None:
        """The case up to its first step with two answers, and these; None if all agree."""
        namespace = self._namespace()
        players = [Player(target, namespace) for target in (self._real, self._ours)]
        answers: list[Any] = []
        await asyncio.gather(*(player.begin() for player in players))
        try:
            for count, step in enumerate(case.steps, 1):
                real, ours = await asyncio.gather(*(player.answer(step) for player in players))
                answers.append(real)
                if tally is not None:
                    tally.answers += 1
                    tally.statuses += real.get("status") == ours.get("status")
                    tally.equal += real == ours
                if real != ours:
                    return replace(case.up_to(count), answers=tuple(answers)), real, ours
            return None
        finally:
            await asyncio.gather(*(player.end() for player in players))

    async def asked_again(self, case: Case) -> list[Any]:
        """What else the real server says to the last step."""
        return [(await play(self._real, case, self._namespace()))[-1] for _ in range(ASKED_AGAIN)]

    async def shrunk(self, case: Case, signature: Any) -> Case:
        """A smaller case with the same sort of disagreement, and the real server's answers to it."""

        async def shows(candidate: Case) -> bool:
            found = await self.first_disagreement(candidate)
            if found is None or len(found[0].steps) != len(candidate.steps):
                return False
            return _signature(found[0], found[1], found[2]) == signature and not explained(
                found[1], found[2], [(await play(self._real, candidate, self._namespace()))[-1]]
            )

        small = await shrink(case, shows)
        found = await self.first_disagreement(small)
        return found[0] if found is not None else case


def _signature(case: Case, real: Any, ours: Any) -> Any:
    """What sort of disagreement it is."""
    last = case.steps[-1]
    return last.method, last.content_type if last.method == "PATCH" else "", real.get("status"), ours.get("status")


async def _fuzz(arguments: argparse.Namespace, real_config: Path, our_config: Path) -> Tally:
    tally = Tally()
    ends = time.monotonic() + arguments.seconds
    async with HTTPTarget(real_config) as real, HTTPTarget(our_config) as ours:
        await asyncio.gather(ready(real), ready(ours))
        comparison = Comparison(real, ours, f"{arguments.seed}")
        await asyncio.gather(define(real), define(ours))
        shapes = await published(real)
        if arguments.kinds:
            shapes = replace(
                shapes, kinds=tuple(kind for kind in shapes.kinds if re.search(arguments.kinds, kind.kind))
            )
        scenes = Scenes(shapes, arguments.seed) if arguments.fields is None else Fields(shapes, arguments.fields)
        seen: set[Any] = set()
        try:
            for case in scenes.cases():
                if tally.cases >= arguments.n or time.monotonic() > ends:
                    break
                tally.cases += 1
                _show_progress(tally, arguments.n)
                found = await comparison.first_disagreement(case, tally)
                if found is None:
                    continue
                case, real_answer, our_answer = found
                freedom = explained(real_answer, our_answer, await comparison.asked_again(case))
                if freedom is not None:
                    tally.explained[freedom.name] += 1
                    continue
                signature = _signature(case, real_answer, our_answer)
                if arguments.shrink and (signature, case.steps[-1].path.partition("?")[0]) not in seen:
                    seen.add((signature, case.steps[-1].path.partition("?")[0]))
                    case = await comparison.shrunk(case, signature)
                    again = await comparison.first_disagreement(case)
                    our_answer = again[2] if again is not None else our_answer
                tally.disagreements.append((case, our_answer))
        except asyncio.CancelledError:
            print("\ninterrupted", file=sys.stderr)
    return tally


def _show_progress(tally: Tally, total: int) -> None:
    if not sys.stderr.isatty():
        return
    done = 40 * tally.cases // max(total, 1)
    bar = "█" * done + "·" * (40 - done)
    print(
        f"\r{bar} {tally.cases}/{total} cases, {len(tally.disagreements)} unexplained ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def _report(tally: Tally, keep: bool, shown: int) -> None:
    for case, ours in tally.disagreements[:shown]:
        last = case.steps[-1]
        print(f"\n{last.method} {last.path}  ({len(case.steps)} steps)")
        for step in case.steps:
            print(f"    sent: {step.method} {step.path} {step.content_type} {step.body}"[:600])
        for line in list(differences(case.answers[-1], ours))[:6]:
            print(f"    {line}")
    if keep:
        CASES.mkdir(exist_ok=True)
        for case, _ in tally.disagreements:
            print(f"kept: {case.save()}")
    print(tally.line())


def main() -> int:
    """0: everything agrees or is explained; 1: it does not; 2: it cannot be asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--n", type=int, default=1000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="how long at most")
    parser.add_argument(
        "--real", type=Path, help="kubeconfig of a real server; by default one is started from KUBE_BIN"
    )
    parser.add_argument("--ours", type=Path, help="kubeconfig of ours; by default one is started")
    parser.add_argument("--keep", action="store_true", help="write the unexplained ones to tests/differential/cases")
    parser.add_argument(
        "--fields",
        metavar="KINDS",
        nargs="?",
        const="",
        help="instead of random cases, each field of the kinds that match, such as apps/v1/",
    )
    parser.add_argument(
        "--kinds", default="", help="only those that match, such as 'Widget|Anything', which are custom"
    )
    parser.add_argument("--show", type=int, default=20, help="how many unexplained ones are printed")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false", help="print them as they were found")
    arguments = parser.parse_args()
    try:
        with ExitStack() as stack:
            folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="differential-", ignore_cleanup_errors=True))
            )
            real = arguments.real or stack.enter_context(real_server(folder / "real"))
            ours = arguments.ours or stack.enter_context(our_server(folder / "ours"))
            with asyncio.Runner() as runner:
                loop = runner.get_loop()
                task = loop.create_task(_fuzz(arguments, real, ours))
                for name in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(name, task.cancel)
                tally = loop.run_until_complete(task)
    except NotAvailableError as error:
        print(f"differential: {error}", file=sys.stderr)
        return 2
    _report(tally, arguments.keep, arguments.show)
    return 1 if tally.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
