"""Every chapter that tells a story has a lab beside it and a stage to write yourself, and its *Try it* leads to both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from lifecycle.exercises.catalogue import EXERCISES
from tests.conftest import ROOT

STAGES = {exercise.stage: exercise for exercise in EXERCISES}

OFFER = re.compile(r"^\$ \.venv/bin/lifecycle check ([\w-]+) mine\.py:(\w+)$", re.M)


def sections() -> dict[str, list[str]]:
    """What stands beside each page in the navigation."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    return {
        chapter["file"]: [page["file"] for page in chapter.get("sections", ())]
        for part in parts
        for chapter in part["chapters"]
    }


def text_of(chapter: str) -> str:
    return (ROOT / f"{chapter}.md").read_text()


def try_it(chapter: str) -> str:
    """The section, without its heading; empty if there is none."""
    found = re.search(r"^## Try it\n(.*?)(?=^## |\Z)", text_of(chapter), re.M | re.S)
    return found[1] if found else ""


CHAPTERS = [page for page in sections() if re.search(r"^## The story$", text_of(page), re.M)]
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda page: page.removeprefix("book/"))


def has_lab(chapter: str) -> bool:
    name = Path(chapter).name
    return f"labs/{name}" in sections()[chapter] and f"labs/{name}.ipynb" in try_it(chapter)


def has_stage(chapter: str) -> bool:
    return any(stage in STAGES for stage, _ in OFFER.findall(try_it(chapter)))


def test_there_are_chapters_with_a_story() -> None:
    assert len(CHAPTERS) >= 40


@each_chapter
def test_a_chapter_has_a_lab_beside_it(chapter: str) -> None:
    assert has_lab(chapter)


@each_chapter
def test_a_chapter_has_a_stage_to_write_yourself(chapter: str) -> None:
    assert has_stage(chapter)


@each_chapter
def test_a_stage_is_offered_as_it_can_be_typed(chapter: str) -> None:
    for stage, name in OFFER.findall(text_of(chapter)):
        assert stage in STAGES
        assert re.search(rf"^(async )?(def|class) {name}\b", STAGES[stage].starter, re.M), (stage, name)


def test_every_stage_is_offered_by_one_chapter() -> None:
    offered = [stage for chapter in CHAPTERS for stage, _ in OFFER.findall(try_it(chapter))]
    assert sorted(offered) == sorted(STAGES)
