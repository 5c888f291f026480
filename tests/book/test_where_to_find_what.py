"""The list of systems tells the truth: each is there once, its modules exist, and every chapter of a stage is led to."""

from __future__ import annotations

import re
from collections import Counter

import yaml

from tests.book.test_the_map import NO_STAGE
from tests.conftest import ROOT

ROW = re.compile(r"^\| (.+?) \| \[[^\]]+\]\(([a-z/-]+)\.md\) \| (.+) \|$", re.M)
PAGE = (ROOT / "book" / "where-to-find-what.md").read_text()
ROWS = ROW.findall(PAGE)


def test_each_system_stands_there_once() -> None:
    assert len(ROWS) == 118
    assert [name for name, count in Counter(name for name, _, _ in ROWS).items() if count > 1] == []


def test_every_module_that_is_named_exists() -> None:
    named = {path for _, _, modules in ROWS for path in re.findall(r"`([^`]+)`", modules)}
    assert len(named) > 116
    assert [path for path in sorted(named) if not (ROOT / "src" / "lifecycle" / path).is_file()] == []


def test_every_chapter_is_led_to() -> None:
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    chapters = {c["file"].removeprefix("book/") for p in parts if p["caption"] not in NO_STAGE for c in p["chapters"]}
    assert chapters == set(re.findall(r"\]\(([a-z/-]+)\.md\)", PAGE))
