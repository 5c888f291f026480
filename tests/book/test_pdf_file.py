"""The PDF as it was put together: `make pdf` makes it and then runs this file. `LIFECYCLE_SITE` names the site it was made of."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import Destination, IndirectObject

from tests.conftest import ROOT, unavailable

sys.path.insert(0, str(ROOT / "book"))

from to_pdf import PDF, table_of_contents

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not PDF.exists():
        unavailable("the PDF is not made yet: run `make pdf`")


@cache
def book() -> PdfReader:
    return PdfReader(PDF)


@cache
def text_of(number: int) -> str:
    """What a sheet says, counted from 1, on one line."""
    return " ".join(str(book().pages[number - 1].extract_text()).split())


def links() -> list[tuple[int, Any]]:
    """(sheet, annotation), sheets counted from 1."""
    return [
        (number, reference.get_object())
        for number, sheet in enumerate(book().pages, 1)
        for reference in sheet.get("/Annots") or ()
    ]


def marks(items: list[Any] | None = None, depth: int = 0) -> list[tuple[int, str, int]]:
    """(depth, title, sheet) of the whole outline."""
    lines: list[tuple[int, str, int]] = []
    for item in book().outline if items is None else items:
        if isinstance(item, Destination):
            sheet = book().get_destination_page_number(item)
            assert sheet is not None, item.title
            lines.append((depth, str(item.title), sheet + 1))
        else:
            lines += marks(item, depth + 1)
    return lines


def test_every_link_inside_the_book_has_a_target_and_none_leads_to_the_maker_s_disk() -> None:
    sheets = {sheet.indirect_reference.idnum for sheet in book().pages if sheet.indirect_reference}
    dead, inside = [], 0
    for number, link in links():
        if "/Dest" in link:
            inside += 1
            goal = link["/Dest"]
            first = list.__getitem__(goal, 0)
            if not isinstance(first, IndirectObject) or first.idnum not in sheets:
                dead.append((number, goal))
        elif not str(link["/A"]["/URI"]).startswith(("http:", "https:", "mailto:")):
            dead.append((number, link["/A"]["/URI"]))
    assert dead == []
    assert inside > 2000


def test_every_page_of_the_table_of_contents_is_in_the_outline_where_it_begins() -> None:
    outline = {(title, sheet) for _, title, sheet in marks()}
    for entry in table_of_contents():
        begins = [sheet for title, sheet in outline if title == entry.title]
        assert begins, entry.title
        assert entry.title in text_of(begins[0]), entry.title


def test_every_sheet_after_the_title_page_bears_its_own_number() -> None:
    sheets = range(2, len(book().pages) + 1)
    assert [number for number in sheets if str(number) not in text_of(number).split()] == []


def test_no_sheet_is_empty_below_its_number_and_its_chapter_s_name() -> None:
    names = {entry.title for entry in table_of_contents()}
    empty = []
    for number, sheet in enumerate(book().pages, 1):
        said = text_of(number)
        drawn = "/XObject" in (sheet.get("/Resources") or {})
        if not drawn and said.removesuffix(str(number)).strip() in names | {""}:
            empty.append(number)
    assert empty == []


def test_the_title_page_says_who_which_version_when_and_what_one_may_do() -> None:
    said = text_of(1)
    for words in ("founders", "Version 0.1", "The chapters ran on", "Kubernetes v", "CC BY 4.0", "Apache 2.0"):
        assert words in said


def test_the_contents_name_the_sheet_on_which_each_page_begins() -> None:
    begins = {title: sheet for _, title, sheet in marks()}
    first = begins[table_of_contents()[0].title]
    said = " ".join(text_of(number) for number in range(2, first))
    for entry in table_of_contents():
        assert f"{entry.title} {begins[entry.title]}" in said or f"{entry.title}{begins[entry.title]}" in said, entry
