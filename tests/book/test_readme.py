"""The front page: its links lead somewhere, its commands exist, and the first screen is one."""

from __future__ import annotations

import re

from lifecycle.cli import main
from lifecycle.compare.claims import load_claims
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()


def test_every_link_and_picture_is_there() -> None:
    named = re.findall(r"\]\(([^)]+)\)", README)
    assert len(named) >= 7
    assert [file for file in named if not (ROOT / file).exists()] == []


def test_every_command_that_is_shown_exists() -> None:
    shown = set(re.findall(r"(?:^\$ (?:\.venv/bin/)?|`)lifecycle ([a-z]+)", README, re.M))
    assert {"up", "trace", "compare", "claims", "check"} <= shown
    assert shown - set(main.commands) == set()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"^\$ make ([a-z]+)", README, re.M)) <= targets


def test_the_doors_come_after_one_screen() -> None:
    screen, *doors = re.split(r"^## ", README, flags=re.M)
    assert [door.partition("\n")[0] for door in doors[:5]] == ["Read", "Run", "Embed", "Compare", "Contribute"]
    assert len(screen.split()) < 220


def test_the_number_of_statements_is_the_ledgers() -> None:
    assert f"{len(load_claims(ROOT / 'book' / 'claims.yaml'))} statements" in README
