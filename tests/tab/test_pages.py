"""Every cell of every page, run by Python in WebAssembly: it works there, or says why not.

What a page shares is put back before the next one, which begins afresh in a reader's browser.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
from live_cells import cells_of
from live_words import ABSENT
from tab.bundle import package_files, recording_files, run_in_node, write_archive

from tests.conftest import ROOT

PAGES = [path for path in sorted((ROOT / "book").rglob("*.md")) if cells_of(path)] + sorted(
    (ROOT / "labs").glob("*.ipynb")
)
PARTS = 2
"""Processes that the pages are shared out among."""
FEWEST = 0.75
"""Of all cells, those that run; 118 of 1,179 draw with matplotlib, which has no build for a tab."""

INSIDE = """
import asyncio, importlib, json, sys
import in_page

in_page.prepare()
loop = asyncio.get_running_loop()
for page, cells in json.load(open("/book/pages.json")).items():
    importlib.reload(in_page)
    in_page.resume()
    for source in cells:
        printed = []
        said = await in_page.run(source, printed.append)
        print("CELL" + json.dumps([page, said]), flush=True)
        assert asyncio.get_running_loop() is loop, (page, source)
        await asyncio.sleep(0)
print("ALL OF THEM")
"""


def may_raise(path: Path) -> list[bool]:
    """Of each cell, whether an error is what it shows."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        return ["raises-exception" in cell.metadata.get("tags", ()) for cell in cells if cell.cell_type == "code"]
    fences = path.read_text().split("```{code-cell}")[1:]
    return ["raises-exception" in fence.partition("```")[0] for fence in fences]


@pytest.fixture(scope="module", params=range(PARTS))
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each cell of a part of the pages said, by page."""
    pages = PAGES[request.param :: PARTS]
    folder = tmp_path_factory.mktemp("pages")
    sources = {str(page.relative_to(ROOT)): [cell.source for cell in cells_of(page)] for page in pages}
    (folder / "pages.json").write_text(json.dumps(sources))
    archive = folder / "pages.tar"
    write_archive(archive, [*package_files(), *recording_files(), ("pages.json", folder / "pages.json")])
    out = run_in_node(INSIDE, [archive], timeout=880)
    assert out.rstrip().endswith("ALL OF THEM"), out[-3000:]
    answers: dict[str, list[dict[str, Any]]] = {page: [] for page in sources}
    for line in out.splitlines():
        if line.startswith("CELL"):
            page, answer = json.loads(line.removeprefix("CELL"))
            answers[page].append(answer)
    return answers


@pytest.mark.real
@pytest.mark.timeout(900)
def test_every_cell_of_a_page_runs_in_a_tab_or_says_why_not(said: dict[str, list[dict[str, Any]]]) -> None:
    wrong = [
        (page, number, answer["error"][-300:])
        for page, answers in said.items()
        for number, (answer, raises) in enumerate(zip(answers, may_raise(ROOT / page), strict=True))
        if "error" in answer and not raises
    ]
    assert wrong == []
    cells = [answer for answers in said.values() for answer in answers]
    reasons = Counter(answer["absent"] for answer in cells if "absent" in answer)
    assert set(reasons) <= set(ABSENT)
    assert reasons.total() <= (1 - FEWEST) * len(cells), reasons
