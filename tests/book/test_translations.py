"""The book's translations: whole where they are said to be whole, and nothing lost on the way."""

from __future__ import annotations

import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml
from babel.messages.catalog import Catalog
from bs4 import BeautifulSoup
from click.testing import CliRunner
from markdown_it import MarkdownIt
from mdit_py_plugins.attrs import attrs_plugin
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils
from translations import catalogue as catalogues
from translations.__main__ import main
from translations.catalogue import behind, languages, names, read, update, write
from translations.messages import TITLES, current_messages, messages_of, titles

from tests.conftest import ROOT

COMPLETE = [(language, name) for language, settings in languages().items() for name in settings["complete"]]
COMMITTED = [(language, name) for language in languages() for name in names(language)]


@cache
def current() -> dict[str, list[str]]:
    return current_messages(sorted({name for _, name in COMMITTED + COMPLETE}))


def translated(language: str, name: str) -> list[tuple[str, str]]:
    entries = [(str(entry.id), str(entry.string)) for entry in read(language, name) if entry.id and entry.string]
    assert entries
    return entries


@pytest.mark.parametrize(("language", "name"), COMPLETE)
def test_a_complete_translation_stays_complete(language: str, name: str) -> None:
    found = behind(name, read(language, name), current()[name])
    assert not found, (
        f"the book has moved on, its translation ({language}) has not:\n{found}\n"
        f"`make catalogues` brings book/locale/{language}/LC_MESSAGES/{name}.po level; translate what it leaves empty or "
        f"marks fuzzy there. If you cannot, take {name} off the list in book/locale/languages.yaml and say so in the commit."
    )


def test_the_titles_the_journey_and_the_kubelet_part_are_there_in_japanese() -> None:
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    [kubelet] = [part["chapters"] for part in parts if part["caption"] == "kubelet"]
    assert len(kubelet) >= 15
    assert set(languages()["ja"]["complete"]) >= {TITLES, "book/the-journey", *(page["file"] for page in kubelet)}


@pytest.mark.parametrize(("language", "name"), COMMITTED)
def test_a_translation_keeps_every_link_and_every_figure(language: str, name: str) -> None:
    def kept(text: str) -> Counter[str]:
        return Counter(re.findall(r"\]\(([^)]+)\)|(\{[a-z:]+\}`[^`]*`)|(\]\{#[^}]+\})", text))

    for message, said in translated(language, name):
        assert kept(message) == kept(said), said


@pytest.mark.parametrize(("language", "name"), COMMITTED)
def test_no_mark_of_emphasis_or_code_is_left_standing_in_a_translation(language: str, name: str) -> None:
    """Between letters without spaces, `**` beside a bracket or a full stop is no emphasis."""
    markdown = MarkdownIt().use(attrs_plugin, spans=True)
    for _, said in translated(language, name):
        shown = BeautifulSoup(markdown.render(re.sub(r"\{[a-z:]+\}(`[^`]*`)", r"\1", said)), "html.parser")
        for code in shown.find_all("code"):
            code.extract()
        assert not set("*`_[]") & set(shown.get_text()), said


@cache
def terms_of(language: str) -> dict[str, list[str]]:
    """The Kubernetes documentation's terms, and what a translator may have said for each."""
    terms: dict[str, list[str]] = yaml.safe_load(
        (catalogues.LOCALE / language / "terms.yaml").read_text(encoding="utf-8")
    )
    return terms


def unusual_terms(language: str, said: str) -> list[tuple[str, str]]:
    """What a translation says, and what the Kubernetes documentation in that language says for it."""
    plain = re.sub(r"\{[^}]*\}|`[^`]*`|\]\([^)]*\)", "", said)
    found = [(re.search(avoided, plain), term) for term, others in terms_of(language).items() for avoided in others]
    return [(hit[0], term) for hit, term in found if hit]


@pytest.mark.parametrize(("language", "name"), COMMITTED)
def test_a_translation_uses_the_terms_of_the_kubernetes_documentation(language: str, name: str) -> None:
    assert [
        (unusual, said) for _, said in translated(language, name) if (unusual := unusual_terms(language, said))
    ] == []


@pytest.mark.parametrize(
    ("said", "unusual"),
    [
        ("APIサーバがpodを見る", [("サーバ", "サーバー"), ("pod", "Pod")]),
        ("プルシークレットと、イメージプルシークレット", [("プルシークレット", "イメージプルシークレット")]),
        ("APIサーバーが`pod`と[Pod](pod.md)を見る", []),
        ("イメージプルシークレットとkube-proxy", []),
    ],
)
def test_a_term_that_readers_would_not_expect_is_named(said: str, unusual: list[tuple[str, str]]) -> None:
    assert unusual_terms("ja", said) == unusual


PAGE = """---
file_format: mystnb
kernelspec: {name: python3}
---

# A *title*

One paragraph
over two lines, with `code` and {glue:text}`n`.

```{code-cell} ipython3
from myst_nb import glue
glue("n", 41 + 1, display=False)
print("shown by a cell")
```

:::{note}
Said in a box.
:::

```console
$ a command
```
"""
ONE = "One paragraph over two lines, with `code` and {glue:text}`n`."


def test_paragraphs_and_titles_are_messages_and_code_is_none(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    assert messages_of(["page"], tmp_path) == {"page": ["A *title*", ONE, "Said in a box."]}


def test_the_titles_are_those_of_parts_and_pages() -> None:
    found = titles()
    assert {"Control loops", "The whole journey in twenty minutes", "Lab: DNS"} <= set(found)
    assert len(found) == len(set(found))


OLD = "Two small programs watch the API server."


@pytest.fixture
def half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A catalogue that has been left behind: what the page says now."""
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path)
    before = read("ja", "page")
    before.add("A title", "題")
    before.add(OLD, "2つの小さなプログラムがAPIサーバーをwatchします。")
    before.add("This has gone", "これはもうありません。")
    write("ja", "page", before)
    return ["A title", OLD.replace("Two", "Three"), "Quite new"]


def test_what_has_fallen_behind_is_named(half_done: list[str]) -> None:
    found = behind("page", read("ja", "page"), half_done)
    assert found.changed == [(half_done[1], OLD)]
    assert (found.missing, found.gone) == (["Quite new"], ["This has gone"])
    assert str(found).splitlines() == [
        "page: 1 of 3 translated",
        "  changed: Three small programs watch the API server.",
        "      was: Two small programs watch the API server.",
        "  missing: Quite new",
        "  no longer on the page: This has gone",
    ]
    assert not behind("page", read("ja", "page"), ["A title", OLD, "This has gone"])


def test_a_catalogue_is_brought_level_without_claiming_that_a_changed_paragraph_is_translated(
    half_done: list[str],
) -> None:
    update("ja", "page", half_done)
    after = read("ja", "page")
    assert [entry.id for entry in after if entry.id] == half_done
    changed = after.get(half_done[1])
    assert changed is not None
    assert changed.fuzzy
    assert "watch" in changed.string
    found = behind("page", after, half_done)
    assert [now for now, _ in found.changed] == [half_done[1]]
    assert (found.missing, found.gone) == (["Quite new"], [])
    once = catalogues.path_of("ja", "page").read_bytes()
    update("ja", "page", half_done)
    assert catalogues.path_of("ja", "page").read_bytes() == once


def test_a_page_that_does_not_exist_is_an_error_in_one_line() -> None:
    answer = CliRunner().invoke(main, ["behind", "ja", "book/no-such-page"])
    assert answer.exit_code == 1
    assert answer.output.startswith("Error: there is no page book/no-such-page")


def test_the_configuration_differs_in_the_language_alone_and_finds_the_extensions_from_anywhere() -> None:
    answer = CliRunner().invoke(main, ["config", "ja"])
    assert answer.exit_code == 0
    ours, theirs = yaml.safe_load((ROOT / "_config.yml").read_text()), yaml.safe_load(answer.output)
    assert theirs["sphinx"]["config"].pop("language") == "ja"
    assert ours["sphinx"]["config"].pop("language") == "en"
    folders = theirs["sphinx"].pop("local_extensions")
    assert folders.keys() == ours["sphinx"].pop("local_extensions").keys()
    assert [name for name, folder in folders.items() if not list(Path(folder).glob(f"{name}*"))] == []
    assert all(Path(folder).is_absolute() for folder in folders.values())
    assert ours == theirs


@pytest.mark.notebooks
def test_a_translated_page_shows_translated_paragraphs_with_the_figures_of_its_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path / "locale")
    (tmp_path / "page.md").write_text(PAGE.replace("A *title*", "A title"))
    page: Catalog = read("ja", "page")
    page.add(ONE, "**2行**の段落、`code`と{glue:text}`n`です。")
    write("ja", "page", page)
    toc: Catalog = read("ja", TITLES)
    toc.add("A title", "題")
    write("ja", TITLES, toc)
    settings = {
        "extensions": ["myst_nb", "other_languages"],
        "source_suffix": {".rst": "restructuredtext"},
        "root_doc": "page",
        "language": "ja",
        "locale_dirs": ["locale"],
        "gettext_compact": False,
        "myst_enable_extensions": ["colon_fence"],
        "nb_execution_mode": "force",
    }
    out = tmp_path / "out"
    with patch_docutils(), docutils_namespace():
        app = Sphinx(tmp_path, None, out, out / "doctrees", "html", settings, status=None, warning=sys.stderr)
        app.build(force_all=True)
    shown = BeautifulSoup((out / "page.html").read_text(encoding="utf-8"), "html.parser")
    body = shown.select_one("div.body")
    assert body is not None
    text = body.get_text()
    assert "2行の段落、codeと42です。" in text
    assert "Said in a box." in text
    heading = body.find("h1")
    assert heading is not None
    assert heading.get_text().startswith("題")
    assert shown.title is not None
    assert "題" in shown.title.get_text()
