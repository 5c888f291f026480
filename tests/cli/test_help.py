"""Every word's help, as a reader sees it, and every option with its type and its default.

It stands beside this file in `help/`. Whoever changes an option writes it anew (`KEEP=anew pytest tests/cli/test_help.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from lifecycle import __version__
from lifecycle.cli import main
from tests.kept_text import kept

KEPT = Path(__file__).with_name("help")


def words(command: click.Command = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each command, groups included."""
    yield path
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from words(inner, (*path, name))


PATHS = list(words())


def named(path: tuple[str, ...]) -> click.Command:
    command: click.Command = main
    for name in path:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    return command


def parameters(command: click.Command) -> list[str]:
    """One a line: how it is written, what it takes, what it is if nothing is said."""
    lines = []
    for each in command.params:
        told: dict[str, Any] = each.to_info_dict()
        kind = {key: value for key, value in told["type"].items() if key != "param_type"}
        settings = {
            key: told.get(key)
            for key in ("opts", "secondary_opts", "required", "nargs", "multiple", "is_flag", "count")
        }
        default = each.default if isinstance(each.default, str | int | float | bool | Path) else None
        lines.append(f"{each.name} = {default!r}: {json.dumps(settings)} {json.dumps(kind, default=str)}")
    return lines


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_and_options_are_what_they_were(path: tuple[str, ...]) -> None:
    command = named(path)
    if path == ("kubectl",):  # its help is kubectl's own
        shown = f"{command.help}\n"
    else:
        result = CliRunner().invoke(main, [*path, "--help"], terminal_width=88, prog_name="lifecycle")
        assert result.exit_code == 0
        shown = result.stdout
    settings = json.dumps(command.context_settings, sort_keys=True)
    text = "\n".join([shown, f"context: {settings}", *parameters(command)]) + "\n"
    file = KEPT / f"{'-'.join(('lifecycle', *path))}.txt"
    assert text == kept(file, text)


def test_nothing_is_left_over() -> None:
    assert {file.stem for file in KEPT.glob("*.txt")} == {"-".join(("lifecycle", *path)) for path in PATHS}


def test_it_says_its_version_and_knows_h() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout == f"lifecycle, version {__version__}\n"
    assert CliRunner().invoke(main, ["-h"]).stdout == CliRunner().invoke(main, ["--help"]).stdout
