"""The first page is a map: it leads to every chapter, in the order of the table of contents."""

from __future__ import annotations

import re

import yaml

from tests.conftest import ROOT

NO_STAGE = {"Start here", "About this build"}


def test_the_first_page_leads_to_every_chapter_in_order() -> None:
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    chapters = [
        chapter["file"].removeprefix("book/")
        for part in parts
        if part["caption"] not in NO_STAGE
        for chapter in part["chapters"]
    ]
    text = (ROOT / "book" / "index.md").read_text()
    grid = text[text.index("::::{grid}") : text.index("\n::::\n")]
    assert re.findall(r"\]\(([a-z/-]+)\.md\)", grid) == chapters
