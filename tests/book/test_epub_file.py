"""The book for e-readers as it was built: `make epub` builds it and then runs this file. `LIFECYCLE_EPUB` names another one."""

from __future__ import annotations

import os
import posixpath
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT, unavailable

EPUB = Path(os.environ.get("LIFECYCLE_EPUB") or ROOT / "_build" / "epub" / "what-happens-when-kubernetes.epub")
OPF = "{http://www.idpf.org/2007/opf}"
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not EPUB.exists():
        unavailable("the book for e-readers is not built yet: run `make epub`")


@cache
def names() -> frozenset[str]:
    with zipfile.ZipFile(EPUB) as archive:
        return frozenset(archive.namelist())


@cache
def tree_of(name: str) -> ElementTree.Element:
    """Raises ParseError where it is not well-formed."""
    with zipfile.ZipFile(EPUB) as archive:
        return ElementTree.fromstring(archive.read(name))


def pages() -> list[str]:
    return sorted(name for name in names() if name.endswith(".xhtml"))


def reading_order() -> list[str]:
    """The files of the spine; a reference without a file raises KeyError."""
    package = tree_of("content.opf")
    files = {item.get("id"): unquote(str(item.get("href"))) for item in package.iter(f"{OPF}item")}
    return [files[reference.get("idref")] for reference in package.iter(f"{OPF}itemref")]


def links() -> Iterator[tuple[str, str, str]]:
    """(page, file, place) of each link, picture and style that does not leave the book."""
    for page in pages():
        for tag in tree_of(page).iter():
            for address in filter(None, (tag.get("href"), tag.get("src"))):
                target, place = urldefrag(address)
                if not urlparse(target).scheme:
                    file = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(target)))
                    yield page, file if target else page, unquote(place)


def test_every_link_and_picture_inside_the_book_has_a_target() -> None:
    places = {page: {tag.get("id") for tag in tree_of(page).iter()} for page in pages()}
    total, dead = 0, []
    for page, file, place in links():
        total += 1
        if file not in names() or (place and place not in places.get(file, {place})):
            dead.append((page, file, place))
    assert dead == []
    assert total > 2000


def test_pages_come_in_the_order_of_the_table_of_contents_after_a_title_page() -> None:
    listed = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text())
    assert reading_order()[: len(listed) + 1] == ["title.xhtml", *(f"{name}.xhtml" for name in listed)]
    shown = [str(link.get("href")) for link in tree_of("nav.xhtml").iter(f"{XHTML}a")]
    assert [name for name in listed if f"{name}.xhtml" not in shown] == []


def test_the_title_page_says_who_which_version_when_and_what_one_may_do() -> None:
    said = " ".join("".join(tree_of("title.xhtml").itertext()).split())
    for words in ("founders", "Version 0.1", "The chapters ran on", "Kubernetes v", "CC BY 4.0", "Apache 2.0"):
        assert words in said


def test_no_page_has_a_script_a_button_or_a_drawing_that_its_manifest_does_not_name() -> None:
    package = tree_of("content.opf")
    drawn = {item.get("href") for item in package.iter(f"{OPF}item") if "svg" in str(item.get("properties"))}
    for page in pages():
        tags = {tag.tag.rpartition("}")[2] for tag in tree_of(page).iter()}
        assert tags.isdisjoint({"script", "button", "input", "iframe"}), page
        assert "svg" not in tags or page in drawn, page


def test_folded_text_has_no_attribute_that_the_format_lacks() -> None:
    assert [page for page in pages() for tag in tree_of(page).iter(f"{XHTML}details") if tag.get("name")] == []


def test_nothing_is_in_it_that_only_acts_on_the_site_and_nothing_that_its_list_does_not_name() -> None:
    listed = {unquote(str(item.get("href"))) for item in tree_of("content.opf").iter(f"{OPF}item")}
    own = {"mimetype", "content.opf", "META-INF/container.xml"}
    assert names() - own == listed
    assert [name for name in names() if "/live/" in name or "/playground/" in name or name.endswith("js")] == []
