"""`python -m mutants [ROOM…] [--count N] [--seed N] [--minutes N]`: the share of mutants that the tests notice."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mutants.candidates import Candidate
from mutants.coverage_map import BESIDE, CoverageMap, measure, test_files
from mutants.nearest import Nearest
from mutants.quoted import quoted_lines
from mutants.readers import Readers
from mutants.report import Score, keep, with_reasons
from mutants.sample import Lines, sample
from mutants.trial import Outcome, trial
from mutants.unrun import unrun
from mutants.workshop import Workshop

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "src" / "lifecycle"
KEPT = CHECKOUT / "_build" / "mutants"
"""Which test runs which line is measured once, and again for test files that have changed."""
QUOTED = "quoted"
EVIDENCE = (
    "tests/agreements",
    "mutants/questions",
    "tests/dns/test_recorded_answers.py",
    "tests/proxy/test_recorded_rules.py",
    "tests/cri/test_conformance.py",
    "tests/differential/test_cases.py",
)
"""Who is asked about quoted code: the agreement tables, with them what asks about it beyond the claims; the checks of claims; and
what pages name beside them: the checks that a real containerd passes as well, and the random requests that a real API server once
answered otherwise than ours."""
ASKING = "lifecycle.agreements"
"""Where the questions stand."""
LOADED = "mutants.questions.loaded"
JUDGES = {"compare": "tests/compare", "inspector": "tests/inspector"}
"""Who is asked as well, if what is quoted is no part of Kubernetes but how the two are held against each other: the comparison,
and what opens a cluster or a recording. No table is about these; what else is quoted their tests are not asked about."""
ABOUT_THE_JUDGES = frozenset(
    {
        "test_every_row_can_go_red.py",
        "test_checks_can_fail.py",
        "test_tampered_answers.py",
        "test_tampered_evidence.py",
        "test_without_evidence.py",
    }
)
"""Not asked: they break things themselves, to see whether a table or a check notices. What they would say of a mutant is
no evidence of a chapter's, and takes minutes."""

ELSEWHERE = {"agreements": ("tests/claims",)}
"""Tests of a room that stand beside another's: a claim's check is tested where the claims are."""


def rooms() -> list[str]:
    """The rooms that have tests of their own name."""
    return sorted(
        folder.name for folder in PACKAGE.iterdir() if folder.is_dir() and (CHECKOUT / "tests" / folder.name).is_dir()
    )


def evidence() -> list[str]:
    """The test files that ask a table or a check, or are about those who do."""
    files = (file for name in (*EVIDENCE, *JUDGES.values()) for file in test_files(CHECKOUT / name))
    return [str(file.relative_to(CHECKOUT)) for file in files if file.name not in ABOUT_THE_JUDGES]


def modules_and_tests(room: str) -> tuple[Lines, list[str]]:
    """What may be broken in a room, and who should notice."""
    if room == QUOTED:
        return quoted_lines(CHECKOUT / "book", PACKAGE), evidence()
    return dict.fromkeys((PACKAGE / room).rglob("*.py")), [f"tests/{room}", *ELSEWHERE.get(room, ())]


def dotted(module: Path) -> str:
    """By what name a module is imported."""
    parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names(lines: Lines) -> list[str]:
    """What can be loaded of some modules without doing anything."""
    return [dotted(module) for module in sorted(lines) if module.stem != "__main__"]


def measured(room: str, lines: Lines, tests: list[str]) -> CoverageMap:
    """Who runs what in a room."""
    click.echo(f"{room}: the tests unbroken, under coverage, as far as they are new …", err=True)
    if room == QUOTED:
        return measure(PACKAGE.parent, tests, KEPT / room, modules=lines, asking=ASKING, loaded=LOADED)
    return measure(PACKAGE.parent, tests, KEPT / room, preloaded=names(lines))


Trial = Callable[[Candidate, Workshop], Outcome]


def by_coverage(room: str, lines: Lines, tests: list[str]) -> tuple[Trial, tuple[str, ...]]:
    """Whoever runs the line is asked; and what others' modules that takes."""
    coverage = measured(room, lines, tests)

    def ask(candidate: Candidate, workshop: Workshop) -> Outcome:
        return trial(candidate, workshop, of_quoted(coverage, candidate.module) if room == QUOTED else coverage)

    return ask, coverage.imports


def of_quoted(coverage: CoverageMap, module: Path) -> CoverageMap:
    """Who may be asked about a quoted module: the tests of a judge only about that judge."""
    for judge, tests in JUDGES.items():
        if not module.is_relative_to(PACKAGE / judge):
            coverage = coverage.without(tests)
    return coverage


def by_distance(room: str, near: float) -> tuple[Trial, tuple[str, ...]]:
    """Whoever is nearest is asked, for so many seconds."""
    readers = Readers(PACKAGE.parent, CHECKOUT / "tests", KEPT / "modules.pickle")
    tests = CHECKOUT / "tests" / room
    nearest = Nearest(readers, tests, KEPT / room / "seconds.json")
    imports = (*BESIDE, *nearest.of_others([PACKAGE / room, tests]))
    return lambda candidate, workshop: nearest.trial(candidate, workshop, near), imports


def score(
    room: str, count: int, seed: int, minutes: float, near: float = 0.0, so_far: Callable[[Score], None] = keep
) -> Score:
    """Try mutants of one room until `count` of them are done or the time is over. `so_far` is told what there is after each
    of them: a long run that somebody ends, or the machine, has not been for nothing."""
    lines, tests = modules_and_tests(room)
    chosen = sample(lines, count, seed)
    outcomes: list[Outcome] = []
    ask, imports = by_distance(room, near) if near else by_coverage(room, lines, tests)
    loaded = [LOADED] if room == QUOTED else [*imports, *names(lines)]
    with Workshop(CHECKOUT, imports, loaded, sure=room == QUOTED) as workshop:
        end = time.monotonic() + 60 * minutes
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns) as progress:
            task = progress.add_task(room, total=len(chosen))
            for candidate in chosen:
                if time.monotonic() > end:
                    progress.console.print(f"{room}: time is over after {len(outcomes)} of {len(chosen)}")
                    break
                outcome = ask(candidate, workshop)
                if outcome.noticed:
                    progress.console.print(
                        f"{outcome.module}:{outcome.line} {outcome.by}", markup=False, soft_wrap=True
                    )
                else:
                    survivor = f"survives: {outcome.module}:{outcome.line}\n  {outcome.before}\n  {outcome.after}"
                    progress.console.print(survivor, markup=False, soft_wrap=True)  # brackets are code here
                outcomes.append(outcome)
                progress.advance(task)
                so_far(Score(room, seed, with_reasons(outcomes), near, len(chosen)))
    return Score(room, seed, with_reasons(outcomes), near, len(chosen))


@click.command(help=__doc__)
@click.argument("asked", nargs=-1, metavar="[ROOM]…")
@click.option("--count", default=20, show_default=True, help="how many mutants per room")
@click.option("--seed", default=1, show_default=True, help="which ones")
@click.option(
    "--minutes", default=15.0, show_default=True, help="how long at most per room, after the first run of its tests"
)
@click.option(
    "--near",
    default=0.0,
    help="learn nothing beforehand: ask the test files that are nearest to what is broken, for so many seconds",
)
@click.option("--unrun", "only_unrun", is_flag=True, help="break nothing: list what no test runs")
def main(asked: tuple[str, ...], count: int, seed: int, minutes: float, near: float, only_unrun: bool) -> None:
    """Without a room: all of them, and the code that chapters quote."""
    known = [*rooms(), QUOTED]
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise click.UsageError(f"no room called {', '.join(unknown)}; there are {', '.join(known)}")
    if near and QUOTED in (asked or known):
        raise click.UsageError("who runs quoted code has to be learnt: no table imports what it is about")
    if only_unrun:
        readers = Readers(PACKAGE.parent, CHECKOUT / "tests", KEPT / "modules.pickle")
        for room in asked or known:
            lines, tests = modules_and_tests(room)
            coverage = measured(room, lines, tests)
            click.echo(unrun(lines, coverage, readers).text(CHECKOUT))
        return
    scores: dict[str, Score] = {}

    def note(result: Score) -> None:
        scores[result.room] = result
        keep(result)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what is begun here is also put away
    try:
        for room in asked or known:
            note(score(room, count, seed, minutes, near, note))
    finally:
        for result in scores.values():
            click.echo(result.line())


if __name__ == "__main__":
    main()
