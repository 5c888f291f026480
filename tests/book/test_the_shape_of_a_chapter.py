"""A chapter has the shape that CONTRIBUTING.md describes: its sections, the length of its story, a picture, three things."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = [path for path in sorted((ROOT / "book").glob("*/*.md")) if "\n## The story\n" in path.read_text()]
each_chapter = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
FENCED = re.compile(r"^(`{3,}|:{3,}).*?^\1$", re.M | re.S)
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"^ +alt: |^:+alt: ", re.M)
SECTIONS = [
    "What you will see happen",
    "The story",
    "The code",
    "Run it",
    "The real cluster",
    "Agreement",
    "What changed since the article",
    "Try it",
    "Three things to remember",
    "See it on your own cluster",
    "Sources",
]
NOTHING_CHANGED = {"garbage-collection", "in-place-resize", "pleg", "probes"}
"""What the articles do not speak of."""
MOST_LINES = 24


def section(path: Path, name: str) -> str:
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", path.read_text(), re.M | re.S)
    return found[1] if found else ""


def visible_lines(cell: str) -> int:
    """Lines of code that a reader sees who folds nothing open."""
    if re.search(r"hide-input|remove-cell|remove-input|hide-cell", cell):
        return 0
    return len(re.sub(r"\A(---\n.*?^---\n|(:[^\n]*\n)+)", "", cell, flags=re.M | re.S).strip().splitlines())


def test_there_are_chapters() -> None:
    assert len(PAGES) > 40


@each_chapter
def test_its_sections_come_in_their_order(path: Path) -> None:
    headings = re.findall(r"^## (.+)$", FENCED.sub("", path.read_text()), re.M)
    absent = {"What changed since the article"} if path.stem in NOTHING_CHANGED else set()
    assert headings == [name for name in SECTIONS if name not in absent]


@each_chapter
def test_its_story_is_as_long_as_a_story(path: Path) -> None:
    words = re.sub(r"\{#[\w-]+\}|\]\([^)]*\)", "", FENCED.sub("", section(path, "The story"))).split()
    assert 600 <= len(words) <= 1000


@each_chapter
def test_it_begins_with_a_picture_and_each_one_is_described(path: Path) -> None:
    assert PICTURE.search(section(path, "What you will see happen"))


@each_chapter
def test_there_are_three_things_to_remember(path: Path) -> None:
    assert re.findall(r"^(\d)\. ", section(path, "Three things to remember"), re.M) == ["1", "2", "3"]


@each_chapter
def test_a_cell_that_stands_open_is_short(path: Path) -> None:
    assert [count for cell in CELL.findall(path.read_text()) if (count := visible_lines(cell)) > MOST_LINES] == []
