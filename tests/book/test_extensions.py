"""What the book adds to its tool chain: links at first use, an index of upstream's names, and where a page is edited."""

from __future__ import annotations

import sys

import pytest
from docutils import nodes

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from first_use import pattern_of, terms_of
from repository import web_address
from upstream_index import symbols_after

GLOSSARY = (ROOT / "book" / "glossary.md").read_text()


def test_terms_are_read_from_the_glossary_the_longest_first() -> None:
    terms = terms_of(GLOSSARY)
    assert {"informer", "watch", "watch cache"} <= set(terms)
    assert terms.index("watch cache") < terms.index("watch")
    assert not any(term.startswith(("```", " ")) for term in terms)


def test_the_glossary_is_in_order_and_says_each_word_once() -> None:
    inside = [line for line in GLOSSARY.partition("```{glossary}")[2].splitlines() if line and line[0] not in " `"]
    assert inside == sorted(inside, key=str.lower)
    assert len(inside) == len(set(inside))


@pytest.mark.parametrize(
    ("sentence", "term"),
    [
        ("a watch cache is a copy", "watch cache"),
        ("two informers listen", "informer"),
        ("the watcher of a rewatch", None),
        ("a pre-admission step", None),
        ("これをwatchと呼びます", "watch"),
    ],
)
def test_a_term_is_a_whole_word(sentence: str, term: str | None) -> None:
    pattern = pattern_of(terms_of(GLOSSARY))
    assert pattern is not None
    hit = pattern.search(sentence)
    assert (hit and hit[1]) == term
    assert pattern_of([]) is None


def test_the_names_in_brackets_after_a_file_are_its_symbols() -> None:
    line = nodes.paragraph()
    file, other = nodes.reference("", "binder.go"), nodes.reference("", "other.go")
    line += [file, nodes.Text(" ("), nodes.literal("", "Bind"), nodes.Text(", "), nodes.literal("", "Store.Create")]
    line += [nodes.Text(") and "), nodes.literal("", "not.this"), other, nodes.Text(", "), nodes.literal("", "norThis")]
    assert symbols_after(file) == ["Bind", "Store.Create"]
    assert symbols_after(other) == []


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@example.com:team/book.git", "https://example.com/team/book"),
        ("ssh://git@example.com/team/book", "https://example.com/team/book"),
        ("https://me:secret@example.com/team/book.git", "https://example.com/team/book"),
        ("/somewhere/book", ""),
        ("", ""),
    ],
)
def test_a_page_is_edited_where_the_clone_came_from(remote: str, address: str) -> None:
    assert web_address(remote) == address
