"""What the book adds to its tool chain: links at first use, an index of upstream's names, and where a page is edited."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from first_use import link_first_uses, pattern_of, terms_of
from repository import tell, web_address
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


def _links(*paragraphs: nodes.paragraph) -> list[str]:
    """The terms that a page of these paragraphs links."""
    page = new_document("page")
    page.extend(paragraphs)
    pattern = pattern_of(["watch cache", "condition", "watch"])
    assert pattern is not None
    link_first_uses(page, pattern, "page")
    return [link["reftarget"] for link in page.findall(addnodes.pending_xref)]


def test_a_term_is_linked_where_a_page_uses_it_first() -> None:
    one, two = nodes.paragraph("", "a watch and a condition"), nodes.paragraph("", "one more watch, a watch cache")
    assert _links(one, two) == ["watch", "condition", "watch cache"]


def test_a_word_in_another_meaning_is_not_linked_nor_is_the_heading_of_a_card() -> None:
    plain = nodes.paragraph("", "on ")
    plain += nodes.inline("", "condition", classes=["plain"])
    later = nodes.paragraph("", "the condition, and a watch")
    card = nodes.paragraph("", "watch", classes=["sd-card-title"])
    assert _links(plain, later, card) == ["watch"]
    assert _links(card) == []


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


@pytest.mark.parametrize(
    ("said", "site"),
    [(None, ""), ("https://example.org/book", "https://example.org/book/"), ("https://e.org/", "https://e.org/")],
)
def test_a_card_names_the_address_at_which_the_site_is_published(
    monkeypatch: pytest.MonkeyPatch, said: str | None, site: str
) -> None:
    if said is None:
        monkeypatch.delenv("BOOK_SITE", raising=False)
    else:
        monkeypatch.setenv("BOOK_SITE", said)
    config = SimpleNamespace(html_context={}, ogp_site_url=None)
    tell(SimpleNamespace(confdir=str(ROOT)), config)
    assert config.ogp_site_url == site
