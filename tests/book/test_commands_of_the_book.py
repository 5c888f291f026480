"""The book's own commands, wherever a page prints one: options and arguments are those the command takes, and what a
reader is to write has the name that the exercise asks for.
"""

from __future__ import annotations

import ast
import re
import shlex

import click
import pytest

from lifecycle.cli import main
from lifecycle.exercises.catalogue import EXERCISES
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "book").glob("**/*.md")), ROOT / "CONTRIBUTING.md"]
CONSOLE = re.compile(r"^ *```console\n(.*?)^ *```", re.M | re.S)
COMMANDS = sorted(
    {
        re.sub(r"\s+#.*|\s*[;>&].*", "", command)
        for page in PAGES
        for block in CONSOLE.findall(page.read_text(encoding="utf-8"))
        for command in re.findall(r"^ *\$ (?:sudo )?(?:\.venv/bin/)?lifecycle (.+)$", block, re.M)
    }
)
STARTERS = {exercise.stage: exercise.starter for exercise in EXERCISES}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_printed_can_be_typed(command: str) -> None:
    word, *arguments = shlex.split(command)
    context = click.Context(main, **main.context_settings)
    assert main.get_command(context, word), f"no command {word}"
    main.commands[word].make_context(word, arguments, parent=context)  # raises UsageError


def test_there_are_some() -> None:
    assert len(COMMANDS) > 20


@pytest.mark.parametrize("command", [command for command in COMMANDS if "mine.py:" in command])
def test_what_is_to_be_written_has_the_name_of_the_starter(command: str) -> None:
    _, stage, written = shlex.split(command)
    names = [getattr(statement, "name", "") for statement in ast.parse(STARTERS[stage]).body]
    assert written.partition(":")[2] in names
