"""`lifecycle check`: grade a reader's own version of a stage."""

from __future__ import annotations

import json
import sys

import click

from lifecycle.cli.refusal import Misused, Refusal, refusals


def _pretty(value: object) -> str:
    """For people, and for a Python prompt: what JSON can say, and the rest as text."""
    return json.dumps(value, indent=1, default=str)


@click.command(short_help="Grade your own version of a stage.")
@click.argument("stage", required=False)
@click.argument("attempt", required=False, metavar="MODULE:OBJECT")
@click.option(
    "--list", "list_all", is_flag=True, help="Name the stages there are exercises for."
)
@click.option("--starter", is_flag=True, help="Print a file to begin with.")
@click.option("--ours", is_flag=True, help="Grade the book's own version.")
@click.option(
    "--show",
    metavar="WORDS",
    help=(
        "Print one question and its right answer: the first whose name holds these"
        " words."
    ),
)
def check(
    stage: str | None,
    attempt: str | None,
    list_all: bool,
    starter: bool,
    ours: bool,
    show: str | None,
) -> None:
    """Grade your version of STAGE: a callable, named as MODULE:OBJECT (or
    FILE.py:OBJECT).

    Without MODULE:OBJECT, say what it would be handed and has to answer. Leaves with 1
    unless every answer is right, with 2 for a stage there is no exercise for.
    """
    from rich.console import Console

    from lifecycle.exercises.attempts import AttemptError, load_attempt
    from lifecycle.exercises.catalogue import EXERCISES, find_exercise
    from lifecycle.exercises.exercise import find_case, grade

    if list_all or stage is None:
        for each in EXERCISES:
            click.echo(f"{each.stage:22} {each.title}")
        return
    try:
        exercise = find_exercise(stage)
    except KeyError as error:
        raise Misused(str(error.args[0])) from None
    if starter:
        click.echo(exercise.starter, nl=False)
        return
    if show is not None:
        case = find_case(exercise, show)
        if case is None:
            raise Refusal(
                f"{exercise.stage} has no question named {show!r}; a wrong answer says"
                " how its question is called"
            )
        asked = case.inputs if case.question is None else case.question
        click.echo(
            _pretty(
                {"question": asked, "answer": case.expected}
                if asked is not None
                else {"answer": case.expected}
            )
        )
        return
    if attempt is None and not ours:
        click.echo(
            f"{exercise.title}\n\n{exercise.contract}\n\nBegin with: lifecycle check"
            f" {exercise.stage} --starter > mine.py"
        )
        return
    with refusals():
        try:
            graded = exercise.ours() if attempt is None else load_attempt(attempt)
        except AttemptError as error:
            raise Refusal(str(error)) from None
        table = grade(exercise, graded, attempt or "lifecycle")
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    if not table.equal:
        sys.exit(1)
