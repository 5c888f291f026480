"""Words of the prose that name something are names of something: a module, a function or a field of ours, a file of upstream's."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PAGES = [*sorted((ROOT / "book").glob("**/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
QUOTED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)
SOURCES = sorted((ROOT / "src" / "lifecycle").rglob("*.py"))
SNAKE = re.compile(r"[a-z]+(?:_[a-z0-9]+)+(?:\(\))?")
METRIC = re.compile(r"\w+_(?:total|seconds)")
"""Of a real cluster; a page may tell a reader to look for one that ours does not count."""
OF_A_ROOM = re.compile(r"[a-z0-9_]+(?:/[a-z0-9_]+)+\.(?:py|tsv|yaml)")
UPSTREAM = re.compile(r"\{k8s\}`([^`]*)`")
FORM = re.compile(r"(?:api|build|cluster|cmd|pkg|plugin/pkg|staging/src/k8s\.io|test)(?:/[\w.-]+)+")


def in_code_font() -> list[tuple[str, str]]:
    """A page, and a word that stands in code font in its prose."""
    prose = {page.stem: QUOTED.sub("", page.read_text()) for page in PAGES}
    return [(page, word) for page, text in prose.items() for word in re.findall(r"(?<![}`])`([^`\n]+)`", text)]


def test_a_name_in_code_font_is_a_name_in_the_package() -> None:
    known = {name for path in SOURCES for name in re.findall(r"\w+", path.read_text())}
    named = [(page, word) for page, word in in_code_font() if SNAKE.fullmatch(word) and not METRIC.fullmatch(word)]
    assert len(named) > 20
    assert [(page, word) for page, word in named if word.removesuffix("()") not in known] == []


def test_a_path_in_code_font_leads_to_a_file() -> None:
    there = [path.as_posix() for path in (ROOT / "src" / "lifecycle").rglob("*.*")]
    named = [(page, word) for page, word in in_code_font() if OF_A_ROOM.fullmatch(word)]
    assert len(named) > 100
    lost = [(page, word) for page, word in named if not any(path.endswith("/" + word) for path in there)]
    assert [(page, word) for page, word in lost if not (ROOT / word).exists()] == []


def test_a_link_to_upstream_has_the_form_of_a_path_in_its_tree() -> None:
    links = [(page.stem, path) for page in PAGES for path in UPSTREAM.findall(page.read_text())]
    assert len(links) > 300
    assert [(page, path) for page, path in links if not FORM.fullmatch(path)] == []
